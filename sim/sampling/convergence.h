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
};

/// What simulating up to there cost, in warp instructions.
double cost_of(const gpu::Snapshot& snapshot);

class ConvergenceMonitor {
 public:
  explicit ConvergenceMonitor(const MonitoredLaunch& launch);
  /// Snapshots in order of time. True: the rate is known, and steady_rate() says it.
  bool converged(const gpu::Snapshot& snapshot);
  const std::optional<SteadyRate>& steady_rate() const { return rate_; }
  const RateHistory& history() const { return history_; }
  /// Blocks next in order that need not be simulated: whole waves, so that those after them come in the same places of a round; a wave
  /// is left for the end. 0: too few are left.
  std::uint64_t blocks_to_skip(const gpu::Snapshot& snapshot) const;

 private:
  bool has_seen_a_block(const SteadyRate& rate) const;
  bool l2_will_change(const SteadyRate& rate, double done) const;
  MonitoredLaunch launch_;
  double work_, wave_work_;  // warp instructions of the launch, of a wave
  RateHistory history_;
  double next_look_;
  Cycle first_wave_ = 0;  // when as much was done as the first wave has to do; 0: not yet
  std::optional<SteadyRate> rate_;
};

}  // namespace foretrace::sampling
