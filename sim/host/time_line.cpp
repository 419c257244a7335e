#include "sim/host/time_line.h"

#include <algorithm>
#include <limits>

#include "model/units/error.h"

namespace foretrace::host {

namespace {

/// The last work of each stream of the device.
template <class Streams>
std::vector<WorkId> last_of_device(const Streams& streams, unsigned device) {
  std::vector<WorkId> last;
  for (const auto& [number, state] : streams) {
    if (state.device == device && state.last != kNoWork) last.push_back(state.last);
  }
  return last;
}

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The end of a stream's last work, if a thread knows by now that it is over: an event behind it is over at once.
double known_end(const Schedule& schedule, const HostSpec& spec, WorkId last, double now) {
  if (last == kNoWork || !schedule[last].settled) return kNever;
  const double end = schedule[last].end;
  return end + spec.link.notice <= now ? end : kNever;
}
}  // namespace

TimeLine::TimeLine(HostSpec spec) : spec_(std::move(spec)), schedule_(spec_) { streams_[0]; }

void TimeLine::add_stream(std::uint64_t stream, bool non_blocking, unsigned device, std::uint64_t legacy) {
  streams_[legacy].device = device;
  streams_[legacy].legacy = legacy;
  StreamState& state = streams_[stream];
  state.non_blocking = non_blocking;
  state.device = device;
  state.legacy = legacy;
}

/// A thread that is new begins at what the last one has come to: somebody has started it.
TimeLine::Thread& TimeLine::thread(unsigned number) {
  while (threads_.size() <= number) {
    Thread fresh;
    if (!calls_.empty()) fresh.now = calls_.back().end;
    threads_.push_back(fresh);
  }
  return threads_[number];
}

double TimeLine::now(unsigned number) const { return number < threads_.size() ? threads_[number].now : 0; }

void TimeLine::own_work(unsigned number, double ns) {
  Thread& t = thread(number);
  t.now += ns;
  t.own += ns;
}

double TimeLine::spend(unsigned number, const char* name, double ns) {
  Thread& t = thread(number);
  calls_.push_back({number, name, t.now, t.now + ns, kNoWork, kNoWork, t.own});
  t.own = 0;
  t.now += ns;
  return t.now;
}

void TimeLine::wait_until_end(unsigned number, WorkId work) {
  Thread& t = thread(number);
  const double notice = schedule_.settle_end(work).end + spec_.link.notice;
  if (notice <= t.now) return;
  calls_.back().waited = work;
  calls_.back().end = t.now = notice;
}

std::vector<WorkId> TimeLine::after_of(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  FORETRACE_ASSERT(found != streams_.end(), "work is given to a stream that is known");
  StreamState& state = found->second;
  std::vector<WorkId> after = std::move(state.waits);
  state.waits.clear();
  if (state.last != kNoWork) after.push_back(state.last);
  if (stream == state.legacy) {
    for (const auto& [number, other] : streams_) {
      const bool waits = number != stream && other.legacy == stream && !other.non_blocking;
      if (waits && other.last != kNoWork) after.push_back(other.last);
    }
  } else if (!state.non_blocking && streams_[state.legacy].last != kNoWork) {
    after.push_back(streams_[state.legacy].last);
  }
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  return after;
}

WorkId TimeLine::give(const Place& place, Work work, bool after_stream) {
  if (after_stream) work.after = after_of(place.stream);
  work.stream = place.stream;
  work.device = streams_[place.stream].device;
  work.thread = place.thread;
  work.priority = place.priority;
  if (work.launch != Work::kNoLaunch) {
    if (launches_.size() <= work.launch) launches_.resize(work.launch + 1, kNoWork);
    launches_[work.launch] = schedule_.size();
  }
  const WorkId id = schedule_.add(std::move(work));
  if (after_stream) streams_[place.stream].last = id;
  return id;
}

void TimeLine::wait_for_queue(const Place& place) {
  const auto room = static_cast<std::size_t>(spec_.link.queue);
  std::deque<WorkId>& launches = streams_[place.stream].launches;
  if (room == 0 || launches.size() < room) return;
  Thread& t = thread(place.thread);
  const WorkId first = launches.front();
  launches.pop_front();
  const double begun = schedule_.settle_begin(first).begin;
  if (begun <= t.now) return;
  calls_.push_back({place.thread, "queue", t.now, begun, kNoWork, first, t.own});
  t.own = 0;
  t.now = begun;
}

WorkId TimeLine::kernel(const Place& place, const KernelWork& kernel) {
  wait_for_queue(place);
  Work work;
  work.kind = WorkKind::kernel;
  work.arrival = spend(place.thread, "launch", spec_.call.launch) + spec_.link.arrival;
  work.ns = kernel.ns;
  work.share = kernel.share;
  work.launch = kernel.launch;
  work.dependent = kernel.dependent;
  const WorkId id = give(place, std::move(work));
  streams_[place.stream].launches.push_back(id);
  return calls_.back().work = id;
}

/// What a copy is to the GPU, its arrival apart.
Work TimeLine::work_of(const CopyWork& copy) const {
  Work work;
  work.bytes = copy.bytes;
  const auto bytes = static_cast<double>(copy.bytes);
  const auto moved = [&](double rate) { return rate > 0 ? bytes / rate : 0; };
  if (copy.way == CopyWay::on_device) {
    work.kind = WorkKind::device_copy;
    work.ns = spec_.copy.device.at(bytes);
  } else if (copy.way == CopyWay::to_host) {
    work.kind = WorkKind::copy_out;
    work.ns = spec_.copy.out_latency + moved(spec_.copy.out_rate);
  } else if (bytes <= (copy.pageable ? spec_.copy.pageable_inline : spec_.copy.pinned_inline)) {
    work.kind = WorkKind::inline_copy;
    work.ns = copy.pageable ? spec_.copy.inline_pageable.at(bytes) : spec_.copy.inline_latency;
  } else {
    work.kind = WorkKind::copy_in;
    work.ns = spec_.copy.in_latency + moved(spec_.copy.in_rate);
  }
  return work;
}

/// The thread waits for the stream and copies itself; a small copy to the device is handed over instead.
WorkId TimeLine::pageable(const Place& place, const CopyWork& copy) {
  const auto bytes = static_cast<double>(copy.bytes);
  const bool in = copy.way == CopyWay::to_device;
  const double ns = (in ? spec_.copy.pageable_in : spec_.copy.pageable_out).at(bytes);
  if (in && bytes <= spec_.copy.pageable_inline) {
    Work work = work_of(copy);
    work.arrival = spend(place.thread, "copy", ns) + spec_.link.arrival;
    return calls_.back().work = give(place, std::move(work));
  }
  spend(place.thread, "copy", 0);
  Work work;
  work.kind = WorkKind::host_copy;
  work.bytes = copy.bytes;
  work.ns = ns;
  work.arrival = thread(place.thread).now;
  const WorkId id = give(place, std::move(work));
  calls_.back().work = id;
  Thread& t = thread(place.thread);
  calls_.back().waited = id;
  calls_.back().end = t.now = schedule_.settle_end(id).end;
  return id;
}

WorkId TimeLine::copy(const Place& place, const CopyWork& copy) {
  if (copy.pageable && copy.way != CopyWay::on_device) return pageable(place, copy);
  const double call = copy.way == CopyWay::to_device ? spec_.call.copy_in
                      : copy.way == CopyWay::to_host ? spec_.call.copy_out
                                                     : spec_.call.copy_device;
  Work work = work_of(copy);
  work.arrival = spend(place.thread, "copy", call) + spec_.link.arrival;
  return calls_.back().work = give(place, std::move(work));
}

void TimeLine::finish_copy(unsigned number, WorkId copy) {
  FORETRACE_ASSERT(!calls_.empty(), "a copy is waited for in its call");
  const WorkKind kind = schedule_[copy].kind;
  if (kind == WorkKind::host_copy) return;  // its call ended with it
  if (kind != WorkKind::inline_copy) return wait_until_end(number, copy);
  Thread& t = thread(number);  // the thread looks on while a few bytes go: nobody has to tell it
  const double end = schedule_.settle_end(copy).end;
  if (end <= t.now) return;
  calls_.back().waited = copy;
  calls_.back().end = t.now = end;
}

WorkId TimeLine::fill(const Place& place, std::uint64_t bytes) {
  Work work;
  work.kind = WorkKind::fill;
  work.bytes = bytes;
  work.ns = spec_.fill.at(static_cast<double>(bytes));
  work.arrival =
      spend(place.thread, "fill",
            static_cast<double>(bytes) <= spec_.call.fill_inline ? spec_.call.fill : spec_.call.fill_kernel) +
      spec_.link.arrival;
  return calls_.back().work = give(place, std::move(work));
}

WorkId TimeLine::function(const Place& place) {
  Work work;
  work.arrival = spend(place.thread, "host function", 0) + spec_.link.arrival;
  return calls_.back().work = give(place, std::move(work));
}

WorkId TimeLine::record(const Place& place, bool timed) {
  Work work;
  work.kind = WorkKind::event;
  work.ns = timed ? spec_.gap.record : 0;
  work.arrival = spend(place.thread, "event record", timed ? spec_.call.record : spec_.call.record_untimed) +
                 spec_.link.arrival;
  if (!timed)
    work.arrival = std::min(work.arrival,
                            known_end(schedule_, spec_, streams_.at(place.stream).last, now(place.thread)));
  return calls_.back().work = give(place, std::move(work));
}

void TimeLine::wait(const Place& place, WorkId event) {
  spend(place.thread, "event wait", spec_.call.wait);
  calls_.back().work = event;
  streams_[place.stream].waits.push_back(event);
}

void TimeLine::synchronize_stream(const Place& place) {
  spend(place.thread, "stream synchronize", spec_.call.synchronize);
  const std::vector<WorkId> waits = streams_[place.stream].waits;
  for (const WorkId id : waits) wait_until_end(place.thread, id);
  for (const auto& [number, state] : streams_) {
    const bool held_up = place.stream == state.legacy && !state.non_blocking;
    if ((number == place.stream || held_up) && state.last != kNoWork)
      wait_until_end(place.thread, state.last);
  }
}

void TimeLine::synchronize_event(unsigned number, WorkId event) {
  spend(number, "event synchronize", spec_.call.synchronize);
  wait_until_end(number, event);
}

void TimeLine::synchronize(unsigned number, unsigned device) {
  spend(number, "device synchronize", spec_.call.synchronize);
  for (const WorkId last : last_of_device(streams_, device)) wait_until_end(number, last);
}

void TimeLine::allocate(unsigned number, std::uint64_t bytes) {
  spend(number, "malloc", spec_.call.malloc.at(static_cast<double>(bytes)));
}
void TimeLine::allocate_in_stream(unsigned number) { spend(number, "malloc async", spec_.call.malloc_async); }
/// Waits for all work of the device, as cudaFree does.
void TimeLine::release(unsigned number, std::uint64_t bytes, unsigned device) {
  spend(number, "free", spec_.call.free.at(static_cast<double>(bytes)));
  for (const WorkId last : last_of_device(streams_, device)) wait_until_end(number, last);
}

void TimeLine::graph_begin(const Place& place, std::size_t nodes, std::size_t paths) {
  wait_for_queue(place);
  ++graphs_;
  const double beside = paths > 1 ? static_cast<double>(paths - 1) * spec_.call.graph_path : 0;
  const double call = spec_.call.graph + static_cast<double>(nodes) * spec_.call.graph_node;
  const double begin = thread(place.thread).now;
  spend(place.thread, "graph launch", call + beside);
  // The paths are handed over one after another.
  graph_ = {place, begin + call + spec_.link.arrival, 0, kNoWork};
  Work root;
  root.arrival = graph_.arrival;
  root.ns = spec_.gap.graph_begin;
  root.graph = graphs_;
  graph_.root = calls_.back().work = give(place, std::move(root));
  streams_[place.stream].launches.push_back(graph_.root);
}

WorkId TimeLine::give_node(const std::vector<WorkId>& after, bool first_of_path, Work work) {
  work.arrival = graph_.arrival + graph_.path * spec_.call.graph_path;
  if (first_of_path) graph_.path += 1;
  work.graph = graphs_;
  work.after = after.empty() ? std::vector<WorkId>{graph_.root} : after;
  return give(graph_.place, std::move(work), false);
}

WorkId TimeLine::graph_kernel(const std::vector<WorkId>& after, bool first_of_path,
                              const KernelWork& kernel) {
  Work work;
  work.kind = WorkKind::kernel;
  work.ns = kernel.ns;
  work.share = kernel.share;
  work.launch = kernel.launch;
  return give_node(after, first_of_path, std::move(work));
}
WorkId TimeLine::graph_copy(const std::vector<WorkId>& after, bool first_of_path, const CopyWork& copy) {
  return give_node(after, first_of_path, work_of(copy));
}
WorkId TimeLine::graph_fill(const std::vector<WorkId>& after, bool first_of_path, std::uint64_t bytes) {
  Work work;
  work.kind = WorkKind::fill;
  work.bytes = bytes;
  work.ns = spec_.fill.at(static_cast<double>(bytes));
  return give_node(after, first_of_path, std::move(work));
}
WorkId TimeLine::graph_marker(const std::vector<WorkId>& after, bool first_of_path) {
  return give_node(after, first_of_path, Work{});
}

void TimeLine::graph_end(const std::vector<WorkId>& last) {
  Work join;
  join.arrival = graph_.arrival;
  std::vector<WorkId> after = last.empty() ? std::vector<WorkId>{graph_.root} : last;
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  join.after = std::move(after);
  join.graph = graphs_;
  streams_[graph_.place.stream].last = give(graph_.place, std::move(join), false);
}

WorkId TimeLine::work_of_launch(std::uint64_t launch) const {
  return launch < launches_.size() ? launches_[launch] : kNoWork;
}

double TimeLine::end() const {
  double last = 0;
  for (WorkId id = 0; id < schedule_.size(); ++id) last = std::max(last, schedule_[id].end);
  for (const HostCall& call : calls_) last = std::max(last, call.end);
  return last;
}

}  // namespace foretrace::host
