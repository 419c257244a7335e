#include "sim/host/time_line.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::host {

namespace {

/// The end of a stream's last work, if a thread knows by now that it is over: an event behind it is over at once.
double known_end(const Schedule& schedule, const HostSpec& spec, WorkId last, double now) {
  if (last == kNoWork || !schedule[last].settled) return kNever;
  const double end = schedule[last].end;
  return end + spec.link.notice <= now ? end : kNever;
}
}  // namespace

Work work_of(const HostSpec& spec, const CopyWork& copy) {
  Work work;
  work.bytes = copy.bytes;
  const auto bytes = static_cast<double>(copy.bytes);
  const auto moved = [&](double rate) { return rate > 0 ? bytes / rate : 0; };
  if (copy.way == CopyWay::on_device) {
    work.kind = WorkKind::device_copy;
    work.ns = spec.copy.device.at(bytes);
  } else if (copy.way == CopyWay::to_peer) {
    work.kind = WorkKind::peer_copy;
    work.ns = copy.link_ns;
    work.sender = copy.sender;
    work.receiver = copy.receiver;
  } else if (copy.way == CopyWay::to_host) {
    work.kind = WorkKind::copy_out;
    work.ns = spec.copy.out_latency + moved(spec.copy.out_rate);
  } else if (bytes <= (copy.pageable ? spec.copy.pageable_inline : spec.copy.pinned_inline)) {
    work.kind = WorkKind::inline_copy;
    work.ns = copy.pageable ? spec.copy.inline_pageable.at(bytes) : spec.copy.inline_latency;
  } else {
    work.kind = WorkKind::copy_in;
    work.ns = spec.copy.in_latency + moved(spec.copy.in_rate);
  }
  return work;
}

Work work_of_fill(const HostSpec& spec, std::uint64_t bytes) {
  Work work;
  work.kind = WorkKind::fill;
  work.bytes = bytes;
  work.ns = spec.fill.at(static_cast<double>(bytes));
  return work;
}

TimeLine::TimeLine(HostSpec spec, Sharing* sharing)
    : spec_(std::move(spec)), schedule_(spec_, sharing), threads_(spec_, schedule_) {}

WorkId TimeLine::give(const Place& place, Work work, bool after_stream) {
  if (after_stream) {
    const std::vector<WorkId> before = streams_.before_next(place.stream);
    work.after.insert(work.after.end(), before.begin(), before.end());
  }
  work.stream = place.stream;
  work.device = streams_.device(place.stream);
  work.thread = place.thread;
  work.priority = place.priority;
  if (work.launch != Work::kNoLaunch) {
    if (launches_.size() <= work.launch) launches_.resize(work.launch + 1, kNoWork);
    launches_[work.launch] = schedule_.size();
  }
  const WorkId id = schedule_.add(std::move(work));
  if (after_stream) streams_.set_last(place.stream, id);
  return id;
}

void TimeLine::wait_for_queue(const Place& place) {
  const WorkId first = streams_.take_queued(place.stream, static_cast<std::size_t>(spec_.link.queue));
  if (first != kNoWork) threads_.wait_for_begin(place.thread, "queue", first);
}

WorkId TimeLine::kernel(const Place& place, const KernelWork& kernel) {
  wait_for_queue(place);
  Work work;
  work.kind = WorkKind::kernel;
  work.arrival = threads_.spend(place.thread, "launch", spec_.call.launch) + spec_.link.arrival;
  work.ns = kernel.ns;
  work.share = kernel.share;
  work.launch = kernel.launch;
  work.dependent = kernel.dependent;
  work.dependence = kernel.dependence;
  const WorkId id = give(place, std::move(work));
  streams_.launched(place.stream, id);
  return threads_.asked_for(id);
}

/// The thread waits for the stream and copies itself; a small copy to the device is handed over instead.
WorkId TimeLine::pageable(const Place& place, const CopyWork& copy) {
  const auto bytes = static_cast<double>(copy.bytes);
  const bool in = copy.way == CopyWay::to_device;
  const double ns = (in ? spec_.copy.pageable_in : spec_.copy.pageable_out).at(bytes);
  if (in && bytes <= spec_.copy.pageable_inline) {
    Work work = work_of(spec_, copy);
    work.arrival = threads_.spend(place.thread, "copy", ns) + spec_.link.arrival;
    return threads_.asked_for(give(place, std::move(work)));
  }
  threads_.spend(place.thread, "copy", 0);
  Work work;
  work.kind = WorkKind::host_copy;
  work.bytes = copy.bytes;
  work.ns = ns;
  work.arrival = now(place.thread);
  const WorkId id = threads_.asked_for(give(place, std::move(work)));
  threads_.look_on(place.thread, id);
  return id;
}

