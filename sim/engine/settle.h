// When a simulation of a large launch may stop: its rates have settled, and what they are.
//
// Models:  looks at the progress from time to time, at a cost that stays a share of the simulation's; the rate of a launch that DRAM
//          bounds is believed only when L2 is in the state that it will stay in.
// Ignores: what comes after (ending.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/progress.h"
#include "sim/engine/survey.h"

namespace foretrace::engine {

/// A launch as the watch knows it.
struct Watched {
  const Survey* survey = nullptr;
  std::uint64_t blocks = 0;
  std::uint64_t chip_full = 0;  ///< blocks that the chip holds at a time
  double dram_bytes = 0;        ///< that DRAM can move in an SM cycle
  double l2_bytes = 0;
  double issue_slots = 0;  ///< warp instructions that the chip can issue a cycle
  double look_from =
      0;  ///< no look before so many warp instructions; 0: what the size of the launch suggests
};

/// What simulating up to there cost: warp instructions, and requests to L2 at the price of some.
double cost_of(const gpu::Moment& moment);

/// Decides when to stop.
class Watch {
 public:
  explicit Watch(const Watched& launch);
  /// Moments in order of time. False: stop here.
  bool operator()(const gpu::Moment& moment);
  const std::optional<Pace>& settled() const { return pace_; }
  const Progress& progress() const { return progress_; }

 private:
  bool has_seen_a_block(const Pace& pace) const;
  bool l2_will_change(const Pace& pace, double done) const;
  Watched launch_;
  double work_, full_work_;  // warp instructions of the launch, of a chip-full
  Progress progress_;
  double next_look_;
  std::optional<Pace> pace_;
};

}  // namespace foretrace::engine
