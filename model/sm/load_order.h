// The order in which an SM's loads return.
//
// Models:  of a warp's loads those that L1 has return as soon as they have been looked up, also past others that wait; those that miss, and
//          asynchronous copies that do, return in the order in which they came to the tag stage. Loads of other warps pass them all.
// Ignores: -
// Source:  our loads_behind_copies on H100: a load that L1 has takes 73 to 97 cycles behind up to eight loads or copies from DRAM of its
//          warp, 72 alone; one that L2 has 624 to 891, 348 alone, with the last of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/sm/memory_operation.h"
#include "model/units/units.h"

namespace foretrace::sm {

class LoadOrder {
 public:
  /// `warps`: that an SM has room for.
  explicit LoadOrder(std::size_t warps) : warps_(warps) {}

  /// Loads between the tag stage and the registers.
  std::size_t in_flight() const { return in_flight_; }
  /// A load comes to the tag stage.
  void enter() { ++in_flight_; }
  /// It has been looked up and its data are there: it returns when it is ready.
  void pass(std::uint32_t id) { returning_.push_back(id); }
  /// It has been looked up, and some of it was not there: it returns behind the others of its warp for which that is so.
  void miss(MemoryOperations& operations, std::uint32_t id) {
    Loads& loads = warps_[operations[id].warp];
    (loads.last < 0 ? loads.first : operations[static_cast<std::size_t>(loads.last)].next_load) =
        static_cast<std::int32_t>(id);
    loads.last = static_cast<std::int32_t>(id);
    operations[id].next_load = -1;
  }
  /// The warp's loads that missed and have their data may return from `now` on, up to the first that has not. Returns when the first of
  /// them can, kNever: none.
  Cycle release(MemoryOperations& operations, std::uint16_t warp, Cycle now) {
    Loads& loads = warps_[warp];
    Cycle soonest = kNever;
    while (loads.first >= 0) {
      MemoryOperation& operation = operations[static_cast<std::size_t>(loads.first)];
      if (operation.waiting != 0) break;
      operation.ready = std::max(operation.ready, now);
      returning_.push_back(static_cast<std::uint32_t>(loads.first));
      loads.first = operation.next_load;
      if (loads.first < 0) loads.last = -1;
      soonest = std::min(soonest, operation.ready);
    }
    return soonest;
  }

  /// Whether some may return, and which is next.
  bool returns() const { return first_ < returning_.size(); }
  std::uint32_t next() const { return returning_[first_]; }
  /// The next one has returned.
  void pop() {
    --in_flight_;
    if (++first_ < returning_.size()) return;
    returning_.clear();
    first_ = 0;
  }

 private:
  struct Loads {
    std::int32_t first = -1, last = -1;
  };
  std::vector<Loads> warps_;              // that missed, by warp, in order of their tags
  std::vector<std::uint32_t> returning_;  // loads that may return, in the order in which they came to be
  std::size_t first_ = 0;
  std::size_t in_flight_ = 0;
};

}  // namespace foretrace::sm
