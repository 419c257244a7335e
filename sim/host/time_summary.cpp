#include "sim/host/time_summary.h"

#include <algorithm>
#include <map>
#include <vector>

namespace foretrace::host {

namespace {

bool copies(const Work& work) {
  return work.kind == WorkKind::copy_in || work.kind == WorkKind::copy_out ||
         work.kind == WorkKind::peer_copy || work.kind == WorkKind::host_copy ||
         work.kind == WorkKind::inline_copy;
}

/// The calls of each thread by their ends, to tell what a thread did before a time.
class Threads {
 public:
  explicit Threads(const TimeLine& line) : line_(line) {
    const std::vector<HostCall>& calls = line.calls();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (by_thread_.size() <= calls[i].thread) by_thread_.resize(calls[i].thread + 1);
      by_thread_[calls[i].thread].push_back(i);
    }
  }
  /// How much of [from, to] the thread worked itself, between calls.
  double own(unsigned thread, double from, double to) const {
    double sum = 0;
    if (thread >= by_thread_.size()) return 0;
    for (std::size_t at = last_before(thread, to); at-- > 0;) {
      const HostCall& call = line_.calls()[by_thread_[thread][at]];
      if (call.end <= from) break;
      sum += std::max(0.0, std::min(to, call.begin) - std::max(from, call.begin - call.own));
    }
    return sum;
  }
  /// The last call that ended by then and had waited for work; null: none.
  const HostCall* last_wait(unsigned thread, double by) const {
    if (thread >= by_thread_.size()) return nullptr;
    for (std::size_t at = last_before(thread, by); at-- > 0;) {
      const HostCall& call = line_.calls()[by_thread_[thread][at]];
      if (call.waited != kNoWork && call.end <= by) return &call;
    }
    return nullptr;
  }

 private:
  /// Calls of the thread that begin before `time`.
  std::size_t last_before(unsigned thread, double time) const {
    const std::vector<std::size_t>& mine = by_thread_[thread];
    return static_cast<std::size_t>(
        std::partition_point(mine.begin(), mine.end(),
                             [&](std::size_t i) { return line_.calls()[i].begin < time; }) -
        mine.begin());
  }
  const TimeLine& line_;
  std::vector<std::vector<std::size_t>> by_thread_;
};

std::vector<WorkId> by_begin(const Schedule& schedule) {
  std::vector<WorkId> order(schedule.size());
  for (WorkId id = 0; id < order.size(); ++id) order[id] = id;
  std::stable_sort(order.begin(), order.end(),
                   [&](WorkId a, WorkId b) { return schedule[a].begin < schedule[b].begin; });
  return order;
}

/// Length of the union of the chosen works' times.
template <class Choose>
double covered(const Schedule& schedule, const std::vector<WorkId>& order, Choose choose) {
  double sum = 0, end = 0;
  for (const WorkId id : order) {
    const Work& work = schedule[id];
    if (!choose(work)) continue;
    sum += std::max(0.0, work.end - std::max(end, work.begin));
    end = std::max(end, work.end);
  }
  return sum;
}

/// The time in which the chip runs nothing, given to its causes.
void attribute_idle(const TimeLine& line, const std::vector<WorkId>& order, const Threads& threads,
                    TimeSummary& sum) {
  const Schedule& schedule = line.schedule();
  double busy = 0;  // the chip, or a copy, until then
  for (const WorkId id : order) {
    const Work& work = schedule[id];
    if (work.kind == WorkKind::marker || work.kind == WorkKind::event) continue;
    if (work.begin > busy) {
      const double idle = work.begin - busy;
      if (work.bound == Bound::arrival) {
        const double own = threads.own(work.thread, busy, work.begin - line.spec().link.arrival);
        sum.own += own;
        sum.calls += idle - own;
      } else {
        sum.gaps += idle;
      }
    }
    busy = std::max(busy, work.end);
  }
  sum.kernels = covered(schedule, order, [](const Work& work) { return on_chip(work.kind); });
  const double all =
      covered(schedule, order, [](const Work& work) { return on_chip(work.kind) || copies(work); });
  sum.copies = all - sum.kernels;
  sum.calls += std::max(0.0, sum.ns - sum.kernels - sum.copies - sum.calls - sum.own - sum.gaps);
}

/// Adds a piece of the critical path that ends where the next begins.
void walk_back(const TimeLine& line, const Threads& threads, WorkId id, TimeSummary& sum) {
  const Schedule& schedule = line.schedule();
  double until = schedule[id].end;
  for (std::size_t steps = 0; id != kNoWork && steps < 4 * schedule.size() + 4; ++steps) {
    const Work& work = schedule[id];
    const double begin = std::min(until, work.begin);
    const double ran = until - begin;
    if (on_chip(work.kind)) {
      sum.critical.kernels += ran;
    } else if (copies(work)) {
      sum.critical.copies += ran;
    } else {
      sum.critical.gaps += ran;
    }
    until = begin;
    if (work.cause != kNoWork) {
      const double end = std::min(until, schedule[work.cause].end);
      sum.critical.gaps += until - end;
      until = end;
      id = work.cause;
      continue;
    }
    // From the call that asked for it back to the last one that waited for the GPU.
    const double asked = work.arrival - (work.kind == WorkKind::host_copy ? 0 : line.spec().link.arrival);
    const HostCall* wait = threads.last_wait(work.thread, asked);
    const double from = wait == nullptr ? 0 : std::min(until, schedule[wait->waited].end);
    const double own = threads.own(work.thread, from, asked);
    sum.critical.own += own;
    sum.critical.calls += until - from - own;
    until = from;
    id = wait == nullptr ? kNoWork : wait->waited;
  }
}

}  // namespace

