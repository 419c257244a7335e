// Events of an SM in order of time: a ring of cycles for the near future, a heap for the rest.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sm {

template <typename Event>
class EventWheel {
 public:
  void push(Cycle time, const Event& event) {
    if (time < base_ + kSpan) {
      ring_[time % kSpan].push_back(event);
      occupied_[(time % kSpan) / 64] |= std::uint64_t{1} << (time % 64);
    } else {
      far_.push_back({time, sequence_++, event});
      std::push_heap(far_.begin(), far_.end(), later);
    }
    earliest_ = std::min(earliest_, time);
  }

  /// Earliest time of an event, kNever when there is none.
  Cycle next() const { return earliest_; }

  /// Calls handle(event) for every event at `now`, those that are pushed for `now` meanwhile included. No event may be earlier.
  template <typename Handle>
  void run(Cycle now, Handle&& handle) {
    advance(now);
    auto& bucket = ring_[now % kSpan];
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Event event = bucket[i];
      handle(event);
    }
    bucket.clear();
    occupied_[(now % kSpan) / 64] &= ~(std::uint64_t{1} << (now % 64));
    find_earliest(now + 1);
  }

 private:
  static constexpr Cycle kSpan = 1024;
  struct Far { Cycle time; std::uint64_t sequence; Event event; };
  static bool later(const Far& a, const Far& b) {
    return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
  }

  void advance(Cycle now) {
    base_ = now;
    while (!far_.empty() && far_.front().time < base_ + kSpan) {
      const Far far = far_.front();
      std::pop_heap(far_.begin(), far_.end(), later);
      far_.pop_back();
      ring_[far.time % kSpan].push_back(far.event);
      occupied_[(far.time % kSpan) / 64] |= std::uint64_t{1} << (far.time % 64);
    }
  }

  void find_earliest(Cycle from) {
    earliest_ = far_.empty() ? kNever : far_.front().time;
    for (Cycle t = from; t < base_ + kSpan;) {
      const std::uint64_t word = occupied_[(t % kSpan) / 64] >> (t % 64);
      if (word) {
        const Cycle found = t + static_cast<unsigned>(std::countr_zero(word));
        if (found < base_ + kSpan) earliest_ = std::min(earliest_, found);
        return;
      }
      t += 64 - t % 64;
    }
  }

  std::array<std::vector<Event>, kSpan> ring_;
  std::array<std::uint64_t, kSpan / 64> occupied_{};
  std::vector<Far> far_;
  std::uint64_t sequence_ = 0;
  Cycle base_ = 0, earliest_ = kNever;
};

}  // namespace foretrace::sm
