#include "model/gpu/gpu.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "model/gpu/dispatcher.h"
#include "model/gpu/request_order.h"
#include "model/gpu/team.h"
#include "model/sm/sm.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::gpu {

namespace {

/// The laws that hold in every run, whatever it simulated.
void check_conservation(const stats::LaunchCounters& counters) {
  const auto sum = [](const auto& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  };
  FORETRACE_ASSERT(counters.scheduler_cycles == counters.issue_active + sum(counters.idle_reason),
                   "each scheduler cycle either issues or has one reason why not");
  FORETRACE_ASSERT(counters.warp_cycles == sum(counters.state),
                   "each resident warp is in exactly one state at any cycle");
  FORETRACE_ASSERT(counters.issue_active == counters.inst_executed,
                   "one instruction a scheduler cycle that issues");
}

Snapshot snapshot(Cycle now, std::uint64_t placed, std::uint64_t ended,
                  const std::vector<std::unique_ptr<sm::Sm>>& sms, const memory::MemorySystem& memory,
                  const memory::GpcCaches& code_caches) {
  Snapshot result;
  result.now = now;
  result.placed = placed;
  result.ended = ended;
  result.memory = memory.counters();
  code_caches.count(result.memory);
  for (const auto& sm : sms) {
    if (!sm) continue;
    result.instructions += sm->counters.inst_executed;
    result.shared_contention_ld += sm->counters.shared_contention_ld;
    result.shared_contention_st += sm->counters.shared_contention_st;
  }
  return result;
}

/// Whether the memory system serves a window's requests while SMs simulate the next one. Not where something is looked at between
/// windows: blocks of a cluster, what a load of a waiting loop waits for when it is sent, a simulation that may be stopped. With one
/// thread there is nothing to gain.
bool serves_beside(const sm::StaticProgram& program, const LaunchSetup& setup) {
  return setup.threads > 1 && !setup.watch && !setup.timeline &&
         setup.cluster[0] * setup.cluster[1] * setup.cluster[2] == 1 && program.shapes.loops.empty();
}

}  // namespace

Gpu::Gpu(const spec::GpuSpec& spec) : spec_(spec), memory_(spec_), code_caches_(spec_) {}
Gpu::~Gpu() = default;

Cycle Gpu::lookahead() const {
  return std::max<Cycle>(1, std::min<Cycle>({memory_.lookahead(), code_caches_.lookahead(),
                                             spec_.launch.block_end + spec_.launch.block_start}));
}

