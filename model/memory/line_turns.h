// Reads and writes of one line that come to a slice closely behind each other.
//
// Models:  of those that come the same way, from the SMs beside the slice or from the other partition, a read of a line has its turn so many
//          cycles behind a write or an atomic of it at the earliest, and a write behind a read. Until then all waits that came behind it this way.
// Ignores: those of the other way; what atomics wait for. Of a slice's lines no more are remembered than it has turns in that time.
// Source:  our shared_lines on H200: a lone lane's load behind a store to its line, and a store behind a load, come 25 SM cycles later than
//          those of other lines, whichever of the line's words they are of; loads of other lines wait as long as those that meet. SMs beside one
//          partition that load, and SMs beside the other one that store, do not hold each other up that way.
// Time:    L2 cycles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/memory/port.h"

namespace foretrace::memory {

/// Of one slice.
class LineTurns {
 public:
  enum class Access : std::uint8_t { none, read, write, atomic };

  explicit LineTurns(std::uint32_t width) : way_{Port(width), Port(width)} {}

  /// What takes `bytes` of the slice's time could have its turn in cycle `ready`: the cycle in which it has. `way`: 1: from the other
  /// partition; `line`: any number of its own; `interval`: between accesses of a line that differ.
  std::uint64_t pass(std::size_t way, std::uint64_t ready, std::uint32_t bytes, std::uint64_t line,
                     Access access, std::uint32_t interval) {
    used_ = true;
    Last& last = last_[(line * kMix) >> kShift << 1 | way];
    const bool meets = last.line == line && waits(access, last.access);
    const std::uint64_t turn = way_[way].pass(meets ? std::max(ready, last.turn + interval) : ready, bytes);
    last = {line, turn, access};
    return turn;
  }
  /// The cycle of the last turn that somebody got who came this way.
  std::uint64_t last(std::size_t way) const { return way_[way].last(); }
  /// Time zero of a new launch. A slice that nobody came to has nothing to forget.
  void restart() {
    if (!used_) return;
    used_ = false;
    for (Port& way : way_) way.reset();
    std::fill(last_.begin(), last_.end(), Last{});
  }

 private:
  static bool waits(Access access, Access last) {
    return (access == Access::read && (last == Access::write || last == Access::atomic)) ||
           (access == Access::write && last == Access::read);
  }
  static constexpr int kShift = 57;  // 128 places
  static constexpr std::uint64_t kMix = 0x9E37'79B9'7F4A'7C15;
  struct Last {
    std::uint64_t line = 0, turn = 0;
    Access access = Access::none;
  };
  std::array<Port, 2> way_;
  bool used_ = false;
  std::vector<Last> last_ = std::vector<Last>(std::size_t{2} << (64 - kShift));  // by place, then by way
};

}  // namespace foretrace::memory
