// A path of limited width: so many bytes per cycle, in the order in which they are handed over.
//
// Models:  bandwidth only. A packet passes cut-through: when the path is free, its last byte passes at the
//          time it is offered.
// Ignores: latency (the caller adds it), arbitration between packets offered in the same cycle (first come,
//          first served).
// Source:  docs/architecture.md, decision 4: resources with a next-free time.
#pragma once

#include <cstdint>

namespace foretrace::memory {

class Port {
 public:
  /// `width`: bytes per cycle, above zero.
  explicit Port(std::uint32_t width) : width_(width) {}

  /// A packet's last byte is ready in cycle `ready`. Returns the cycle in which it passes. Calls come in
  /// order of `ready`.
  std::uint64_t pass(std::uint64_t ready, std::uint32_t bytes) {
    ready += kBefore;
    used_ += bytes;
    if (used_ > width_) {
      const std::uint32_t cycles =
          used_ <= 2 * width_ ? 1 : (used_ - 1) / width_;  // a division costs the host more
      cycle_ += cycles;
      used_ -= cycles * width_;
    }
    const std::uint32_t alone = bytes < width_ ? bytes : width_;
    if (cycle_ < ready || (cycle_ == ready && used_ < alone)) {
      cycle_ = ready;
      used_ = alone;
    }
    return cycle_ - kBefore;
  }
  /// The cycle in which the last packet passes, 0 before the first.
  std::uint64_t last() const { return cycle_ < kBefore ? 0 : cycle_ - kBefore; }
  std::uint32_t width() const { return width_; }
  void reset() { cycle_ = 0, used_ = 0; }

 private:
  static constexpr std::uint64_t kBefore = std::uint64_t{1}
                                           << 32;  // a free path was free before time zero as well

  std::uint32_t width_;
  std::uint32_t used_ = 0;   // bytes of cycle_ that are taken
  std::uint64_t cycle_ = 0;  // the last byte so far passed in this cycle
};

}  // namespace foretrace::memory
