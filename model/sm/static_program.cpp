#include "model/sm/static_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/config/load.h"
#include "model/isa/any_of.h"
#include "model/isa/compatibility.h"
#include "model/isa/operands.h"
#include "model/units/error.h"

namespace foretrace::sm {

namespace {

using isa::Opcode;
using spec::Pipe;

std::string printed_name(const isa::Instruction& instruction) {
  std::string name(isa::name_of(instruction.opcode));
  for (const std::string& modifier : instruction.modifiers) name += "." + modifier;
  return name;
}

/// The row of the opcode table whose pattern is the longest that the printed mnemonic starts with; null: none.
const spec::OpcodeSpec* row_for(const spec::GpuSpec& spec, const isa::Instruction& instruction) {
  if (instruction.opcode == Opcode::opaque) return nullptr;
  return config::find_opcode(spec, printed_name(instruction));
}

/// A scoreboard tells the end of MEMBAR.CTA on sm_90, and none does on the others.
Action membar_action(const isa::Instruction& instruction) {
  if (!instruction.has("CTA")) return Action::membar;
  return instruction.control.read_barrier < kScoreboards ? Action::store_fence : Action::block_fence;
}

Action action_of(const isa::Instruction& instruction, bool memory) {
  switch (instruction.opcode) {
    case Opcode::LDC:
    case Opcode::LDCU:
    case Opcode::ULDC: return Action::constant_load;
    case Opcode::PREEXIT: return Action::announce;
    case Opcode::BAR: return instruction.has("ARV") ? Action::barrier_arrive : Action::barrier_sync;
    case Opcode::MEMBAR: return membar_action(instruction);
    case Opcode::CCTL: return instruction.has("IVALL") ? Action::invalidate : Action::compute;
    case Opcode::DEPBAR: return Action::depbar;
    case Opcode::LDGDEPBAR: return Action::commit_copies;
    case Opcode::NANOSLEEP: return Action::sleep;
    case Opcode::YIELD: return Action::yield;
    case Opcode::BRA:
    case Opcode::BRX:
    case Opcode::BRXU:
    case Opcode::JMP:
    case Opcode::JMX:
    case Opcode::CALL:
    case Opcode::RET:
    case Opcode::EXIT:
    case Opcode::BSSY:
    case Opcode::BSYNC:
    case Opcode::BREAK:
    case Opcode::WARPSYNC:
    case Opcode::KILL:
    case Opcode::BPT: return Action::control;
    default: return memory ? Action::memory : Action::compute;
  }
}

/// Bytes of constant memory live in a space of their own: bank in the upper part, offset in the lower.
std::uint32_t constant_address(const isa::Operand& operand) {
  return static_cast<std::uint32_t>(operand.bank) << 16 | static_cast<std::uint32_t>(operand.offset & 0xffff);
}

const isa::Operand* constant_operand(const isa::Instruction& instruction) {
  for (const isa::Operand& operand : instruction.operands) {
    if (operand.kind == isa::OperandKind::constant) return &operand;
  }
  return nullptr;
}

void decode_barrier(const isa::Instruction& instruction, StaticInstruction& out) {
  const auto& operands = instruction.operands;
  if (operands.empty() || isa::barrier_in_registers(instruction)) return;  // the record says both
  if (operands[0].kind == isa::OperandKind::immediate) {
    out.barrier = static_cast<std::int16_t>(operands[0].value & 15);
  } else {
    out.barrier = 0;  // RZ
  }
  if (operands.size() > 1 && operands[1].kind == isa::OperandKind::immediate) {
    out.barrier_warps = static_cast<std::uint16_t>(operands[1].value / kWarpSize);
  }
}

void decode_comparison(const isa::Instruction& instruction, const spec::MatchSpec& match,
                       StaticInstruction& out) {
  out.compares_lanes = isa::compares_lanes(instruction);
  if (instruction.opcode != Opcode::MATCH) return;
  const bool wide = instruction.has("U64");
  out.value_latency = static_cast<std::uint8_t>(wide ? match.wide_value_latency : match.value_latency);
  out.value_interval = static_cast<std::uint8_t>(wide ? match.wide_value_interval : match.value_interval);
  if (wide) out.latency = static_cast<std::uint16_t>(out.latency + match.wide_latency);
}

void decode_depbar(const isa::Instruction& instruction, StaticInstruction& out) {
  for (const isa::Operand& operand : instruction.operands) {
    if (operand.kind == isa::OperandKind::scoreboard) out.depbar_scoreboard = operand.index;
    if (operand.kind == isa::OperandKind::immediate)
      out.depbar_count = static_cast<std::uint8_t>(operand.value);
    if (operand.kind == isa::OperandKind::scoreboard_list) {
      out.wait_mask = static_cast<std::uint8_t>(out.wait_mask | operand.value);
    }
  }
}

/// The pipe that Nsight Compute's sm__inst_executed_pipe_* counts an instruction on, where that is not the pipe that holds it up.
/// Source: the counters of our examples on an H100 (validate/measurements/h100-sxm.json): thread ids come through the LSU, other special
/// registers through the ADU; jumps, uniform moves and uniform constant loads are counted nowhere.
Pipe counted_on(const isa::Instruction& instruction, Pipe issued) {
  switch (instruction.opcode) {
    case Opcode::S2R:
    case Opcode::S2UR:
      // What differs from lane to lane comes over the LSU.
      return instruction.text.find("SR_TID") != std::string::npos ||
                     instruction.text.find("SR_LANEID") != std::string::npos
                 ? Pipe::lsu
                 : Pipe::adu;
    case Opcode::BRA:
    case Opcode::BRX:
    case Opcode::BRXU:
    case Opcode::JMP:
    case Opcode::JMX:
    case Opcode::ULDC:
    case Opcode::UMOV:
    case Opcode::VOTEU:
    case Opcode::REDUX: return Pipe::none;
    case Opcode::R2UR: return Pipe::alu;
    case Opcode::BAR:
    case Opcode::SYNCS: return Pipe::adu;
    default: return issued;
  }
}

/// NANOSLEEP of a time that stands in the code, in nanoseconds; one that waits for an mbarrier (.SYNCS) has only a limit there.
std::uint32_t sleep_cycles(const isa::Instruction& instruction, std::uint64_t clock) {
  const auto& modifiers = instruction.modifiers;
  if (std::find(modifiers.begin(), modifiers.end(), "SYNCS") != modifiers.end()) return 0;
  for (const isa::Operand& operand : instruction.operands) {
    if (operand.kind == isa::OperandKind::immediate)
      return static_cast<std::uint32_t>((operand.value & 0xffff'ffff) * clock / 1'000'000'000);
  }
  return 0;
}

std::uint32_t membar_cycles(const isa::Instruction& instruction, const spec::BarrierSpec& barrier) {
  if (instruction.has("SYS")) return barrier.membar_system;
  if (instruction.has("GPU") || instruction.has("VC")) return barrier.membar_gpu;
  return barrier.membar_block;
}

std::vector<RegisterRead> register_reads(const isa::RegisterUse& use, std::uint32_t banks) {
  FORETRACE_ASSERT(banks <= RegisterRead::kMaxBanks, "a register file has at most four banks");
  std::vector<RegisterRead> reads;
  for (std::size_t slot = 0; slot < use.sources.size(); ++slot) {
    for (unsigned i = 0; i < use.sources[slot].count; ++i) {
      RegisterRead read;
      read.number = static_cast<std::uint8_t>(use.sources[slot].first + i);
      read.bank = static_cast<std::uint8_t>(read.number % banks);
      read.slot = static_cast<std::uint8_t>(slot);
      read.reuse = use.reuse[slot];
      for (std::size_t earlier = 0; earlier < slot; ++earlier) {
        const auto distance = static_cast<std::uint8_t>(read.number - use.sources[earlier].first);
        if (distance < use.sources[earlier].count) read.first = false;
      }
      reads.push_back(read);
    }
  }
  return reads;
}

StaticInstruction decode(const isa::Instruction& instruction, const isa::Program& program,
                         const spec::GpuSpec& spec, IssueClass& issue_class) {
  StaticInstruction out;
  const spec::OpcodeSpec* found = row_for(spec, instruction);
  if (found == nullptr) {  // no pipe, no registers: it is not executed, or stops the run
    out.action = Action::unknown;
    return out;
  }
  const spec::OpcodeSpec& row = *found;
  const bool memory = isa::memory_form(instruction, out.form);
  out.action = action_of(instruction, memory);
  const isa::ControlBits& control = instruction.control;
  out.stall = control.stall;
  out.yield = control.yield;
  out.write_barrier = control.write_barrier;
  out.read_barrier = control.read_barrier;
  out.wait_mask = control.wait_mask;

  issue_class.first = row.pipes[0];
  issue_class.second = row.pipes[1];
  if (issue_class.second != Pipe::none &&
      spec.pipe[static_cast<std::size_t>(issue_class.second)].interval == 0) {
    issue_class.second = Pipe::none;
  }
  std::uint32_t interval = row.interval;
  if (interval == 0 && issue_class.first != Pipe::none) {
    interval = spec.pipe[static_cast<std::size_t>(issue_class.first)].interval;
    if (interval == 0) {
      throw InputError(fmt::format(
          "kernel {}, offset {:#x}: {} needs pipe {}, which {} does not have (pipe.{}.interval is 0)",
          program.kernel, instruction.offset, isa::name_of(instruction.opcode),
          spec::name_of(issue_class.first), spec.name, spec::name_of(issue_class.first)));
    }
  }
  out.interval = static_cast<std::uint8_t>(std::clamp<std::uint32_t>(interval, 1, 255));
  out.hold = static_cast<std::uint8_t>(row.hold);
  out.converges = instruction.opcode == Opcode::BSYNC || instruction.opcode == Opcode::EXIT ||
                  instruction.opcode == Opcode::BREAK;
  const bool of_register =
      std::any_of(instruction.operands.begin(), instruction.operands.end(),
                  [](const isa::Operand& operand) { return operand.kind == isa::OperandKind::register_; });
  out.register_target =
      of_register && isa::any_of(instruction.opcode, {Opcode::BRX, Opcode::JMX, Opcode::RET, Opcode::CALL});
  // H100, nms_bitmask of the sixth blind set: the ADU's count is higher by the number of returns, which the CBU counts too.
  out.through_adu = instruction.opcode == Opcode::RET;
  out.counted = counted_on(instruction, issue_class.first);
  out.latency_class = row.latency;
  out.latency = static_cast<std::uint16_t>(spec.latency[static_cast<std::size_t>(row.latency)]);
  out.fixed_latency = row.latency == spec::LatencyClass::fixed;
  decode_comparison(instruction, spec.match, out);
  if (instruction.opcode == Opcode::S2R && out.counted == Pipe::adu) {
    issue_class.first = Pipe::adu;  // what does not differ from lane to lane
    out.interval = static_cast<std::uint8_t>(
        std::clamp<std::uint32_t>(spec.pipe[static_cast<std::size_t>(Pipe::adu)].interval, 1, 255));
  }
  if (out.action == Action::compute && (issue_class.first == Pipe::lsu || issue_class.first == Pipe::tex))
    out.action = Action::memory_other;
  issue_class.queue = out.action == Action::memory || out.action == Action::memory_other;
  issue_class.allocate =
      !issue_class.queue && out.action == Action::compute && issue_class.first != Pipe::uniform;

  if (memory) {
    const bool shared = out.form.space == isa::Space::shared;
    out.short_address = shared || out.form.uniform_address;
    out.long_scoreboard = !shared;
    out.data_registers = static_cast<std::uint8_t>(std::max(1, (out.form.bytes + 3) / 4));
    if (out.form.matrices) out.data_registers = out.form.matrices;
  }
  issue_class.throttle = !issue_class.queue              ? stats::WarpState::math_pipe_throttle
                         : memory && out.long_scoreboard ? stats::WarpState::lg_throttle
                                                         : stats::WarpState::mio_throttle;
  if (issue_class.first == Pipe::tex) issue_class.throttle = stats::WarpState::tex_throttle;
  if (issue_class.first == Pipe::xu || issue_class.first == Pipe::adu) {
    issue_class.throttle = stats::WarpState::mio_throttle;  // ncu: the MIO queue feeds them
  }

  out.reads = register_reads(isa::register_use(instruction, program.sm), spec.register_file.banks);
  if (!issue_class.queue && issue_class.second == Pipe::none && spec.wgmma.dispatch_passes > 0)
    out.passes = static_cast<std::uint8_t>(std::min<std::uint32_t>(out.interval, spec.wgmma.dispatch_passes));
  if (const isa::Operand* operand = constant_operand(instruction)) {
    const bool is_static = operand->base < 0 || operand->base == isa::kRz;
    out.constant = out.action == Action::constant_load || is_static;
    out.constant_address = constant_address(*operand);
  }
  out.bypasses_l1 = instruction.opcode == Opcode::LDGSTS && instruction.has("BYPASS");
  if (instruction.opcode == Opcode::FENCE && instruction.has("ASYNC")) {
    out.drains = out.long_scoreboard = true;  // PC samples of fences_after on H200
    out.latency = static_cast<std::uint16_t>(spec.barrier.fence_latency);
  }
  if (instruction.opcode == Opcode::BAR) decode_barrier(instruction, out);
  out.defers = instruction.has("DEFER_BLOCKING");
  // after_barriers on H200: a barrier costs arithmetic behind it nothing, and all else waits for it.
  out.passes_barrier = out.action == Action::compute && out.fixed_latency && issue_class.first != Pipe::adu &&
                       issue_class.first != Pipe::xu;
  if (out.action == Action::depbar) decode_depbar(instruction, out);
  if (instruction.opcode == Opcode::MEMBAR) out.fixed_wait = membar_cycles(instruction, spec.barrier);
  if (out.action == Action::sleep) out.fixed_wait = sleep_cycles(instruction, spec.clock.sm);
  return out;
}

}  // namespace

StaticProgram::StaticProgram(std::shared_ptr<const isa::Program> source, const spec::GpuSpec& spec)
    : program(std::move(source)), shapes(*program) {
  if (!isa::runs_on(program->sm, isa::Target::plain, spec.sm_number)) {
    throw InputError(fmt::format("kernel {}: machine code is for sm_{}; expected sm_{} for {}",
                                 program->kernel, program->sm, spec.sm_number, spec.name));
  }
  code.reserve(program->code.size());
  for (const isa::Instruction& instruction : program->code) {
    IssueClass issue_class;
    StaticInstruction decoded = decode(instruction, *program, spec, issue_class);
    if (decoded.action != Action::unknown)
      decode_asynchronous(*program, static_cast<std::uint32_t>(code.size()), spec, decoded);
    const auto found = std::find(classes.begin(), classes.end(), issue_class);
    decoded.issue_class = static_cast<std::uint8_t>(found - classes.begin());
    if (found == classes.end()) classes.push_back(issue_class);
    decoded.constant_indexed =
        decoded.action == Action::constant_load && shapes.of[code.size()].addresses != 0;
    code.push_back(decoded);
  }
  FORETRACE_ASSERT(classes.size() <= kMaxClasses, "an instruction set has few ways out of the issue stage");
}

void StaticProgram::stop_at(std::uint32_t index) const {
  const isa::Instruction& instruction = program->code[index];
  if (instruction.opcode == Opcode::opaque) {
    throw InputError(fmt::format("kernel {}, offset {:#x}: '{}': {}", program->kernel, instruction.offset,
                                 instruction.text, instruction.opaque));
  }
  throw InputError(fmt::format(
      "kernel {}, offset {:#x}: no row for {} in the opcode table of sm_{}; expected one in configs/isa",
      program->kernel, instruction.offset, printed_name(instruction), program->sm));
}

}  // namespace foretrace::sm
