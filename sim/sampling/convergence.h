// When the steady part of a large launch is known: its rates have settled, and what they are.
//
// Models:  looks at the progress from time to time, at a cost that stays a share of the simulation's; the rate of a launch that DRAM
//          bounds is believed only when L2 is in the state that it will stay in.
// Ignores: why rates change; what comes at the launch's end, which is simulated (blocks_to_skip) or, where blocks are too long for
//          that, estimated (tail_estimate.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/sampling/steady_rate.h"
#include "sim/sampling/survey.h"

namespace foretrace::sampling {

/// A launch as the monitor knows it.
struct MonitoredLaunch {
  const Survey* survey = nullptr;
  std::uint64_t blocks = 0;
  std::uint64_t wave = 0;  ///< blocks that the chip holds at a time
  double dram_bytes = 0;   ///< that DRAM can move in an SM cycle
  double l2_bytes = 0;
  double look_from =
      0;  ///< no look before so many warp instructions; 0: what the size of the launch suggests
  bool in_step =
      true;  ///< blocks of the first wave begin together; false: each somewhere on its way, so that all of a wave is seen at once
};

MonitoredLaunch monitored(const Survey& survey, const spec::GpuSpec& spec, std::uint64_t blocks,
                          std::uint64_t resident);

/// What simulating up to there cost, in warp instructions.
double cost_of(const gpu::Snapshot& snapshot);
/// What simulating all of it would cost, if no load hit L1 and requests ask for whole lines.
double cost_of(const Survey& survey);

class ConvergenceMonitor {
 public:
  explicit ConvergenceMonitor(const MonitoredLaunch& launch);
  /// Snapshots in order of time. True: the rate is known, and steady_rate() says it.
  bool converged(const gpu::Snapshot& snapshot);
  /// Blocks that are not in step use more than L2 holds: how much they find there depends on how far apart they come, which is not known.
  bool hopeless(const gpu::Snapshot& snapshot) const;
  const std::optional<SteadyRate>& steady_rate() const { return rate_; }
  /// Blocks next in order that need not be simulated: whole waves, so that those after them come in the same places of a round; a wave
  /// is left for the end. 0: too few are left.
  std::uint64_t blocks_to_skip(const gpu::Snapshot& snapshot) const;

 private:
  bool has_seen_a_block(const SteadyRate& rate) const;
  bool l2_will_change(const SteadyRate& rate, double done) const;
  bool l2_has_the_wave(const SteadyRate& rate) const;
  MonitoredLaunch launch_;
  double work_, wave_work_;  // warp instructions of the launch, of a wave
  RateHistory history_;
  double next_look_;
  Cycle first_wave_ = 0;  // when as much was done as the first wave has to do; 0: not yet
  std::optional<SteadyRate> rate_;
};

}  // namespace foretrace::sampling
