// The grids on the machine, most often one: which of their blocks start where and when, and how many have ended.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/gpu/block_records.h"
#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"
#include "model/gpu/sm_array.h"

namespace foretrace::gpu {

class Grid {
 public:
  /// References must outlive the object.
  Grid(const spec::GpuSpec& spec, const LaunchSetup& setup, work::BlockSource& source)
      : ahead_(spec.launch.block_end), dispatcher_(spec, setup), drain_(spec.launch.drain),
        blocks_(dispatcher_.left()) {
    records_.emplace_back(source, setup.clusters());
    for (const GridBeside& other : setup.beside) records_.emplace_back(*other.source, false);
  }

  /// Places the blocks whose dispatch can be decided: every end before `now` is known.
  void place(Cycle now, SmArray& sms) {
    Dispatcher::Placement placement;
    while (dispatcher_.next(now + ahead_, placement))
      sms.place(placement, records_[placement.grid].take(placement.block));
  }
  /// The earliest time at which place() may have something to do, kNever: it waits for an end.
  Cycle next_event() const {
    const Cycle dispatch = dispatcher_.next_event();
    return dispatch == kNever ? kNever : dispatch - std::min<Cycle>(dispatch, ahead_);
  }
  /// Warps that ended, in order of (time, SM).
  void take(const std::vector<sm::WarpEnd>& ends) {
    for (const sm::WarpEnd& end : ends) {
      if (end.announces) {
        dispatcher_.announced(end.time);
        continue;
      }
      dispatcher_.ended(end.sm, end.time, end.block, end.grid);
      ended_ += end.block;
    }
  }
  /// So many blocks less are placed.
  void skip(std::uint64_t blocks) {
    dispatcher_.skip(blocks);
    skipped_ += blocks;
  }

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t placed() const { return blocks_ - skipped_ - dispatcher_.left(); }
  std::uint64_t ended() const { return ended_; }
  std::uint64_t skipped() const { return skipped_; }
  /// When the last end so far was taken in.
  Cycle settled() const { return dispatcher_.settled(); }
  /// When each grid ran; the one that ended last did so at `end`.
  std::vector<GridTime> times(Cycle end) const {
    std::vector<GridTime> times = dispatcher_.times();
    GridTime* last = &times.front();
    for (GridTime& time : times) {
      time.end += drain_;
      if (time.end >= last->end) last = &time;
    }
    last->end = end;
    return times;
  }

 private:
  const Cycle ahead_;  // so long before its dispatch a block's place is known
  Dispatcher dispatcher_;
  const Cycle drain_;
  const std::uint64_t blocks_;         // of all grids
  std::vector<BlockRecords> records_;  // by grid
  std::uint64_t ended_ = 0, skipped_ = 0;
};

}  // namespace foretrace::gpu
