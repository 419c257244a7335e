#include "model/gpu/sm_array.h"

#include <algorithm>
#include <utility>

#include "model/units/error.h"

namespace foretrace::gpu {

namespace {

/// By (time, SM); what an SM did at one time stays in its order.
template <typename Events>
void sort_by_time(Events& events) {
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return a.time != b.time ? a.time < b.time : a.sm < b.sm;
  });
}

}  // namespace

SmArray::SmArray(const spec::GpuSpec& spec, const sm::StaticProgram& program, const LaunchSetup& setup,
                 memory::GpcCaches& code)
    : spec_(spec), program_(program), setup_(setup), code_(code), clusters_(setup.clusters()),
      sms_(spec.sm.count), outboxes_(sms_.size(), &no_requests_), next_(sms_.size(), kNever),
      replies_(sms_.size()) {
  outboxes_.push_back(&code.outbox);
}

void SmArray::place(Dispatcher::Placement& placement, std::shared_ptr<const work::BlockRecord> record) {
  FORETRACE_ASSERT(record != nullptr, "the source has a record for every block");
  auto& sm = sms_[placement.sm];
  if (!sm) {
    sm = std::make_unique<sm::Sm>(spec_, placement.sm, program_, setup_.l1_bytes, setup_.block_shared);
    outboxes_[placement.sm] = &sm->outbox;
    if (setup_.timeline) sm->observe(setup_.timeline->of_sm(placement.sm));
  }
  sm->place({placement.start, std::move(record), placement.cluster, placement.rank,
             std::move(placement.places), placement.grid});
  next_[placement.sm] = sm->next_event();
}

void SmArray::deliver(std::size_t i) {
  if (sms_[i] && replies_.deliver(i, *sms_[i])) next_[i] = sms_[i]->next_event();
}

Cycle SmArray::next_event(Cycle now) {
  if (*std::min_element(next_.begin(), next_.end()) > now) {
    for (std::size_t i = 0; i < sms_.size(); ++i) deliver(i);
  }
  return *std::min_element(next_.begin(), next_.end());
}

bool SmArray::busy_before(Cycle time) const {
  return std::min(*std::min_element(next_.begin(), next_.end()), replies_.next()) < time;
}

bool SmArray::let_go(Cycle now) {
  bool some = false;
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    if (!sms_[i] || !sms_[i]->let_go(now)) continue;
    some = true;
    next_[i] = sms_[i]->next_event();
  }
  return some;
}

void SmArray::advance(support::Team& team, Cycle until, const std::function<void()>& beside) {
  team.run(sms_.size() + 1, [&](std::size_t item) {
    if (item == 0) return beside();
    const std::size_t i = item - 1;
    if (next_[i] >= until && replies_.next(i) >= until) return;
    deliver(i);
    sms_[i]->advance(until);
    next_[i] = sms_[i]->next_event();
  });
}

void SmArray::send(std::vector<sm::ClusterMessage>& list) {
  for (const sm::ClusterMessage& message : list) {
    if (!sms_[message.sm]) continue;
    sms_[message.sm]->receive(message);
    next_[message.sm] = std::min(next_[message.sm], sms_[message.sm]->next_event());
  }
  list.clear();
}

void SmArray::exchange() {
  for (const auto& sm : sms_) {
    if (!sm) continue;
    code_requests_.insert(code_requests_.end(), sm->code_outbox.begin(), sm->code_outbox.end());
    sm->code_outbox.clear();
  }
  for (const auto& sm : sms_) {
    if (sm) send(sm->cluster_outbox);
  }
  if (code_requests_.empty()) return;
  sort_by_time(code_requests_);
  code_replies_.clear();
  for (const memory::CodeRequest& request : code_requests_) code_.request(request, code_replies_);
  code_requests_.clear();
  for (const memory::Reply& reply : code_replies_) replies_.give(reply);
}

void SmArray::hand_out() {
  replies_.take();
  if (clusters_) {  // what a multicast brings goes to the other blocks as well
    for (std::size_t i = 0; i < sms_.size(); ++i) {
      replies_.each_new(i, [&](const memory::Reply& reply) {
        constexpr std::uint32_t kMarks = sm::CopyEngine::kMark | sm::CopyEngine::kToOthers;
        if ((reply.id & kMarks) == kMarks && (reply.id >> 29) == 0) sms_[i]->spread(reply, messages_);
      });
    }
    send(messages_);
  }
  replies_.look();
  code_replies_.clear();
  for (const memory::Reply& reply : replies_.incoming().of_code) code_.fill(reply, code_replies_);
  replies_.incoming().of_code.clear();
  for (const memory::Reply& reply : code_replies_) replies_.give(reply);
}

const std::vector<sm::WarpEnd>& SmArray::ends() {
  ends_.clear();
  for (const auto& sm : sms_) {
    if (!sm) continue;
    ends_.insert(ends_.end(), sm->ended.begin(), sm->ended.end());
    sm->ended.clear();
  }
  sort_by_time(ends_);
  return ends_;
}

void SmArray::count(Snapshot& into) const {
  for (const auto& sm : sms_) {
    if (!sm) continue;
    into.instructions += sm->counters.inst_executed - sm->repeated;
    into.shared_contention_ld += sm->counters.shared_contention_ld;
    into.shared_contention_st += sm->counters.shared_contention_st;
  }
}

void SmArray::count(stats::Instant& into) const {
  for (const auto& sm : sms_) {
    if (!sm) continue;
    const stats::LaunchCounters& counters = sm->counters;
    into.placed += counters.blocks;
    into.instructions += counters.inst_executed;
    into.l1_tag += counters.l1_tag_cycles;
    into.l1_data += counters.l1_data_wavefronts;
    for (std::size_t i = 0; i < into.state.size(); ++i) into.state[i] += counters.state[i];
    for (std::size_t i = 0; i < into.pipe_busy.size(); ++i) into.pipe_busy[i] += counters.pipe_busy[i];
    sm->count_waiting(into.now, into.state);
  }
}

void SmArray::finish(Cycle now, bool stopped, stats::LaunchCounters& into) {
  for (const auto& sm : sms_) {
    if (!sm) {
      into.sm_active_each.push_back(0);
      into.sm_inst_each.push_back(0);
      into.sm_blocks_each.push_back(0);
      continue;
    }
    FORETRACE_ASSERT(stopped || sm->idle(), "a launch ends when nothing is under way");
    sm->finish(now);
    stats::add(into, sm->counters);
  }
}

}  // namespace foretrace::gpu
