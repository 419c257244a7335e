// The requests of a window's SMs in the order in which the memory system takes them.
//
// Models:  nothing; it is the sort by (time, SM) between windows. Times of a window are few: requests are counted by time and put in
//          place, where those of one time stand by SM and those of one SM as it made them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/units/units.h"

namespace foretrace::gpu {

class RequestOrder {
 public:
  /// Calls submit(request) for every request of the window [from, until) in `outboxes` (by SM), and leaves the later ones there. None
  /// is earlier than `from`.
  template <typename Submit>
  void take(Cycle from, Cycle until, const std::vector<std::vector<memory::Request>*>& outboxes,
            Submit&& submit) {
    starts_.assign(until - from + 1, 0);
    for (const auto* outbox : outboxes) {
      for (const memory::Request& request : *outbox) {
        if (request.time < until) ++starts_[request.time - from + 1];
      }
    }
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    ordered_.resize(starts_.back());
    for (const auto* outbox : outboxes) {
      for (const memory::Request& request : *outbox) {
        if (request.time < until) ordered_[starts_[request.time - from]++] = &request;
      }
    }
    for (const memory::Request* request : ordered_) submit(*request);
    earliest_left_ = kNever;
    for (auto* outbox : outboxes) {
      std::erase_if(*outbox, [until](const memory::Request& request) { return request.time < until; });
      for (const memory::Request& request : *outbox) earliest_left_ = std::min(earliest_left_, request.time);
    }
  }
  /// Time of the earliest request that take() left, kNever: none.
  Cycle earliest_left() const { return earliest_left_; }

 private:
  std::vector<std::uint32_t>
      starts_;  // by time since the window's start: where the next request of that time goes
  std::vector<const memory::Request*> ordered_;
  Cycle earliest_left_ = kNever;
};

}  // namespace foretrace::gpu
