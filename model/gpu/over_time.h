// A launch over its time: what had been counted at a few instants.
//
// Models:  instants evenly apart, at most kMost of them: where a launch takes longer every second one is let go, and they are twice as
//          far apart from then on.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/stats/launch_counters.h"

namespace foretrace::gpu {

class OverTime {
 public:
  static constexpr std::size_t kMost = 96;
  static constexpr Cycle kFirst = 128;  ///< cycles between instants at first

  explicit OverTime(bool asked) : next_(asked ? kFirst : kNever) {}

  /// The next instant; kNever: none is asked for.
  Cycle next() const { return next_; }
  /// What had been counted at next(), or at the end of the window in which it lay.
  void add(stats::Instant instant) {
    const Cycle now = instant.now;
    instants_.push_back(std::move(instant));
    if (instants_.size() == kMost) {
      for (std::size_t i = 0; i < kMost / 2; ++i) instants_[i] = instants_[2 * i + 1];
      instants_.resize(kMost / 2);
      interval_ *= 2;
    }
    next_ = (now / interval_ + 1) * interval_;
  }
  /// Nothing has been simulated since the last instant but what see(at) brings about, which returns what had been counted at `at`.
  template <typename See>
  void look_back(Cycle until, See&& see) {
    while (next_ <= until) add(see(next_));
  }
  /// All instants before the launch's end, and its end, whose counters are `whole`; `l2_of_launch`: sectors of L2 among these that the
  /// launch itself asks for, outside of its time. Empty where none is asked for.
  std::vector<stats::Instant> closed(const stats::LaunchCounters& whole, std::uint64_t blocks,
                                     std::uint64_t l2_of_launch = 0) {
    if (next_ == kNever) return {};
    std::erase_if(instants_, [&](const stats::Instant& instant) { return instant.now >= whole.elapsed; });
    stats::Instant end;
    end.now = whole.elapsed;
    end.placed = end.ended = blocks;
    end.instructions = whole.inst_executed;
    end.l1_tag = whole.l1_tag_cycles;
    end.l1_data = whole.l1_data_wavefronts;
    end.l2_sectors = whole.memory.lts_sectors - l2_of_launch;
    end.dram_bytes = whole.memory.dram_bytes_read + whole.memory.dram_bytes_write;
    end.state = whole.state;
    end.pipe_busy = whole.pipe_busy;
    instants_.push_back(end);
    return std::move(instants_);
  }

 private:
  Cycle interval_ = kFirst, next_;
  std::vector<stats::Instant> instants_;
};

}  // namespace foretrace::gpu
