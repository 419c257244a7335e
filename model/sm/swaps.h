// Compare-and-swaps of loops that try again, on their way: what memory is told of one, and whether one in shared memory fails.
//
// Models:  in shared memory the data stage serves one after the other; what a swap compares with was read by the access of its warp
//          before it.
// Ignores: stores and other atomics to the same words between the two.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/memory/tries.h"
#include "model/units/units.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// What a warp's round of such a loop asks.
struct Swap {
  bool tries = false;         ///< false: it is none
  std::uint16_t warp = 0;     ///< its slot in the SM
  std::uint16_t block = 0;    ///< its block's
  std::uint32_t changes = 0;  ///< lanes whose swap changes memory, if it finds what it wants
  std::uint32_t round = 0;    ///< the warp's round; the same when it is gone through again
};

/// Tells memory of the words of lanes `executed` that lie in the request's line.
void put_try(memory::Request& request, const Swap& swap, const work::LaneAddresses& addresses,
             std::uint32_t executed);

/// Those of an SM in shared memory.
class SharedSwaps {
 public:
  /// `any`: whether the program has such loops.
  explicit SharedSwaps(bool any) : read_(any ? kWarps : 0) {}
  /// An access of the warp in slot `warp` at `now`, in order of time. True: a swap, which fails.
  bool access(const Swap& swap, std::uint16_t warp, const work::LaneAddresses& addresses,
              std::uint32_t executed, Cycle now);

 private:
  static constexpr std::uint32_t kWords = 1024, kWarps = 64;
  memory::Tries tries_{kWords};
  std::vector<Cycle> read_;  // by warp: its last access
};

}  // namespace foretrace::sm
