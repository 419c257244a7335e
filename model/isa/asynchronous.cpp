#include "model/isa/asynchronous.h"

#include <algorithm>

namespace foretrace::isa {

bool starts_transfer(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::UBLKCP:
    case Opcode::UBLKRED:
    case Opcode::UBLKPF:
    case Opcode::UGETNEXTWORKID:
    case Opcode::UTMALDG:
    case Opcode::UTMASTG:
    case Opcode::UTMAREDG:
    case Opcode::UTMAPF: return true;
    default: return false;
  }
}

BarrierUse barrier_use(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::SYNCS:
      if (instruction.has("ARRIVE")) return BarrierUse::arrive;
      if (instruction.has("PHASECHK")) return BarrierUse::check;
      return instruction.has("EXCH") || instruction.has("IV") ? BarrierUse::init : BarrierUse::none;
    case Opcode::ARRIVES:
      return instruction.has("ARVCNT") || instruction.has("TRANSCNT") ? BarrierUse::copy_arrive
                                                                      : BarrierUse::none;
    case Opcode::REDAS:
    case Opcode::STAS: return BarrierUse::store;
    default: return BarrierUse::none;
  }
}

Arrival arrival_of(const Instruction& instruction, std::uint32_t operand) {
  Arrival arrival;
  arrival.drops = instruction.has("OPTOUT");
  const std::int64_t bytes = operand;
  if (instruction.has("A1T0") || instruction.has("ARVCNT")) {
    arrival.arrivals = 1;
  } else if (instruction.has("ART0")) {
    arrival.arrivals = operand;
  } else if (instruction.has("A0TR")) {
    arrival.transactions = bytes;
  } else if (instruction.has("A0T1")) {
    arrival.transactions = 1;
  } else if (instruction.has("A0TX")) {
    arrival.transactions = -bytes;
  } else if (instruction.has("TRANSCNT")) {
    arrival.transactions = -1;
  } else {  // A1TR, which is printed or not
    arrival.arrivals = 1;
    arrival.transactions = bytes;
  }
  return arrival;
}

bool is_asynchronous(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& instruction) {
    return starts_transfer(instruction) || barrier_use(instruction) != BarrierUse::none;
  });
}

}  // namespace foretrace::isa
