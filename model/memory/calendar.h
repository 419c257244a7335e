// Events in order of time, those of one cycle in the order in which they were put in.
//
// Models:  nothing; it is the event queue of the memory system. A ring of buckets for the near future, a
//          heap for the rest.
// Ignores: ties other than by order of insertion: whoever needs another order inserts in it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::memory {

template <typename Event>
class Calendar {
 public:
  /// `time` must not be before the last time that was taken.
  void push(std::uint64_t time, const Event& event) {
    if (time - base_ < kSpan) {
      put(time, event);
    } else {
      far_.push_back({time, order_++, event});
      std::push_heap(far_.begin(), far_.end(), later);
    }
    if (time < next_) next_ = time;
  }
  /// Earliest time with an event, kNever without one.
  std::uint64_t next() const { return next_; }

  /// Calls handle(event) for every event of cycle `now` = next(), with those pushed for `now` meanwhile.
  template <typename Handle>
  void take(std::uint64_t now, Handle&& handle) {
    move_to(now);
    std::vector<Event>& bucket = ring_[now % kSpan];
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Event event = bucket[i];
      handle(event);
    }
    bucket.clear();
    occupied_[(now % kSpan) / 64] &= ~(std::uint64_t{1} << (now % 64));
    next_ = find(now + 1);
  }

  /// No event before `now` is left. Far events come into the ring as soon as their time is inside its span,
  /// hence before any later push for the same cycle.
  void move_to(std::uint64_t now) {
    base_ = now;
    while (!far_.empty() && far_.front().time - base_ < kSpan) {
      std::pop_heap(far_.begin(), far_.end(), later);
      put(far_.back().time, far_.back().event);
      far_.pop_back();
    }
  }

  /// Forgets the time; there must be no events left.
  void restart() { base_ = 0, next_ = kNever, order_ = 0; }

 private:
  static constexpr std::uint64_t kSpan = 512;  // cycles; most events of a loaded GPU are nearer
  struct Far {
    std::uint64_t time, order;
    Event event;
  };
  static bool later(const Far& a, const Far& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  void put(std::uint64_t time, const Event& event) {
    ring_[time % kSpan].push_back(event);
    occupied_[(time % kSpan) / 64] |= std::uint64_t{1} << (time % 64);
  }
  std::uint64_t find(std::uint64_t from) const {
    const std::uint64_t end = base_ + kSpan;
    for (std::uint64_t t = from; t < end;) {
      const std::uint64_t word = occupied_[(t % kSpan) / 64] >> (t % 64);
      if (word) {
        const std::uint64_t found = t + static_cast<unsigned>(std::countr_zero(word));
        if (found < end) return found;
      }
      t += 64 - t % 64;
    }
    return far_.empty() ? kNever : far_.front().time;
  }

  std::array<std::vector<Event>, kSpan> ring_;
  std::array<std::uint64_t, kSpan / 64> occupied_{};
  std::vector<Far> far_;
  std::uint64_t base_ = 0, next_ = kNever, order_ = 0;
};

}  // namespace foretrace::memory