stats::LaunchCounters Gpu::run(const sm::StaticProgram& program, const LaunchSetup& setup,
                               work::BlockSource& source) {
  FORETRACE_ASSERT(setup.blocks_per_sm > 0, "a launch fits on an SM");
  const bool clusters = setup.cluster[0] * setup.cluster[1] * setup.cluster[2] > 1;
  Cycle window = setup.window ? std::min(setup.window, lookahead()) : lookahead();
  if (clusters) window = std::min<Cycle>({window, spec_.cluster.hop_latency, spec_.cluster.barrier_latency});
  const bool beside = serves_beside(program, setup);
  if (beside) window = std::min(window, memory_.lookahead() / 2);
  memory_.begin_launch(setup.warm);
  std::vector<memory::ReadJourney> journeys;
  memory_.observe(setup.timeline ? &journeys : nullptr);
  code_caches_.begin_launch(work::kCodeBase, program.code.size() * kInstructionBytes);
  Dispatcher dispatcher(spec_, setup);
  std::vector<std::unique_ptr<sm::Sm>> sms(spec_.sm.count);  // none before the SM's first block
  Team team(std::max(1, setup.threads));

  RequestOrder requests;
  std::vector<memory::Request> no_requests;
  std::vector<std::vector<memory::Request>*> outboxes(sms.size(), &no_requests);
  outboxes.push_back(&code_caches_.outbox);
  std::vector<memory::CodeRequest> code_requests;
  memory::Replies replies;  // those to SMs until they are delivered
  memory::Replies fresh;    // that the memory system has just made known
  replies.of_sm.resize(sms.size());
  fresh.of_sm.resize(sms.size());
  std::vector<memory::Reply> code_replies;
  std::vector<std::pair<std::size_t, std::size_t>> looked_at(
      sms.size());                                    // how many data and acknowledgements for an SM
  std::vector<Cycle> next_of(sms.size(), kNever);     // each SM's next event, replies that wait for it apart
  std::vector<Cycle> replied_of(sms.size(), kNever);  // the earliest of these replies
  std::vector<sm::WarpEnd> ends;
  std::uint64_t done = 0;
  Cycle now = 0, last_reply = 0;
  std::uint64_t windows = 0;
  Cycle watched = 0;
  std::uint64_t skipped = 0;
  bool stopped = false;
  std::map<std::uint64_t, std::shared_ptr<const work::BlockRecord>>
      early;  // of blocks that come before their turn
  const auto record_of = [&](const Dispatcher::Placement& placement) {
    if (!clusters) return source.next();
    for (;;) {
      if (const auto found = early.find(placement.block); found != early.end()) {
        auto record = std::move(found->second);
        early.erase(found);
        return record;
      }
      auto record = source.next();
      FORETRACE_ASSERT(record != nullptr, "the source has a record for every block");
      early.emplace(record->block, std::move(record));
    }
  };
  std::vector<sm::ClusterMessage> messages;
  const auto send = [&](std::vector<sm::ClusterMessage>& list) {
    for (const sm::ClusterMessage& message : list) {
      if (!sms[message.sm]) continue;
      sms[message.sm]->receive(message);
      next_of[message.sm] = std::min(next_of[message.sm], sms[message.sm]->next_event());
    }
    list.clear();
  };
  // An SM is given its replies when it is simulated: all SMs at a time are more than a host's caches hold.
  const auto give = [&](const memory::Reply& reply) {
    replies.of_sm[reply.sm].data.push_back(reply);
    looked_at[reply.sm].first = replies.of_sm[reply.sm].data.size();
    replied_of[reply.sm] = std::min(replied_of[reply.sm], reply.time);
  };
  const auto deliver = [&](std::size_t i) {
    memory::Replies::Sm& own = replies.of_sm[i];
    if (own.data.empty() && own.acknowledgements.empty()) return;
    for (const memory::Reply& reply : own.data) sms[i]->deliver(reply);
    sms[i]->acknowledge(own.acknowledgements);
    own.data.clear();
    own.acknowledgements.clear();
    looked_at[i] = {};
    replied_of[i] = kNever;
    next_of[i] = sms[i]->next_event();
  };
  Cycle served = 0;  // what was sent before it has been submitted
  const auto submit = [&](const memory::Request& request) {
    if (request.waits == 0) return memory_.submit(request);
    memory_.submit(request, sms[request.sm]->awaited(request.waits - 1u));
  };
  // Hands out what memory_.advance() made known.
  const auto take_replies = [&] {
    if (setup.timeline) setup.timeline->answered(std::exchange(journeys, {}));
    for (std::size_t i = 0; i < sms.size(); ++i) {
      const auto append = [](std::vector<memory::Reply>& to, std::vector<memory::Reply>& from) {
        if (to.empty()) return to.swap(from);
        to.insert(to.end(), from.begin(), from.end());
        from.clear();
      };
      append(replies.of_sm[i].data, fresh.of_sm[i].data);
      append(replies.of_sm[i].acknowledgements, fresh.of_sm[i].acknowledgements);
    }
    if (clusters) {  // what a multicast brings goes to the other blocks as well
      for (std::size_t i = 0; i < sms.size(); ++i) {
        const auto& data = replies.of_sm[i].data;
        for (std::size_t k = looked_at[i].first; k < data.size(); ++k) {
          constexpr std::uint32_t kMarks = sm::CopyEngine::kMark | sm::CopyEngine::kToOthers;
          if ((data[k].id & kMarks) == kMarks && (data[k].id >> 29) == 0) sms[i]->spread(data[k], messages);
        }
      }
      send(messages);
    }
    for (std::size_t i = 0; i < sms.size(); ++i) {
      const auto look = [&](const std::vector<memory::Reply>& list, std::size_t& from) {
        if (from == list.size()) return;
        replied_of[i] = std::min(replied_of[i], list[from].time);
        last_reply = std::max(last_reply, list.back().time);
        from = list.size();
      };
      look(replies.of_sm[i].data, looked_at[i].first);
      look(replies.of_sm[i].acknowledgements, looked_at[i].second);
    }
    code_replies.clear();
    for (const memory::Reply& reply : fresh.of_code) code_caches_.fill(reply, code_replies);
    fresh.of_code.clear();
    for (const memory::Reply& reply : code_replies) give(reply);
  };
  const auto serve_memory = [&](Cycle until) {
    requests.submit(submit);
    memory_.advance(until, fresh);
    served = until;
    take_replies();
  };
  for (;;) {
    // Blocks whose dispatch can be decided: every end before `now` is known.
    Dispatcher::Placement placement;
    while (dispatcher.next(now + spec_.launch.block_end, placement)) {
      auto record = record_of(placement);
      FORETRACE_ASSERT(record != nullptr, "the source has a record for every block");
      auto& sm = sms[placement.sm];
      if (!sm) {
        sm = std::make_unique<sm::Sm>(spec_, placement.sm, program, setup.l1_bytes, setup.block_shared);
        outboxes[placement.sm] = &sm->outbox;
        if (setup.timeline) sm->observe(setup.timeline->of_sm(placement.sm));
      }
      sm->place({placement.start, std::move(record), placement.cluster, placement.rank,
                 std::move(placement.places)});
      next_of[placement.sm] = sm->next_event();
    }
    const auto soonest = [](const std::vector<Cycle>& times) {
      return *std::min_element(times.begin(), times.end());
    };
    // While SMs have something to do, the memory system serves the window before beside them: it answers after this one.
    const bool serves = served < now && std::min(soonest(next_of), soonest(replied_of)) < now + window;
    if (served < now && !serves) serve_memory(now);
    if (!serves) {  // The next time at which anything happens; nothing in between needs a window.
      Cycle next = std::min(memory_.next_event(), requests.earliest_left());
      if (soonest(next_of) > now) {
        for (std::size_t i = 0; i < sms.size(); ++i) deliver(i);
      }
      next = std::min(next, soonest(next_of));
      const Cycle dispatch = dispatcher.next_event();
      if (dispatch != kNever)
        next = std::min(next, dispatch > spec_.launch.block_end ? dispatch - spec_.launch.block_end : 0);
      if (next == kNever) {  // all is done, or warps wait for what will never come
        bool some = false;
        for (std::size_t i = 0; i < sms.size(); ++i) {
          if (!sms[i] || !sms[i]->let_go(now)) continue;
          some = true;
          next_of[i] = sms[i]->next_event();
        }
        if (!some) break;
        continue;
      }
      if (next > now) {  // what the memory system does meanwhile may answer within the next window
        now = next;
        serve_memory(now);
      }
    }
    const Cycle until = now + window;

    team.run(sms.size() + 1, [&](std::size_t item) {
      if (item == 0) {
        if (!serves) return;
        requests.submit(submit);
        memory_.advance(now, fresh);
        return;
      }
      const std::size_t i = item - 1;
      if (next_of[i] >= until && replied_of[i] >= until) return;
      deliver(i);
      sms[i]->advance(until);
      next_of[i] = sms[i]->next_event();
    });

    for (const auto& sm : sms) {
      if (!sm) continue;
      code_requests.insert(code_requests.end(), sm->code_outbox.begin(), sm->code_outbox.end());
      sm->code_outbox.clear();
    }
    for (const auto& sm : sms) {
      if (sm) send(sm->cluster_outbox);
    }
    if (!code_requests.empty()) {
      std::stable_sort(code_requests.begin(), code_requests.end(),
                       [](const memory::CodeRequest& a, const memory::CodeRequest& b) {
                         return a.time != b.time ? a.time < b.time : a.sm < b.sm;
                       });
      code_replies.clear();
      for (const memory::CodeRequest& request : code_requests) code_caches_.request(request, code_replies);
      code_requests.clear();
      for (const memory::Reply& reply : code_replies) give(reply);
    }

    if (serves) {
      served = now;
      take_replies();
    }
    requests.take(now, until, outboxes);
    for (const auto& sm : sms) {
      if (!sm) continue;
      ends.insert(ends.end(), sm->ended.begin(), sm->ended.end());
      sm->ended.clear();
    }
    if (!beside) serve_memory(until);
    std::stable_sort(ends.begin(), ends.end(), [](const sm::WarpEnd& a, const sm::WarpEnd& b) {
      return a.time != b.time ? a.time < b.time : a.sm < b.sm;
    });
    for (const sm::WarpEnd& end : ends) {
      dispatcher.ended(end.sm, end.time, end.block);
      done += end.block;
    }
    ends.clear();
    now = until;
    if (setup.progress && ++windows % 64 == 0) setup.progress(done, now);
    if (setup.watch && now - watched >= setup.watch_interval) {
      watched = now;
      const Verdict verdict = setup.watch(
          snapshot(now, setup.blocks - skipped - dispatcher.left(), done, sms, memory_, code_caches_));
      dispatcher.skip(verdict.skip);
      skipped += verdict.skip;
      stopped = verdict.stop;
      if (stopped) break;
    }
  }

  stats::LaunchCounters counters;
  counters.sms = spec_.sm.count;
  counters.instructions.resize(program.code.size());
  for (const auto& sm : sms) {
    if (!sm) {
      counters.sm_active_each.push_back(0);
      continue;
    }
    FORETRACE_ASSERT(stopped || sm->idle(), "a launch ends when nothing is under way");
    sm->finish(now);
    stats::add(counters, sm->counters);
  }
  if (setup.timeline) setup.timeline->finish();
  memory_.observe(nullptr);
  counters.memory = memory_.counters();
  code_caches_.count(counters.memory);
  counters.memory.lts_sectors += spec_.l2.launch_sectors;
  counters.memory.lts_sectors_hit += spec_.l2.launch_hits;
  // Stores are acknowledged while the launch drains: they make it longer only where they take longer than that (measured: an empty
  // kernel and one that stores differ by their SMs' active cycles alone).
  counters.elapsed = stopped ? now : std::max(dispatcher.settled() + spec_.launch.drain, last_reply);
  check_conservation(counters);
  FORETRACE_ASSERT(stopped || counters.blocks + skipped == setup.blocks, "every block of the grid ran once");
  return counters;
}

}  // namespace foretrace::gpu
