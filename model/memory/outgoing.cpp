#include "model/memory/outgoing.h"

#include <algorithm>

namespace foretrace::memory {

void Outgoing::put(const Reply& reply, std::uint64_t order, bool code) {
  ++waiting_;
  std::vector<Data>& data = code ? code_ : lanes_[reply.sm].data;
  data.push_back({reply, order});
  if (code) return;
  const auto later = [](const Data& a, const Data& b) {
    return a.reply.time != b.reply.time ? a.reply.time > b.reply.time : a.order > b.order;
  };
  for (std::size_t at = data.size() - 1; at > 0 && later(data[at - 1], data[at]); --at)
    std::swap(data[at - 1], data[at]);
}

void Outgoing::hand_out(Cycle known, Replies& replies) {
  replies.of_sm.resize(lanes_.size());
  if (waiting_ == 0) return;
  for (std::uint32_t sm = 0; sm < lanes_.size(); ++sm) {
    Lane& lane = lanes_[sm];
    Replies::Sm& to = replies.of_sm[sm];
    const auto late = std::find_if(lane.data.begin(), lane.data.end(),
                                   [known](const Data& d) { return d.reply.time >= known; });
    waiting_ -= static_cast<std::size_t>(late - lane.data.begin());
    for (auto at = lane.data.begin(); at != late; ++at) to.data.push_back(at->reply);
    lane.data.erase(lane.data.begin(), late);
    while (true) {
      support::Ring<Acknowledgement>* first = nullptr;
      for (support::Ring<Acknowledgement>& ring : lane.acknowledgements) {
        if (!ring.empty() && (first == nullptr || ring.front().out < first->front().out)) first = &ring;
      }
      if (first == nullptr) break;
      const Cycle time = time_of(first->front().out);
      if (time >= known) break;
      to.acknowledgements.push_back({time, sm, first->pop().id});
      --waiting_;
    }
  }
  if (code_.empty()) return;
  std::sort(code_.begin(), code_.end(), [](const Data& a, const Data& b) {
    if (a.reply.time != b.reply.time) return a.reply.time < b.reply.time;
    return a.reply.sm != b.reply.sm ? a.reply.sm < b.reply.sm : a.order < b.order;
  });
  const auto late =
      std::find_if(code_.begin(), code_.end(), [known](const Data& d) { return d.reply.time >= known; });
  waiting_ -= static_cast<std::size_t>(late - code_.begin());
  for (auto at = code_.begin(); at != late; ++at) replies.of_code.push_back(at->reply);
  code_.erase(code_.begin(), late);
}

Cycle Outgoing::next(std::uint64_t end) const {
  Cycle next = kNever;
  if (waiting_ == 0) return next;
  for (const Data& data : code_) next = std::min(next, data.reply.time);
  for (const Lane& lane : lanes_) {
    if (!lane.data.empty()) next = std::min(next, lane.data.front().reply.time);
    for (const support::Ring<Acknowledgement>& ring : lane.acknowledgements) {
      if (ring.empty()) continue;
      if (ring.front().out < end) next = std::min(next, time_of(ring.front().out));
      for (std::size_t i = 0; i < ring.size(); ++i) {
        if (ring[i].out < end) continue;
        next = std::min(next, l2_to_sm_.down(ring[i].out));
        break;
      }
    }
  }
  return next;
}

void Outgoing::clear() {
  for (Lane& lane : lanes_) {
    lane.data.clear();
    for (auto& ring : lane.acknowledgements) ring.clear();
  }
  code_.clear();
  waiting_ = 0;
}

}  // namespace foretrace::memory
