// The requests of a window's SMs in the order in which the memory system takes them.
//
// Models:  nothing; it is the sort by (time, SM) between windows. Times of a window are few: requests are counted by time and put in
//          place, where those of one time stand by SM and those of one SM as it made them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/support/large_pages.h"
#include "model/units/units.h"

namespace foretrace::gpu {

class RequestOrder {
 public:
  /// Takes the requests of the window [from, until) out of `outboxes` (by SM), and leaves the later ones there. None is earlier than
  /// `from`. What was taken before has been submitted.
  void take(Cycle from, Cycle until, const std::vector<std::vector<memory::Request>*>& outboxes) {
    from_ = from;
    until_ = until;
    taken_.resize(outboxes.size());
    earliest_left_ = kNever;
    for (std::size_t i = 0; i < outboxes.size(); ++i) {
      if (outboxes[i]->empty()) continue;
      std::vector<memory::Request>& taken = taken_[i];
      taken.swap(*outboxes[i]);
      const auto late = [until](const memory::Request& request) { return request.time >= until; };
      auto kept = std::find_if(taken.begin(), taken.end(), late);
      for (auto at = kept; at != taken.end(); ++at) {
        if (!late(*at)) {
          *kept++ = *at;
          continue;
        }
        earliest_left_ = std::min(earliest_left_, at->time);
        outboxes[i]->push_back(*at);
      }
      taken.erase(kept, taken.end());
    }
  }
  /// Calls submit(request) for every request that was taken. On any thread, while others write to the outboxes.
  template <typename Submit>
  void submit(Submit&& submit) {
    starts_.assign(until_ - from_ + 1, 0);
    for (const auto& taken : taken_) {
      for (const memory::Request& request : taken) ++starts_[request.time - from_ + 1];
    }
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    ordered_.resize(starts_.back());
    for (const auto& taken : taken_) {
      for (const memory::Request& request : taken) ordered_[starts_[request.time - from_]++] = &request;
    }
    for (std::size_t i = 0; i < ordered_.size(); ++i) {
      if (i + kAhead < ordered_.size()) support::prefetch(ordered_[i + kAhead]);
      submit(*ordered_[i]);
    }
    for (auto& taken : taken_) taken.clear();
  }
  /// Time of the earliest request that take() left, kNever: none.
  Cycle earliest_left() const { return earliest_left_; }

 private:
  static constexpr std::size_t kAhead =
      4;  // requests that are asked of the host's memory before they are looked at
  Cycle from_ = 0, until_ = 0;
  std::vector<std::vector<memory::Request>> taken_;  // by SM
  std::vector<std::uint32_t>
      starts_;  // by time since the window's start: where the next request of that time goes
  std::vector<const memory::Request*> ordered_;
  Cycle earliest_left_ = kNever;
};

}  // namespace foretrace::gpu
