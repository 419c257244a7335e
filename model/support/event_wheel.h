// Events of an SM in order of time: a ring of cycles for the near future, a heap for the rest.
//
// The events of a cycle are a ring of nodes, entered at its last. All nodes come from one pool, which is as large as the most events
// that were under way at a time: a few kilobytes that a host's cache holds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::support {

template <typename Event>
class EventWheel {
 public:
  void push(Cycle time, const Event& event) {
    if (time < base_ + kSpan) {
      append(time, event);
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
    std::uint32_t& last = last_[now % kSpan];
    while (last != kNoNode) {
      const std::uint32_t first = nodes_[last].next;
      const Event event = nodes_[first].event;
      if (first == last) {
        last = kNoNode;
      } else {
        nodes_[last].next = nodes_[first].next;
      }
      nodes_[first].next = free_;
      free_ = first;
      handle(event);
    }
    occupied_[(now % kSpan) / 64] &= ~(std::uint64_t{1} << (now % 64));
    find_earliest(now + 1);
  }

 private:
  static constexpr Cycle kSpan = 1024;
  static constexpr std::uint32_t kNoNode = ~std::uint32_t{0};
  static constexpr std::array<std::uint32_t, kSpan> no_nodes() {
    std::array<std::uint32_t, kSpan> none{};
    none.fill(kNoNode);
    return none;
  }
  struct Far {
    Cycle time;
    std::uint64_t sequence;
    Event event;
  };
  static bool later(const Far& a, const Far& b) {
    return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
  }

  void append(Cycle time, const Event& event) {
    std::uint32_t node = free_;
    if (node == kNoNode) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    std::uint32_t& last = last_[time % kSpan];
    nodes_[node].event = event;
    nodes_[node].next = last == kNoNode ? node : nodes_[last].next;
    if (last != kNoNode) nodes_[last].next = node;
    last = node;
    occupied_[(time % kSpan) / 64] |= std::uint64_t{1} << (time % 64);
  }

  void advance(Cycle now) {
    base_ = now;
    while (!far_.empty() && far_.front().time < base_ + kSpan) {
      const Far far = far_.front();
      std::pop_heap(far_.begin(), far_.end(), later);
      far_.pop_back();
      append(far.time, far.event);
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

  struct Node {
    Event event;
    std::uint32_t next = kNoNode;
  };
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNoNode;
  std::array<std::uint32_t, kSpan> last_ = no_nodes();  // by cycle: node of its last event
  std::array<std::uint64_t, kSpan / 64> occupied_{};
  std::vector<Far> far_;
  std::uint64_t sequence_ = 0;
  Cycle base_ = 0, earliest_ = kNever;
};

}  // namespace foretrace::support
