// The warps' asynchronous copies from global to shared memory (cp.async, LDGSTS), whose way is the memory pipe's.
//
// Models:  a closed group that is done releases its scoreboard, or arrives at the mbarrier that the warp named.
// Source:  PTX ISA, cp.async.
#pragma once

#include <cstdint>

#include "model/sm/barrier_unit.h"
#include "model/sm/copy_groups.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class AsynchronousCopies {
 public:
  AsynchronousCopies(WarpTable& table, BarrierUnit& barriers) : table_(table), barriers_(barriers) {}

  CopyGroups groups;

  /// LDGDEPBAR: the warp's open group is closed and releases `scoreboard`.
  void commit(Warp& warp, std::uint16_t id, std::uint8_t scoreboard, Cycle now) {
    warp.scoreboards.raise(scoreboard, true);
    groups.commit(id, scoreboard);
    settle(id, now);
  }
  /// ARRIVES.LDGSTSBAR: it is closed and does operation `number` of the barrier unit.
  void commit_to_barrier(std::uint16_t id, std::uint32_t number, Cycle now) {
    groups.commit(id, kScoreboards, 1 + number);
    settle(id, now);
  }
  /// Event::Kind::copy_done: a copy of group `group`.
  void done(std::uint16_t id, std::uint32_t group, Cycle now) {
    groups.end(id, group);
    settle(id, now);
  }

 private:
  void settle(std::uint16_t id, Cycle now) {
    groups.settle(id, [&](const CopyGroups::Group& group) {
      if (group.scoreboard < kScoreboards) table_.release_at(id, group.scoreboard, now + 1);
      if (group.barrier_op) barriers_.execute(group.barrier_op - 1, now, now);
    });
  }

  WarpTable& table_;
  BarrierUnit& barriers_;
};

}  // namespace foretrace::sm
