// What waits for an entry of a slice's queue: a line, a miss, or room in a write queue of DRAM.
//
// Models:  each queue in order; of those at their home the SMs of the slice's own partition and the other partition take turns.
// Time:    L2 cycles. Nothing is tried before the cycle in which something became free.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/memory/shared.h"
#include "model/support/ring.h"

namespace foretrace::memory {

class Stalled {
 public:
  explicit Stalled(Shared& shared) : shared_(shared), queue_(2 * std::size_t{shared.spec.l2.slices}) {}

  /// Queues as Shared::queue_of() numbers them.
  bool empty(std::uint32_t queue) const { return queue_[queue].empty(); }
  void push(const Event& event) {
    const bool other = event.at_home() && !event.near_home();
    queue_[shared_.queue_of(event)].waiting[other ? 1 : 0].push(event);
  }
  /// Something of the slice became free: its queues are tried in this cycle.
  void wake(std::uint32_t slice) {
    for (const std::uint32_t index : {2 * slice, 2 * slice + 1}) {
      Queue& queue = queue_[index];
      if (queue.empty() || queue.retrying) continue;
      queue.retrying = true;
      shared_.events.push(shared_.now, {index, EventKind::retry});
    }
  }
  /// Tries those that wait, attempt(event), up to the first that has to wait on: false.
  template <typename Attempt>
  void retry(std::uint32_t index, Attempt&& attempt) {
    Queue& queue = queue_[index];
    queue.retrying = false;
    while (!queue.empty()) {
      const bool other = queue.waiting[0].empty() || (queue.others_turn && !queue.waiting[1].empty());
      support::Ring<Event>& waiting = queue.waiting[other ? 1 : 0];
      if (!attempt(waiting.front())) return;
      queue.others_turn = !other;
      waiting.pop();
    }
  }

 private:
  struct Queue {
    std::array<support::Ring<Event>, 2> waiting;  // from the SMs beside it; from the other partition
    bool others_turn = false;
    bool retrying = false;
    bool empty() const { return waiting[0].empty() && waiting[1].empty(); }
  };

  Shared& shared_;
  std::vector<Queue> queue_;
};

}  // namespace foretrace::memory
