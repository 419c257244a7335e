// What of a launch's addresses lies in another device's memory, and what the link to it carries.
//
// Models:  nothing; it is what a launch is told.
// Ignores: which of several other devices it is: all are reached by the device's own link.
// Units:   bytes, nanoseconds, bytes per nanosecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::memory {

struct PeerMemory {
  struct Range {
    std::uint64_t first = 0, end = 0;  ///< addresses [first, end)
  };
  std::vector<Range> ranges;   ///< in order, apart from each other
  double latency = 0;          ///< ns from a packet's leaving the chip until its answer is back
  double bandwidth = 1;        ///< each way, of all that is sent
  std::uint32_t header = 0;    ///< bytes that go with a packet's data
  std::uint32_t question = 0;  ///< bytes of a packet without data

  bool holds(std::uint64_t line) const {
    const std::uint64_t address = line * kLineBytes;
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                        [](std::uint64_t at, const Range& range) { return at < range.end; });
    return after != ranges.end() && after->first < address + kLineBytes;
  }
};

}  // namespace foretrace::memory
