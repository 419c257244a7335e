// Groups of asynchronous copies of the warps: cp.async's and the copy engine's.
//
// Models:  a warp's copies belong to its open group; a commit closes it and names the scoreboard that is released, or the operation on
//          mbarriers that is done, when all copies of it and of the groups before it are done.
// Source:  PTX ISA, cp.async.commit_group, cp.async.bulk.commit_group.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/sm/warp_slots.h"
#include "model/units/error.h"

namespace foretrace::sm {

class CopyGroups {
 public:
  struct Group {
    std::uint32_t pending = 0;
    std::uint8_t scoreboard = 7;
    std::uint32_t barrier_op = 0;  ///< 1 + what it does to mbarriers when it is done
  };

  /// Of a warp that starts nothing is left of the one before it.
  void start_warp(std::uint16_t id) {
    if (!of_.empty()) of_[id] = {};
  }
  /// Number of the warp's open group.
  std::uint8_t open(std::uint16_t id) const { return of_.empty() ? std::uint8_t{0} : of_[id].now; }
  /// One more copy of the open group.
  void add(std::uint16_t id) {
    Groups& groups = of(id);
    ++groups.ring[groups.now].pending;
  }
  /// A copy of group `number` is done.
  void end(std::uint16_t id, std::size_t number) { --of(id).ring[number].pending; }
  /// Closes the open group; the next one is open then. `scoreboard` has been raised where it is one.
  void commit(std::uint16_t id, std::uint8_t scoreboard, std::uint32_t barrier_op = 0) {
    Groups& groups = of(id);
    groups.ring[groups.now].scoreboard = scoreboard;
    groups.ring[groups.now].barrier_op = barrier_op;
    groups.now = static_cast<std::uint8_t>((groups.now + 1) % kGroups);
    groups.ring[groups.now] = Group{};
    FORETRACE_ASSERT(groups.now != groups.first,
                     "a warp has fewer than 64 open groups of asynchronous copies");
  }
  /// Calls each(group) for the warp's closed groups that are done, in their order.
  template <typename Each>
  void settle(std::uint16_t id, Each&& each) {
    if (of_.empty()) return;
    while (of_[id].first != of_[id].now) {
      const Group group = of_[id].ring[of_[id].first];
      if (group.pending) break;
      each(group);
      of_[id].first = static_cast<std::uint8_t>((of_[id].first + 1) % kGroups);
    }
  }

 private:
  static constexpr std::size_t kGroups = 64;  // open at a time in a warp
  struct Groups {
    std::array<Group, kGroups> ring{};
    std::uint8_t first = 0, now = 0;
  };
  Groups& of(std::uint16_t id) {
    if (of_.empty()) of_.resize(kWarps);
    return of_[id];
  }
  static constexpr std::size_t kWarps = kSubCores * kWarpSlots;
  std::vector<Groups> of_;  // by warp; none before the first copy
};

}  // namespace foretrace::sm
