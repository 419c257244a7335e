#include "model/isa/work_counters.h"

#include <algorithm>
#include <optional>

#include "model/isa/loop_ends.h"
#include "model/isa/operands.h"

namespace foretrace::isa {

namespace {

bool tells_count(const Instruction& in) {
  MemoryForm form;
  if (!memory_form(in, form) || form.access != Access::atomic) return false;
  if (form.space != Space::global && form.space != Space::generic) return false;
  const bool floats =
      in.has("F32") || in.has("F64") || in.has("F16x2") || in.has("BF16x2") || in.has("BF16_V2");
  const int destination = destination_operand(in);
  return (in.has("ADD") || in.has("INC") || in.has("DEC")) && !floats && destination >= 0 &&
         in.operands[static_cast<std::size_t>(destination)].index != kRz;
}

}  // namespace

std::vector<std::uint32_t> work_counters(const Program& program) {
  std::vector<std::uint32_t> result;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    if (!tells_count(program.code[at])) continue;
    for (std::size_t last = at; last < program.code.size(); ++last) {
      const std::optional<std::size_t> first = branch_target(program.code[last]);
      if (!first || *first > at || !ends_by(program, *first, last, at)) continue;
      result.push_back(static_cast<std::uint32_t>(at));
      break;
    }
  }
  return result;
}

std::uint32_t done_by_all_first(const Program& program) {
  std::size_t end = program.code.size();
  for (std::size_t at = 0; at < program.code.size(); ++at)
    if (const auto target = branch_target(program.code[at]); target && *target <= at)
      end = std::min(end, *target);
  std::uint32_t zeroed = 0, loaded = 0;
  bool adds = false, replaces = false;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& in = program.code[at];
    MemoryForm form;
    const bool memory = memory_form(in, form) && form.space != Space::shared && form.space != Space::local;
    if (memory && (form.access == Access::atomic || form.access == Access::reduction)) {
      end = std::min(end, at);
      adds = true;
      replaces = replaces || !(in.has("ADD") || in.has("INC") || in.has("DEC"));
    }
    if (in.opcode == Opcode::BAR || in.opcode == Opcode::CALL) end = std::min(end, at);
    if (at >= end || !memory) continue;
    if (form.access == Access::store && in.operands.back().kind == OperandKind::register_ &&
        in.operands.back().index == kRz) {
      zeroed = static_cast<std::uint32_t>(at) + 1;
    } else if (form.access == Access::load && !form.strong && !in.has("CONSTANT")) {
      loaded = static_cast<std::uint32_t>(at) + 1;
    }
  }
  return std::max(adds ? zeroed : 0, replaces ? loaded : 0);
}

}  // namespace foretrace::isa
