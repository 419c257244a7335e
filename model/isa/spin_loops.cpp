#include "model/isa/spin_loops.h"

#include <algorithm>

#include "model/isa/loop_ends.h"
#include "model/isa/operands.h"

namespace foretrace::isa {

namespace {

constexpr std::uint32_t kLongest = 64;  // instructions of a round: what waits is short
constexpr std::uint32_t kEarly = 16;    // instructions between the load before a loop and the loop
constexpr std::uint32_t kFence = 32;    // instructions between a fence and the store behind it

/// Where a branch goes, kNone: it is none to a label.
std::uint32_t target_of(const Instruction& in) {
  const std::optional<std::size_t> target = in.has("DIV") ? std::nullopt : branch_target(in);
  return target ? static_cast<std::uint32_t>(*target) : SpinLoop::kNone;
}

/// Whether an instruction ends the loop, calls, or has to do with barriers and copies.
bool goes_elsewhere(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::BAR:
    case Opcode::CALL:
    case Opcode::RET:
    case Opcode::BRX:
    case Opcode::BRXU:
    case Opcode::JMX:
    case Opcode::JMP:
    case Opcode::EXIT:
    case Opcode::KILL:
    case Opcode::BPT:
    case Opcode::SYNCS:
    case Opcode::UBLKCP:
    case Opcode::UBLKRED:
    case Opcode::UGETNEXTWORKID:
    case Opcode::UMEMSETS:
    case Opcode::UCGABAR_ARV:
    case Opcode::UCGABAR_WAIT:
    case Opcode::UTMALDG:
    case Opcode::UTMASTG:
    case Opcode::UTMAREDG: return true;
    default: return false;
  }
}

/// Whether an instruction has no effect beyond registers, its thread's own memory and time.
bool only_asks(const Instruction& in) {
  MemoryForm form;
  if (memory_form(in, form) && form.access != Access::load && !asks_memory(in) && !stores_locally(in))
    return false;
  return !goes_elsewhere(in);
}

bool compares_and_swaps(const Instruction& in, const MemoryForm& form) {
  return form.access == Access::atomic && (in.has("CAS") || in.has("CAST"));
}

/// An atomic that leaves what it finds, to ask: atomicAdd(&flag, 0), atomicOr(&flag, 0).
bool leaves_the_word(const Instruction& in, const MemoryForm& form) {
  return form.access == Access::atomic && (in.has("ADD") || in.has("OR") || in.has("XOR")) &&
         in.operands.back().kind == OperandKind::register_ && in.operands.back().index == kRz;
}

bool covers(const RegisterRange& range, int first, int count) {
  return range.count != 0 && first < range.first + range.count && range.first < first + count;
}

/// Whether an instruction gives registers a value that is not the same in every round.
bool changes(const Program& program, const Instruction& in, const Operand& address, int width) {
  const RegisterUse use = register_use(in, program.sm);
  const bool moves = in.opcode == Opcode::MOV || in.opcode == Opcode::UMOV || in.opcode == Opcode::IMAD;
  const bool loads = in.opcode == Opcode::LDC || in.opcode == Opcode::ULDC || in.opcode == Opcode::LDCU;
  const bool from_registers =
      std::any_of(use.sources.begin(), use.sources.end(),
                  [](const RegisterRange& r) { return r.count != 0; }) ||
      std::any_of(
          in.operands.begin() + std::min<std::ptrdiff_t>(1, std::ssize(in.operands)), in.operands.end(),
          [](const Operand& o) { return o.kind == OperandKind::uniform_register && o.index != kUrz; });
  if ((loads || moves) && !from_registers) return false;
  if (address.base >= 0 && address.base != kRz &&
      (covers(use.destination, address.base, width) || covers(use.second_destination, address.base, width))) {
    return true;
  }
  const bool to_uniform = !in.operands.empty() && in.operands[0].kind == OperandKind::uniform_register;
  return to_uniform && address.uniform_base >= 0 && address.uniform_base != kUrz &&
         in.operands[0].index <= address.uniform_base + 1 && address.uniform_base <= in.operands[0].index + 3;
}

/// Whether an access asks for the same place in every round of the loop; an atomic also for the same value: one that tries again with
/// what it has found (an addition made of compare-and-swaps) waits for nobody. A volatile variable keeps what was found, whatever it is.
bool asks_the_same(const Program& program, const SpinLoop& loop, const Instruction& asks) {
  const auto constant = [&](Operand operand, int width) {
    if (operand.kind == OperandKind::register_) operand.base = operand.index;
    for (std::uint32_t at = loop.first; at <= loop.last; ++at) {
      if (changes(program, program.code[at], operand, width)) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < asks.operands.size(); ++i) {
    if (asks.operands[i].kind != OperandKind::memory) continue;
    if (!constant(asks.operands[i], std::max(1, register_width(asks, i)))) return false;
    return i + 1 == asks.operands.size() || stores_locally(asks) ||
           constant(asks.operands[i + 1], std::max(1, register_width(asks, i + 1)));
  }
  return true;
}

bool waits(const Program& program, const SpinLoop& loop) {
  bool asks = false;
  for (std::uint32_t at = loop.first; at <= loop.last; ++at) {
    const Instruction& in = program.code[at];
    if (!only_asks(in)) return false;
    const std::uint32_t target = target_of(in);
    if (at != loop.last && target != SpinLoop::kNone && target <= at) return false;  // a loop in it
    MemoryForm form;
    if (memory_form(in, form) && !asks_the_same(program, loop, in)) return false;
    asks = asks || asks_memory(in);
  }
  return asks;
}

/// The compare-and-swap that the loop tries until it succeeds; kNone: it is no such loop.
std::uint32_t tries(const Program& program, const SpinLoop& loop) {
  std::uint32_t swap = SpinLoop::kNone;
  for (std::uint32_t at = loop.first; at <= loop.last; ++at) {
    const Instruction& in = program.code[at];
    const bool lanes_end = in.opcode == Opcode::EXIT && in.guarded();
    if (goes_elsewhere(in) && !lanes_end) return SpinLoop::kNone;
    const std::uint32_t target = target_of(in);
    if (at != loop.last && target != SpinLoop::kNone && target <= at) return SpinLoop::kNone;
    MemoryForm form;
    if (!memory_form(in, form) || form.access == Access::load) continue;
    if (!compares_and_swaps(in, form) || form.bytes < 4 || form.bytes > 8 || form.space == Space::local ||
        swap != SpinLoop::kNone) {
      return SpinLoop::kNone;
    }
    swap = at;
  }
  return swap;
}

std::string address_of(const Instruction& in) {
  for (const Operand& operand : in.operands) {
    if (operand.kind == OperandKind::memory) return operand.text;
  }
  return {};
}

/// Looks for the same load before the loop, and the branch that leaves the loop out.
void find_early(const Program& program, SpinLoop& loop) {
  const auto asks =
      std::find_if(program.code.begin() + loop.first, program.code.begin() + loop.last, asks_memory);
  for (std::uint32_t at = loop.first; at-- > 0 && loop.first - at <= kEarly;) {
    const Instruction& in = program.code[at];
    if (!only_asks(in)) return;
    if (loop.early_exit == SpinLoop::kNone) {
      const std::uint32_t target = target_of(in);
      if (in.guarded() && target != SpinLoop::kNone && target > loop.last) loop.early_exit = at;
      continue;
    }
    if (asks_memory(in) && in.opcode == asks->opcode && in.modifiers == asks->modifiers &&
        address_of(in) == address_of(*asks)) {
      loop.early = at;
      return;
    }
  }
}

}  // namespace

bool asks_memory(const Instruction& instruction) {
  MemoryForm form;
  if (!memory_form(instruction, form) || form.bytes < 4 || form.bytes > 16) return false;
  if (form.space != Space::global && form.space != Space::generic) return false;
  const bool swaps = form.access == Access::atomic && (instruction.has("CAS") || instruction.has("EXCH"));
  return swaps || leaves_the_word(instruction, form) || (form.access == Access::load && form.strong);
}

bool stores_locally(const Instruction& instruction) {
  MemoryForm form;
  return memory_form(instruction, form) && form.access == Access::store && form.space == Space::local;
}

bool tells_memory(const Instruction& instruction) {
  MemoryForm form;
  if (!memory_form(instruction, form) || (form.space != Space::global && form.space != Space::generic))
    return false;
  if (leaves_the_word(instruction, form)) return false;
  return form.access == Access::atomic || form.access == Access::reduction ||
         (form.access == Access::store && form.strong);
}

bool tells_behind_fence(const Program& program, std::uint32_t index) {
  MemoryForm form;
  if (!memory_form(program.code[index], form) || form.access != Access::store || form.bytes < 4) return false;
  if (form.space != Space::global && form.space != Space::generic) return false;
  for (std::uint32_t at = index; at-- > 0 && index - at <= kFence;) {
    const Instruction& before = program.code[at];
    if (before.opcode == Opcode::MEMBAR && !before.has("CTA")) return true;
  }
  return false;
}

bool counts_memory(const Instruction& instruction) {
  MemoryForm form;
  if (!tells_memory(instruction) || !memory_form(instruction, form) || form.access == Access::store)
    return false;
  return form.bytes >= 4 && !instruction.has("CAS") && !instruction.has("CAST") && !instruction.has("EXCH");
}

std::vector<SpinLoop> spin_loops(const Program& program) {
  std::vector<SpinLoop> found;
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    SpinLoop loop;
    loop.first = target_of(program.code[at]);
    loop.last = at;
    if (loop.first > at || at - loop.first >= kLongest || !waits(program, loop)) continue;
    if (!found.empty() && found.back().last >= loop.first) continue;
    find_early(program, loop);
    if (loop.early == SpinLoop::kNone) loop.early_exit = SpinLoop::kNone;
    found.push_back(loop);
  }
  return found;
}

