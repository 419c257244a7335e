#include "model/stats/launch_counters.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "model/units/error.h"

namespace foretrace::stats {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
// A member that stands outside the lists is one that add() must know: whoever adds one comes by here.
static_assert(sizeof(InstructionCounters) == (std::size(kInstructionCounters) + kWarpStates) * kWord,
              "a counter of an instruction stands in instruction_counters.def");
static_assert(sizeof(MemoryCounters) == std::size(kMemoryCounters) * kWord,
              "a counter of the memory system stands in memory_counters.def");
static_assert(sizeof(LaunchCounters) ==
                  (std::size(kLaunchCounters) + 3 + 4 + kWarpStates + 2 * spec::kPipes) * kWord +
                      sizeof(MemoryCounters) + sizeof(LaunchCounters::instructions) +
                      sizeof(LaunchCounters::sm_active_each) + sizeof(LaunchCounters::sm_inst_each) +
                      sizeof(LaunchCounters::sm_blocks_each) + sizeof(LaunchCounters::over_time),
              "a counter of a launch stands in launch_counters.def");

template <typename Numbers>
void add_all(Numbers& into, const Numbers& from) {
  std::transform(into.begin(), into.end(), from.begin(), into.begin(), std::plus<>());
}

}  // namespace

void add(LaunchCounters& into, const LaunchCounters& of_sm) {
  for (const auto& counter : kLaunchCounters) into.*counter.member += of_sm.*counter.member;
  add_all(into.idle_reason, of_sm.idle_reason);
  add_all(into.state, of_sm.state);
  add_all(into.pipe_inst, of_sm.pipe_inst);
  add_all(into.pipe_busy, of_sm.pipe_busy);
  into.sm_active_max = std::max(into.sm_active_max, of_sm.sm_active);
  into.sm_active_each.push_back(of_sm.sm_active);
  into.sm_inst_each.push_back(of_sm.inst_executed);
  into.sm_blocks_each.push_back(of_sm.blocks);
  for (std::size_t i = 0; i < into.instructions.size(); ++i) {
    InstructionCounters& row = into.instructions[i];
    const InstructionCounters& other = of_sm.instructions[i];
    for (const auto& counter : kInstructionCounters) row.*counter.member += other.*counter.member;
    add_all(row.stalled, other.stalled);
  }
}

const char* name_of(WarpState state) {
  static constexpr std::array<const char*, kWarpStates> kNames = {"barrier",
                                                                  "branch_resolving",
                                                                  "dispatch_stall",
                                                                  "drain",
                                                                  "gmma",
                                                                  "imc_miss",
                                                                  "lg_throttle",
                                                                  "long_scoreboard",
                                                                  "math_pipe_throttle",
                                                                  "membar",
                                                                  "mio_throttle",
                                                                  "misc",
                                                                  "no_instruction",
                                                                  "not_selected",
                                                                  "selected",
                                                                  "short_scoreboard",
                                                                  "sleeping",
                                                                  "tex_throttle",
                                                                  "wait"};
  const auto index = static_cast<std::size_t>(state);
  FORETRACE_ASSERT(index < kNames.size(), "A warp is in one of Nsight Compute's states.");
  return kNames[index];
}

}  // namespace foretrace::stats
