// Writes of a part of a sector to a slice, one behind the other.
//
// Models:  a slice reads, changes and writes back what is written in part. It does so for each of a line's four sectors on its own: what
//          writes the same sector of a line, of whichever line, comes so many cycles behind the last that did.
// Ignores: what it does to reads and to whole sectors in between.
// Source:  our hot_stores (all SMs on one sector 2.0 to 2.2 L2 cycles per store, on two sectors of a line or whole sectors none) and
//          store_bandwidth (words 128 bytes apart 1.96) on H100.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::memory {

class PartialWrites {
 public:
  /// A write of `sectors` (bit i: sector i) in part could be made in L2 cycle `ready`: the cycle in which it is, `interval` behind the
  /// last one of any of them.
  std::uint64_t pass(std::uint64_t ready, std::uint32_t sectors, std::uint32_t interval) {
    ready = std::max(ready, free(sectors));
    for (std::size_t i = 0; i < kSectorsPerLine; ++i) {
      if (sectors >> i & 1) free_[i] = ready + interval;
    }
    return ready;
  }

  /// From which cycle on one of `sectors` would not wait.
  std::uint64_t free(std::uint32_t sectors) const {
    std::uint64_t cycle = 0;
    for (std::size_t i = 0; i < kSectorsPerLine; ++i) {
      if (sectors >> i & 1) cycle = std::max(cycle, free_[i]);
    }
    return cycle;
  }

 private:
  std::array<std::uint64_t, kSectorsPerLine> free_{};  // by sector, from which cycle on
};

}  // namespace foretrace::memory
