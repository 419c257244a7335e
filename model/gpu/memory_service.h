// The memory system between the windows of SMs: requests in order, replies back to the SMs.
//
// Time:    the requests of a window are taken when it has ended, and submitted when they are served: between two windows, or on a thread
//          beside the SMs of the next one. Served beside, what is known before a window are the replies to requests of the window before
//          the last: a window is then at most half of the memory system's lookahead.
#pragma once

#include <utility>
#include <vector>

#include "model/gpu/request_order.h"
#include "model/gpu/sm_array.h"
#include "model/memory/memory_system.h"
#include "model/memory/signals.h"
#include "model/sm/timeline.h"

namespace foretrace::gpu {

class MemoryService {
 public:
  /// References must outlive the object. `timeline` is told of the ways of reads; may be null.
  MemoryService(memory::MemorySystem& memory, SmArray& sms, sm::Timeline* timeline)
      : memory_(memory), sms_(sms), timeline_(timeline) {
    memory_.observe(timeline ? &journeys_ : nullptr);
  }
  ~MemoryService() { memory_.observe(nullptr); }
  MemoryService(const MemoryService&) = delete;
  MemoryService& operator=(const MemoryService&) = delete;

  /// Takes what SMs and the GPCs' caches asked for in the window [from, until).
  void take(Cycle from, Cycle until) { requests_.take(from, until, sms_.outboxes()); }
  /// Whether something was taken, or may have happened, before `now` and was not served.
  bool behind(Cycle now) const { return served_ < now; }
  /// Serves everything before `until`, and hands out the replies.
  void serve(Cycle until) {
    work(until);
    hand_out();
  }
  /// The same in two steps: work() on any thread while SMs are simulated, hand_out() after it.
  void work(Cycle until) {
    requests_.submit([this](const memory::Request& request) {
      if (request.waits == 0 || request.tells == memory::kTries) return memory_.submit(request);
      memory_.submit(request, sms_.at(request.sm).awaited(request.waits - 1u));
    });
    memory_.advance(until, sms_.incoming());
    served_ = until;
  }
  void hand_out() {
    if (timeline_) timeline_->answered(std::exchange(journeys_, {}));
    sms_.hand_out();
  }
  /// Earliest time at which something happens, kNever: nothing is under way.
  Cycle next_event() const { return std::min(memory_.next_event(), requests_.earliest_left()); }

 private:
  memory::MemorySystem& memory_;
  SmArray& sms_;
  sm::Timeline* const timeline_;
  RequestOrder requests_;
  std::vector<memory::ReadJourney> journeys_;
  Cycle served_ = 0;
};

}  // namespace foretrace::gpu
