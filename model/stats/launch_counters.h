// What the simulation of one launch counts: plain fields, one add on the hot path each.
//
// Names in comments are Nsight Compute's where they mean the same; sim/report/metrics.cpp is the table that renders them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/stats/memory_counters.h"
#include "model/units/units.h"

namespace foretrace::stats {

/// Nsight Compute's warp states, smsp__average_warps_issue_stalled_<name>_per_issue_active.
enum class WarpState : std::uint8_t {
  barrier,
  branch_resolving,
  dispatch_stall,
  drain,
  gmma,
  imc_miss,
  lg_throttle,
  long_scoreboard,
  math_pipe_throttle,
  membar,
  mio_throttle,
  misc,
  no_instruction,
  not_selected,
  selected,
  short_scoreboard,
  sleeping,
  tex_throttle,
  wait
};
inline constexpr int kWarpStates = static_cast<int>(WarpState::wait) + 1;
const char* name_of(WarpState state);

using StateCycles = std::array<std::uint64_t, kWarpStates>;

/// How a sampled launch comes to a counter of the whole launch: from a survey of the grid's blocks, which executes them without the cycle
/// model, and from the part that was simulated (sim/sampling/extrapolate.h).
enum class Growth : std::uint8_t {
  work,         ///< decided by code and addresses, whatever the time: the survey has it
  with_work,    ///< grows with the warp instructions that are left, as in the part that was simulated
  steady,       ///< grows with them as in the steady state
  hits,         ///< follows from hits of the instructions
  first_touch,  ///< stays as it was: a cache that has something misses no more
  time          ///< follows from the launch's time or from other counters
};

/// Of one static instruction, summed over the launch. instruction_counters.def says what each means.
struct InstructionCounters {
#define FORETRACE_INSTRUCTION_COUNTER(name, growth, meaning) std::uint64_t name = 0;
#include "model/stats/instruction_counters.def"
  StateCycles stalled{};  ///< warp-cycles spent with this instruction next, by state
};

/// What had been counted of all SMs at one instant of the launch: sums from its begin, and what was under way.
struct Instant {
  Cycle now = 0;
  std::uint64_t placed = 0, ended = 0;    ///< blocks handed to SMs, and blocks whose last warp has ended
  std::uint64_t instructions = 0;         ///< warp instructions issued
  std::uint64_t l1_tag = 0, l1_data = 0;  ///< cycles L1's stages were busy
  std::uint64_t l2_sectors = 0, dram_bytes = 0;
  StateCycles state{};                                  ///< warp-cycles by state
  std::array<std::uint64_t, spec::kPipes> pipe_busy{};  ///< as in LaunchCounters
  bool operator==(const Instant&) const = default;
};

/// Sums over all SMs unless a comment says otherwise. launch_counters.def says what each of the plain sums means.
struct LaunchCounters {
  Cycle elapsed = 0;        ///< gpc__cycles_elapsed.max: launch to drain, SM cycles
  Cycle sm_active_max = 0;  ///< of the SM with the most: sm_active is their sum
  std::uint32_t sms = 0;    ///< SMs of the chip
#define FORETRACE_LAUNCH_COUNTER(name, growth, meaning) std::uint64_t name = 0;
#include "model/stats/launch_counters.def"
  std::array<std::uint64_t, 4>
      idle_reason{};  ///< scheduler cycles without issue: no warp resident, no eligible warp, pipe or operand busy (dispatch), warps throttled
  StateCycles state{};  ///< warp-cycles by state
  std::array<std::uint64_t, spec::kPipes>
      pipe_inst{};  ///< sm__inst_executed_pipe_*; FMA split as it was issued
  std::array<std::uint64_t, spec::kPipes>
      pipe_busy{};  ///< cycles a pipe's input was taken, summed over sub-cores
  MemoryCounters memory;
  std::vector<InstructionCounters> instructions;            ///< by index in Program::code
  std::vector<Cycle> sm_active_each;                        ///< by SM: sm__cycles_active of each
  std::vector<std::uint64_t> sm_inst_each, sm_blocks_each;  ///< by SM; empty: the launch was sampled
  std::vector<Instant> over_time;  ///< in order, the last at the launch's end; empty: the launch was sampled
};

/// A counter as a value: what sums, sampling and tests go through, so that none of them lists counters of its own.
template <typename Counters>
struct Counter {
  std::uint64_t Counters::*member;
  Growth growth;
  const char* name;
  const char* meaning;
};

inline constexpr Counter<LaunchCounters> kLaunchCounters[] = {
#define FORETRACE_LAUNCH_COUNTER(name, growth, meaning) \
  {&LaunchCounters::name, Growth::growth, #name, meaning},
#include "model/stats/launch_counters.def"
};
inline constexpr Counter<InstructionCounters> kInstructionCounters[] = {
#define FORETRACE_INSTRUCTION_COUNTER(name, growth, meaning) \
  {&InstructionCounters::name, Growth::growth, #name, meaning},
#include "model/stats/instruction_counters.def"
};
inline constexpr Counter<MemoryCounters> kMemoryCounters[] = {
#define FORETRACE_MEMORY_COUNTER(name, growth, meaning) \
  {&MemoryCounters::name, Growth::growth, #name, meaning},
#include "model/stats/memory_counters.def"
};

/// Counters of one SM into those of the launch: every sum, and the most active SM.
void add(LaunchCounters& into, const LaunchCounters& of_sm);

}  // namespace foretrace::stats
