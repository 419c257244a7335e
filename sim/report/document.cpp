#include "sim/report/document.h"

#include "model/units/error.h"
#include "sim/report/limiter.h"

namespace foretrace::report {
namespace {

InstructionResult make_row(const isa::Program& program, const isa::Instruction& instruction,
                           const stats::InstructionCounters& counted) {
  InstructionResult row;
  static_cast<stats::InstructionCounters&>(row) = counted;
  row.offset = instruction.offset;
  row.sass = instruction.text;
  if (instruction.file > 0 && instruction.file <= program.files.size()) {
    row.file = program.files[instruction.file - 1];
    row.line = instruction.line;
  }
  return row;
}

}  // namespace

std::uint64_t InstructionResult::stall_cycles() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < stalled.size(); ++i) {
    if (i != static_cast<std::size_t>(stats::WarpState::selected)) sum += stalled[i];
  }
  return sum;
}

LaunchResult make_result(const Prediction& prediction) {
  FORETRACE_ASSERT(prediction.gpu && prediction.program, "A prediction names its chip and its program.");
  const isa::Program& program = *prediction.program;
  const auto& counted = prediction.counters.instructions;
  FORETRACE_ASSERT(counted.size() == program.code.size(),
                   "Every instruction of the program has its counters.");

  LaunchResult result;
  result.arch = prediction.gpu->name;
  result.sm = prediction.gpu->sm_number;
  result.clock_hz = prediction.gpu->clock;
  result.kernel = program.kernel;
  result.mangled = program.mangled;
  result.code_sha256 = program.code_sha256;
  result.toolkit = program.toolkit;
  result.config_sha256 = prediction.config_sha256;
  result.assumed_values = prediction.assumed_values;
  result.transferred_values = prediction.transferred_values;
  result.overrides = prediction.overrides;
  result.identity() = prediction.identity();
  result.time_dependent = prediction.time_dependent;
  result.estimate = prediction.estimate;
  result.metrics = evaluate(prediction);
  result.occupancy_next_step = prediction.occupancy.next_step;
  for (const engine::Gain& gain : prediction.gains) {
    const engine::IdealText& text = engine::text_of(gain.limit);
    result.gains.push_back({text.key, text.words, static_cast<double>(gain.cycles)});
  }
  result.over_time = over_time(prediction.counters);
  result.sms = over_sms(prediction.counters);
  result.instructions.reserve(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    result.instructions.push_back(make_row(program, program.code[i], counted[i]));
    if (i < program.inlined.size() && program.inlined[i])
      result.instructions.back().inlined = *program.inlined[i];
  }
  result.limiter = find_limiter(result);
  return result;
}

}  // namespace foretrace::report
