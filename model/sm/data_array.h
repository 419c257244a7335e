// The array that holds the lines of L1 and shared memory, and which accesses meet there.
//
// Models:  two halves, each of which writes and reads one thing per cycle. L1's lines lie from its bottom up, a way after the other; the
//          shared memory of the SM's blocks from its top down. A shared store whose half a fill is writing goes again; so does a shared
//          load whose half is read for a store to global memory that leaves the SM, or for a warp that starts.
// Ignores: what cp.async writes to shared memory, which has a way of its own (data_stage.h); lanes of one access that lie in both halves.
// Source:  our shared_contention on H100: stores beside fresh lines go again from the 129th KiB of lines on and to the end of L1, where
//          L1 has more than half of the array, in every lap anew, 0.87 of a pass per sector at one access per cycle and 2.7 per whole line;
//          loads never do beside loads, but beside stores to fresh lines from there on, and while blocks start.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sm {

class DataArray {
 public:
  enum class Way : std::uint8_t { write, read };

  /// `bytes` of L1 and shared memory together, `block_bytes` of shared memory per block; `sector_interval`: cycles that a sector keeps
  /// a way of its half.
  DataArray(std::uint64_t bytes, std::uint64_t block_bytes, double sector_interval)
      : bytes_(bytes), block_bytes_(block_bytes),
        sector_parts_(static_cast<std::uint32_t>(std::lround(sector_interval * kParts))) {}

  unsigned half_of_line(std::uint64_t place) const { return place * 2 >= bytes_; }
  /// `block`: its slot in the SM; `address`: in its shared memory.
  unsigned half_of_shared(std::uint32_t block, std::uint64_t address) const {
    const std::uint64_t below_top = (block + std::uint64_t{1}) * block_bytes_;
    return half_of_line(bytes_ - std::min(bytes_, below_top) + address);
  }

  /// Something else takes a way of a half for `sectors` of a line from `now` on. The passes that a shared access under way has to make
  /// again for it.
  Cycle take(Way way, unsigned half, Cycle now, std::uint32_t sectors) {
    Use& use = uses_[static_cast<std::size_t>(way)][half];
    use.parts += sector_parts_ * sectors;
    const Cycle until = now + use.parts / kParts;
    use.parts %= kParts;
    const Cycle meets = use.access_end > now ? std::min(use.access_end, until) - now : 0;
    use.taken_until = std::max(use.taken_until, until);
    use.access_end += meets;
    return meets;
  }
  /// A shared access of `passes` from `start` on: how many of them go again.
  Cycle access(Way way, unsigned half, Cycle start, Cycle passes) {
    Use& use = uses_[static_cast<std::size_t>(way)][half];
    Cycle meets = use.taken_until > start ? std::min(passes, use.taken_until - start) : 0;
    if (way == Way::read && !starts_.empty()) {
      const auto past = std::find_if(starts_.begin(), starts_.end(), [&](Cycle at) { return at >= start; });
      const auto later = std::find_if(past, starts_.end(), [&](Cycle at) { return at >= start + passes; });
      meets += static_cast<Cycle>(later - past);
      starts_.erase(starts_.begin(), later);
    }
    use.access_end = start + passes + meets;
    return meets;
  }
  /// A warp starts at `when`, not before the one before it.
  void start_warp(Cycle when) {
    if (starts_.size() == kMostStarts) starts_.erase(starts_.begin());
    starts_.push_back(when);
  }

 private:
  static constexpr std::size_t kMostStarts = 64;    // an SM's warps
  static constexpr std::uint32_t kParts = 3 << 10;  // of a cycle: what is left over is kept exactly
  struct Use {
    Cycle taken_until = 0;    // by something else than shared memory
    Cycle access_end = 0;     // of the last shared access
    std::uint32_t parts = 0;  // of a cycle, left over from what was taken before
  };
  std::uint64_t bytes_, block_bytes_;
  std::uint32_t sector_parts_;
  std::array<std::array<Use, 2>, 2> uses_{};  // by way and half
  std::vector<Cycle> starts_;                 // of warps, since the last shared load
};

}  // namespace foretrace::sm
