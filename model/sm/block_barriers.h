// The barriers of a block (BAR): who has come and who waits.
//
// Models:  sixteen barriers per block; each lets its waiting warps go when as many have come as it is for, or all that have not ended.
// Source:  PTX ISA, barrier.
#pragma once

#include <array>
#include <cstdint>

namespace foretrace::sm {

class BlockBarriers {
 public:
  static constexpr std::size_t kBarriers = 16;

  /// A warp comes to a barrier for `expected` warps, 0: all of the block. `waits`: its bit, 0 where it goes on.
  void arrive(std::size_t number, std::uint32_t expected, std::uint64_t waits) {
    Barrier& barrier = barriers_[number];
    barrier.expected = expected;
    ++barrier.arrived;
    barrier.waiting |= waits;
  }
  /// Whether all have come, `live` warps of the block being there. `released`: those that waited; the barrier begins anew.
  bool complete(std::size_t number, std::uint32_t live, std::uint64_t& released) {
    Barrier& barrier = barriers_[number];
    if (barrier.arrived == 0 || barrier.arrived < (barrier.expected ? barrier.expected : live)) return false;
    released = barrier.waiting;
    barrier = Barrier{};
    return true;
  }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint64_t waiting = 0;
    std::uint32_t expected = 0;
  };
  std::array<Barrier, kBarriers> barriers_{};
};

}  // namespace foretrace::sm
