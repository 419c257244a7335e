// Cycles of one clock domain as cycles of another, exactly.
//
// Models:  two clocks that start together at time zero; their frequencies' ratio is a reduced fraction, so
//          nothing drifts.
// Ignores: phase, jitter, and the synchronisers' own cycles (they are part of the measured latencies).
// Source:  docs/architecture.md, decision 4.
#pragma once

#include <cstdint>
#include <numeric>

#include "model/units/error.h"

namespace foretrace::memory {

class ClockRatio {
 public:
  /// From a domain at `from_hz` to one at `to_hz`; both must be above zero.
  ClockRatio(std::uint64_t from_hz, std::uint64_t to_hz) {
    FORETRACE_ASSERT(from_hz > 0 && to_hz > 0, "a clock domain stands still");
    const std::uint64_t common = std::gcd(from_hz, to_hz);
    from_ = from_hz / common;
    to_ = to_hz / common;
    narrow_ = (~std::uint64_t{0} - from_) / to_;
  }

  /// First cycle of the other domain that begins no earlier than cycle `cycle` of this one.
  std::uint64_t up(std::uint64_t cycle) const {
    if (cycle <= narrow_) return (cycle * to_ + from_ - 1) / from_;
    return static_cast<std::uint64_t>((static_cast<Wide>(cycle) * to_ + from_ - 1) / from_);
  }
  /// Whole cycles of the other domain that fit into `cycles` of this one.
  std::uint64_t down(std::uint64_t cycles) const {
    if (cycles <= narrow_) return cycles * to_ / from_;
    return static_cast<std::uint64_t>(static_cast<Wide>(cycles) * to_ / from_);
  }
  /// Numerator and denominator: `from()` cycles of this domain last as long as `to()` of the other.
  std::uint64_t from() const { return from_; }
  std::uint64_t to() const { return to_; }

  __extension__ using Wide = unsigned __int128;

 private:
  std::uint64_t from_ = 1, to_ = 1, narrow_ = 0;
};

}  // namespace foretrace::memory
