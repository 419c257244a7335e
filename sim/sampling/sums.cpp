#include "sim/sampling/sums.h"

#include <cmath>

namespace foretrace::sampling {

void add_sums(stats::LaunchCounters& into, const stats::LaunchCounters& from, double weight) {
  using Counters = stats::LaunchCounters;
  using Instruction = stats::InstructionCounters;
  static constexpr std::uint64_t Counters::*kSums[] = {&Counters::inst_executed,
                                                       &Counters::thread_inst_executed,
                                                       &Counters::thread_inst_pred_on,
                                                       &Counters::inst_shared_ld,
                                                       &Counters::inst_shared_st,
                                                       &Counters::inst_shared_atom,
                                                       &Counters::inst_global_ld,
                                                       &Counters::inst_global_st,
                                                       &Counters::inst_global_atom,
                                                       &Counters::inst_global_red,
                                                       &Counters::inst_local_ld,
                                                       &Counters::inst_local_st,
                                                       &Counters::inst_async_copy,
                                                       &Counters::inst_matrix_ld,
                                                       &Counters::l1_requests_global_ld,
                                                       &Counters::l1_requests_global_st,
                                                       &Counters::l1_requests_local_ld,
                                                       &Counters::l1_requests_local_st,
                                                       &Counters::l1_requests_global_atom,
                                                       &Counters::l1_requests_global_red,
                                                       &Counters::l1_sectors_global_ld,
                                                       &Counters::l1_sectors_global_st,
                                                       &Counters::l1_sectors_local_ld,
                                                       &Counters::l1_sectors_local_st,
                                                       &Counters::l1_sectors_global_atom,
                                                       &Counters::l1_sectors_global_red,
                                                       &Counters::shared_wavefronts_ld,
                                                       &Counters::shared_wavefronts_st,
                                                       &Counters::shared_wavefronts_atom,
                                                       &Counters::shared_ideal_ld,
                                                       &Counters::shared_ideal_st,
                                                       &Counters::shared_ideal_atom,
                                                       &Counters::branches,
                                                       &Counters::divergent_branches,
                                                       &Counters::blocks,
                                                       &Counters::barriers_waited};
  static constexpr std::uint64_t Instruction::*kOfInstruction[] = {
      &Instruction::executed,   &Instruction::thread_executed, &Instruction::pred_on,
      &Instruction::requests,   &Instruction::sectors,         &Instruction::ideal_sectors,
      &Instruction::wavefronts, &Instruction::ideal_wavefronts};
  const auto weighted = [weight](std::uint64_t count) {
    return weight == 1 ? count
                       : static_cast<std::uint64_t>(std::llround(weight * static_cast<double>(count)));
  };
  for (const auto member : kSums) into.*member += weighted(from.*member);
  for (std::size_t i = 0; i < from.instructions.size(); ++i) {
    for (const auto member : kOfInstruction)
      into.instructions[i].*member += weighted(from.instructions[i].*member);
  }
}

}  // namespace foretrace::sampling