WorkId TimeLine::copy(const Place& place, const CopyWork& copy) {
  if (copy.pageable && copy.way != CopyWay::on_device) return pageable(place, copy);
  // A copy to a peer is handed to a copy engine, as one to the host.
  const double call = copy.way == CopyWay::to_device   ? spec_.call.copy_in
                      : copy.way == CopyWay::on_device ? spec_.call.copy_device
                                                       : spec_.call.copy_out;
  Work work = work_of(spec_, copy);
  work.arrival = threads_.spend(place.thread, "copy", call) + spec_.link.arrival;
  if (copy.way != CopyWay::to_peer || !streams_.is_legacy(place.stream))
    return threads_.asked_for(give(place, std::move(work)));
  for (const unsigned device : {copy.sender, copy.receiver}) {
    const std::vector<WorkId> all = streams_.all_of_device(device);
    work.after.insert(work.after.end(), all.begin(), all.end());
  }
  const WorkId id = give(place, std::move(work));
  for (const unsigned device : {copy.sender, copy.receiver}) streams_.set_alone(device, id);
  return threads_.asked_for(id);
}

void TimeLine::finish_copy(unsigned number, WorkId copy) {
  FORETRACE_ASSERT(!calls().empty(), "a copy is waited for in its call");
  const WorkKind kind = schedule_[copy].kind;
  if (kind == WorkKind::host_copy) return;  // its call ended with it
  if (kind == WorkKind::inline_copy) {      // the thread looks on while a few bytes go
    threads_.look_on(number, copy);
  } else {
    threads_.wait_for_end(number, copy);
  }
}

WorkId TimeLine::fill(const Place& place, std::uint64_t bytes) {
  Work work = work_of_fill(spec_, bytes);
  work.arrival =
      threads_.spend(
          place.thread, "fill",
          static_cast<double>(bytes) <= spec_.call.fill_inline ? spec_.call.fill : spec_.call.fill_kernel) +
      spec_.link.arrival;
  return threads_.asked_for(give(place, std::move(work)));
}

WorkId TimeLine::function(const Place& place) {
  Work work;
  work.arrival = threads_.spend(place.thread, "host function", 0) + spec_.link.arrival;
  return threads_.asked_for(give(place, std::move(work)));
}

WorkId TimeLine::record(const Place& place, bool timed) {
  Work work;
  work.kind = WorkKind::event;
  work.ns = timed ? spec_.gap.record : 0;
  work.arrival =
      threads_.spend(place.thread, "event record", timed ? spec_.call.record : spec_.call.record_untimed) +
      spec_.link.arrival;
  if (!timed)
    work.arrival =
        std::min(work.arrival, known_end(schedule_, spec_, streams_.last(place.stream), now(place.thread)));
  return threads_.asked_for(give(place, std::move(work)));
}

void TimeLine::wait(const Place& place, WorkId event) {
  threads_.spend(place.thread, "event wait", spec_.call.wait);
  threads_.asked_for(event);
  streams_.wait(place.stream, event);
}

void TimeLine::synchronize_stream(const Place& place) {
  threads_.spend(place.thread, "stream synchronize", spec_.call.synchronize);
  for (const WorkId id : streams_.all_of(place.stream)) threads_.wait_for_end(place.thread, id);
}

void TimeLine::synchronize_event(unsigned number, WorkId event) {
  threads_.spend(number, "event synchronize", spec_.call.synchronize);
  threads_.wait_for_end(number, event);
}

void TimeLine::synchronize(unsigned number, unsigned device) {
  threads_.spend(number, "device synchronize", spec_.call.synchronize);
  for (const WorkId last : streams_.all_of_device(device)) threads_.wait_for_end(number, last);
}

void TimeLine::allocate(unsigned number, std::uint64_t bytes) {
  threads_.spend(number, "malloc", spec_.call.malloc.at(static_cast<double>(bytes)));
}
void TimeLine::allocate_in_stream(unsigned number) {
  threads_.spend(number, "malloc async", spec_.call.malloc_async);
}
/// Waits for all work of the device, as cudaFree does.
void TimeLine::release(unsigned number, std::uint64_t bytes, unsigned device) {
  threads_.spend(number, "free", spec_.call.free.at(static_cast<double>(bytes)));
  for (const WorkId last : streams_.all_of_device(device)) threads_.wait_for_end(number, last);
}

WorkId TimeLine::work_of_launch(std::uint64_t launch) const {
  return launch < launches_.size() ? launches_[launch] : kNoWork;
}

double end_of(const TimeLine& line) {
  const Schedule& schedule = line.schedule();
  double last = 0;
  for (WorkId id = 0; id < schedule.size(); ++id) last = std::max(last, schedule[id].end);
  for (const HostCall& call : line.calls()) last = std::max(last, call.end);
  return last;
}

}  // namespace foretrace::host
