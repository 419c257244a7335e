// The order in which an SM's loads return.
//
// Models:  the loads of a warp return in the order in which they came to the tag stage; those of other warps pass them.
// Source:  CIC (docs/sources.md).
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
  /// A load of its warp comes to the tag stage, behind those before it.
  void enter(MemoryOperations& operations, std::uint32_t id) {
    ++in_flight_;
    Loads& loads = warps_[operations[id].warp];
    (loads.last < 0 ? loads.first : operations[static_cast<std::size_t>(loads.last)].next_load) =
        static_cast<std::int32_t>(id);
    loads.last = static_cast<std::int32_t>(id);
    operations[id].next_load = -1;
  }
  /// Whether no load of the warp stands before it.
  bool is_first(std::uint16_t warp, std::uint32_t id) const {
    return warps_[warp].first == static_cast<std::int32_t>(id);
  }
  /// The warp's loads that have their tags and data may return from `now` on, up to the first that has not. Returns when the first of
  /// them can, kNever: none.
  Cycle release(MemoryOperations& operations, std::uint16_t warp, Cycle now) {
    Loads& loads = warps_[warp];
    Cycle soonest = kNever;
    while (loads.first >= 0) {
      MemoryOperation& operation = operations[static_cast<std::size_t>(loads.first)];
      if (!operation.tags_done || operation.waiting != 0) break;
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
  std::vector<Loads> warps_;              // by warp, in order of their tags
  std::vector<std::uint32_t> returning_;  // loads that may return, in the order in which they came to be
  std::size_t first_ = 0;
  std::size_t in_flight_ = 0;
};

}  // namespace foretrace::sm