std::vector<RetryLoop> retry_loops(const Program& program) {
  std::vector<RetryLoop> found;
  for (std::uint32_t at = 0; at < program.code.size(); ++at) {
    SpinLoop loop;
    loop.first = target_of(program.code[at]);
    loop.last = at;
    if (loop.first > at || at - loop.first >= kLongest || !program.code[at].guarded()) continue;
    const std::uint32_t swap = tries(program, loop);
    if (swap == SpinLoop::kNone || waits(program, loop) || !ends_by(program, loop.first, loop.last, swap))
      continue;
    if (!found.empty() && found.back().last >= loop.first) continue;
    found.push_back({loop.first, loop.last, swap, program.code[swap].opcode == Opcode::ATOMS});
  }
  return found;
}

bool has_asking_loop(const Program& program) {
  const auto size = static_cast<std::uint32_t>(program.code.size());
  std::vector<int> begins(size + 1);  // loops that begin at an instruction, less those that ended before it
  for (std::uint32_t last = 0; last < size; ++last) {
    if (const std::uint32_t first = target_of(program.code[last]); first <= last)
      ++begins[first], --begins[last + 1];
  }
  std::vector<std::uint32_t> asking;  // instructions in loops
  int loops = 0;
  for (std::uint32_t at = 0; at < size; ++at) {
    loops += begins[at];
    if (loops > 0 && asks_memory(program.code[at])) asking.push_back(at);
  }
  if (asking.empty()) return false;
  const auto none_holds = [](const auto& known, std::uint32_t at) {
    return std::none_of(known.begin(), known.end(), [at](const auto& loop) { return loop.holds(at); });
  };
  const std::vector<SpinLoop> spins = spin_loops(program);
  const std::vector<RetryLoop> retries = retry_loops(program);
  return std::any_of(asking.begin(), asking.end(),
                     [&](std::uint32_t at) { return none_holds(spins, at) && none_holds(retries, at); });
}

}  // namespace foretrace::isa
