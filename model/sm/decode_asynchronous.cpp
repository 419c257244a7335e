// Copies, mbarriers, warpgroup products and clusters, decoded once for a chip.

#include <algorithm>

#include "model/isa/matrix_shapes.h"
#include "model/sm/memory_forms.h"
#include "model/sm/static_program.h"

namespace foretrace::sm {

namespace {

using isa::Opcode;

constexpr std::uint32_t kLongestLoop = 16;  // instructions of a loop that asks an mbarrier
constexpr std::uint32_t kBytesOfA = 2048;   // of a product: 64 rows of 32 bytes

bool is_product(Opcode opcode) {
  return opcode == Opcode::HGMMA || opcode == Opcode::IGMMA || opcode == Opcode::QGMMA ||
         opcode == Opcode::BGMMA;
}

Action action_of(const isa::Instruction& instruction, Action otherwise) {
  switch (instruction.opcode) {
    case Opcode::WARPGROUP: return instruction.has("ARRIVE") ? Action::product_begin : Action::product_wait;
    case Opcode::UTMACMDFLUSH: return Action::commit_transfers;
    case Opcode::USETMAXREG: return Action::registers;
    case Opcode::UCGABAR_ARV: return Action::cluster_arrive;
    case Opcode::UCGABAR_WAIT: return Action::cluster_wait;
    default: break;
  }
  if (is_product(instruction.opcode)) return Action::product;
  return isa::starts_transfer(instruction) ? Action::transfer : otherwise;
}

/// Index of the label that a branch goes to; the program's size: it is none to a label.
std::uint32_t target_of(const isa::Program& program, const isa::Instruction& instruction) {
  if (instruction.opcode == Opcode::BRA) {
    for (const isa::Operand& operand : instruction.operands) {
      if (operand.kind == isa::OperandKind::label)
        return static_cast<std::uint32_t>(operand.value / kInstructionBytes);
    }
  }
  return static_cast<std::uint32_t>(program.code.size());
}

/// The loop that a test of an mbarrier is in, or that a test in vain leads to: its cycles per round; 0: the test is suspended.
std::uint32_t poll_interval(const isa::Program& program, std::uint32_t index, const spec::GpuSpec& spec) {
  const auto size = static_cast<std::uint32_t>(program.code.size());
  std::uint32_t first = size, last = size;
  for (std::uint32_t at = index + 1; at < std::min(size, index + kLongestLoop); ++at) {
    const isa::Instruction& in = program.code[at];
    if (in.opcode == Opcode::NANOSLEEP) return 0;
    const std::uint32_t target = target_of(program, in);
    if (target == size || !in.guarded()) continue;
    first = target;
    if (target <= index) last = at;
    break;
  }
  for (std::uint32_t at = first; last == size && at < std::min(size, first + kLongestLoop); ++at) {
    if (program.code[at].opcode == Opcode::NANOSLEEP) return 0;
    if (target_of(program, program.code[at]) == first) last = at;
  }
  std::uint32_t cycles = spec.mbarrier.latency + spec.fetch.branch_latency;
  if (last == size) return cycles;
  for (std::uint32_t at = first; at < last; ++at) {
    if (program.code[at].opcode == Opcode::YIELD) cycles += spec.sm.yield_latency;
    if (isa::barrier_use(program.code[at]) == isa::BarrierUse::check) break;
    cycles += std::max<std::uint32_t>(1, program.code[at].control.stall);
  }
  return cycles;
}

void decode_product(const isa::Instruction& instruction, const spec::GpuSpec& spec, StaticInstruction& out) {
  // The tensor core reads sums and fragments while it multiplies: no operand is collected at the issue (ncu_warpgroup on H100: 0.2 cycles
  // of dispatch_stall a product of 128 registers, with sums alone and with A in registers).
  out.reads.clear();
  isa::MatrixShape shape;
  const auto& operands = instruction.operands;
  const bool first_rz =
      !operands.empty() && operands[0].kind == isa::OperandKind::register_ && operands[0].index == isa::kRz;
  out.product.ends_group = std::any_of(operands.begin(), operands.end(), [](const isa::Operand& operand) {
    return operand.text.starts_with("gsb");
  });
  // An empty group: no result, no operands.
  if (first_rz || !isa::matrix_shape(instruction, shape) || spec.wgmma.columns == 0) return;
  const bool a_in_registers = operands.size() > 1 && operands[1].kind == isa::OperandKind::register_;
  const auto n = static_cast<std::uint32_t>(shape.n);
  const std::uint32_t b = n * (instruction.has("SP") ? 64 : 32);
  std::uint32_t cycles = divide_up(n, spec.wgmma.columns);
  if (a_in_registers) cycles = std::max(cycles, spec.wgmma.register_interval);
  out.product.cycles = static_cast<std::uint16_t>(cycles);
  isa::MatrixRegisters registers;
  isa::matrix_registers(instruction, registers);
  // Of every `period` cycles the product reads sums for wgmma.port_cycles.
  const auto sums = static_cast<std::uint32_t>(registers.c);
  out.product.period = static_cast<std::uint16_t>(spec.wgmma.port_cycles * spec.wgmma.sum_registers * cycles /
                                                  std::max(1u, sums));
  out.product.first = static_cast<std::uint16_t>(a_in_registers ? registers.a : 0);
  out.product.shared =
      static_cast<std::uint16_t>(divide_up((a_in_registers ? 0 : kBytesOfA) + b, spec.wgmma.shared_bytes));
}

}  // namespace

void decode_asynchronous(const isa::Program& program, std::uint32_t index, const spec::GpuSpec& spec,
                         StaticInstruction& out) {
  const isa::Instruction& instruction = program.code[index];
  out.action = action_of(instruction, out.action);
  out.barrier_use = isa::barrier_use(instruction);
  if (out.barrier_use == isa::BarrierUse::check) {
    out.poll_interval = static_cast<std::uint16_t>(poll_interval(program, index, spec));
    out.suspends = out.poll_interval == 0 || instruction.has("TRYWAIT");
    out.long_scoreboard = true;  // ncu's states of wgmma_product on H100
  }
  if (out.action == Action::product) decode_product(instruction, spec, out);
  for (const isa::Operand& operand : instruction.operands) {
    if (operand.kind != isa::OperandKind::immediate) continue;
    if (out.action == Action::product_wait) out.depbar_count = static_cast<std::uint8_t>(operand.value);
    if (out.action == Action::registers) out.registers = static_cast<std::uint16_t>(operand.value);
  }
  out.takes_registers = out.action == Action::registers && instruction.has("TRY_ALLOC");
}

}  // namespace foretrace::sm
