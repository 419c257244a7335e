// Which of an SM's stores fences of the device wait for.
//
// Models:  a fence waits until L2 has acknowledged, in whatever order, what had left the SM when it came; one that comes while another waits
//          begins when that is over, and waits for what had left by then.
// Source:  device_fences on H200 (docs/sources.md): the fences of 8 warps behind 16 stores each take as long as if each waited for all
//          128 stores.
#pragma once

#include <array>
#include <cstdint>

#include "model/units/error.h"

namespace foretrace::sm {

class StoreFences {
 public:
  static constexpr std::uint32_t kMarks = 2;

  /// A store leaves. Returns what acknowledged() is told.
  std::uint32_t left() {
    ++stores_[fresh_];
    return fresh_;
  }
  void acknowledged(std::uint32_t mark) {
    FORETRACE_ASSERT(stores_[mark] != 0, "an acknowledgement is of a store that left");
    --stores_[mark];
    if (begun_ == over_ || stores_[1 - fresh_] != 0) return;
    over_ = begun_;
    if (asked_ > begun_) begin();
  }
  /// A fence: over() says when what has left is acknowledged.
  std::uint64_t fence() {
    if (begun_ != over_) return asked_ = begun_ + 1;
    asked_ = begun_ + 1;
    begin();
    return begun_;
  }
  bool over(std::uint64_t fence) const { return fence <= over_; }

 private:
  /// The next fence waits for what has left.
  void begin() {
    ++begun_;
    if (stores_[fresh_] == 0) {
      over_ = begun_;
    } else {
      fresh_ = 1 - fresh_;
    }
  }

  std::array<std::uint32_t, kMarks> stores_{};  // not acknowledged: of the fence that waits, and later ones
  std::uint32_t fresh_ = 0;                     // those
  std::uint64_t begun_ = 0, over_ = 0, asked_ = 0;  // fences, by number
};

}  // namespace foretrace::sm
