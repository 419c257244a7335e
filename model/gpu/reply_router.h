// Replies that are known and not yet given to their SMs. An SM gets its own when it is simulated: those of all SMs at a time are more than
// a host's caches hold. What the memory system makes known while SMs are simulated stands apart until take().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/sm/sm.h"
#include "model/units/units.h"

namespace foretrace::gpu {

class ReplyRouter {
 public:
  explicit ReplyRouter(std::size_t sms) : waiting_(sms), seen_(sms), next_(sms, kNever) {
    incoming_.of_sm.resize(sms);
  }

  /// Where the memory system appends replies, on any thread; take() and look() then take notice.
  memory::Replies& incoming() { return incoming_; }
  /// Incoming replies to SMs join those that wait for them.
  void take() {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      append(waiting_[i].data, incoming_.of_sm[i].data);
      append(waiting_[i].acknowledgements, incoming_.of_sm[i].acknowledgements);
    }
  }
  /// Calls call(reply) for each data reply to an SM that was taken since the last look().
  template <typename Call>
  void each_new(std::size_t sm, Call&& call) const {
    const auto& data = waiting_[sm].data;
    for (std::size_t i = seen_[sm].data; i < data.size(); ++i) call(data[i]);
  }
  void look() {
    for (std::size_t i = 0; i < next_.size(); ++i) {
      look(i, waiting_[i].data, seen_[i].data);
      look(i, waiting_[i].acknowledgements, seen_[i].acknowledgements);
    }
  }
  /// A reply of the GPCs' caches. Such replies do not make the launch longer.
  void give(const memory::Reply& reply) {
    auto& data = waiting_[reply.sm].data;
    data.push_back(reply);
    seen_[reply.sm].data = data.size();
    next_[reply.sm] = std::min(next_[reply.sm], reply.time);
  }
  /// Gives an SM what is here for it; false: nothing was.
  bool deliver(std::size_t i, sm::Sm& sm) {
    memory::Replies::Sm& own = waiting_[i];
    if (own.data.empty() && own.acknowledgements.empty()) return false;
    for (const memory::Reply& reply : own.data) sm.deliver(reply);
    sm.acknowledge(own.acknowledgements);
    own.data.clear();
    own.acknowledgements.clear();
    seen_[i] = {};
    next_[i] = kNever;
    return true;
  }
  /// Time of the earliest reply for any SM, and for one; kNever: none.
  Cycle next() const { return *std::min_element(next_.begin(), next_.end()); }
  Cycle next(std::size_t sm) const { return next_[sm]; }
  /// Time of the last reply of the memory system.
  Cycle last() const { return last_; }

 private:
  struct Seen {
    std::size_t data = 0, acknowledgements = 0;
  };
  static void append(std::vector<memory::Reply>& to, std::vector<memory::Reply>& from) {
    if (to.empty()) return to.swap(from);
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  }
  void look(std::size_t sm, const std::vector<memory::Reply>& list, std::size_t& from) {
    if (from == list.size()) return;
    next_[sm] = std::min(next_[sm], list[from].time);
    last_ = std::max(last_, list.back().time);
    from = list.size();
  }

  memory::Replies incoming_;
  std::vector<memory::Replies::Sm> waiting_;  // by SM
  std::vector<Seen> seen_;                    // by SM: how many were looked at
  std::vector<Cycle> next_;                   // by SM
  Cycle last_ = 0;
};

}  // namespace foretrace::gpu