TimeSummary summarize(const TimeLine& line) {
  TimeSummary sum;
  const Schedule& schedule = line.schedule();
  const std::vector<WorkId> order = by_begin(schedule);
  const Threads threads(line);
  sum.ns = end_of(line);
  attribute_idle(line, order, threads, sum);
  double added = 0, in = 0, out = 0;
  std::map<unsigned, double> sent;  // to peers, by device
  WorkId last = kNoWork;
  for (const WorkId id : order) {
    const Work& work = schedule[id];
    if (on_chip(work.kind) || copies(work)) added += work.end - work.begin;
    if (copies(work)) sum.copy_busy += work.end - work.begin;
    if (work.kind == WorkKind::copy_in) in += work.end - work.begin;
    if (work.kind == WorkKind::copy_out) out += work.end - work.begin;
    if (work.kind == WorkKind::peer_copy) sent[work.sender] += work.end - work.begin;
    if (last == kNoWork || work.end > schedule[last].end) last = id;
  }
  const double covered_all = sum.kernels + sum.copies;
  sum.overlap_won = added - covered_all;
  double busiest = std::max({sum.kernels, in, out});
  for (const auto& [device, ns] : sent) busiest = std::max(busiest, ns);
  sum.overlap_lost = std::max(0.0, covered_all - busiest);
  if (last != kNoWork) {
    walk_back(line, threads, last, sum);
    sum.critical.calls += sum.ns - schedule[last].end;
  }
  return sum;
}

PeerSum sum_peer_copies(const Schedule& schedule) {
  PeerSum sum;
  for (WorkId id = 0; id < schedule.size(); ++id) {
    const Work& work = schedule[id];
    if (work.kind != WorkKind::peer_copy) continue;
    ++sum.copies;
    sum.bytes += work.bytes;
    sum.ns += work.end - work.begin;
  }
  return sum;
}

BesideSum sum_beside(const Schedule& schedule) {
  BesideSum sum;
  double slowed = 0;
  for (WorkId id = 0; id < schedule.size(); ++id) {
    const Work& work = schedule[id];
    if (work.beside == Beside::shares) ++sum.by_shares;
    if (work.beside != Beside::simulated && work.beside != Beside::rates) continue;
    ++(work.beside == Beside::simulated ? sum.simulated : sum.by_rates);
    slowed += work.slowed();
    sum.slowed_most = std::max(sum.slowed_most, work.slowed());
  }
  sum.groups = schedule.groups().size();
  if (slowed > 0) sum.slowed_mean = slowed / static_cast<double>(sum.simulated + sum.by_rates);
  return sum;
}

}  // namespace foretrace::host
