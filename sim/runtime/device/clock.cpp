#include "sim/runtime/device/clock.h"

#include <time.h>

#include <atomic>

#include "sim/collective/collective.h"
#include "sim/runtime/device/context.h"
#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

struct HostThread {
  unsigned number;
  host::WorkId copy = host::kNoWork;  // the last one
  double left = -1;                   // CPU time when the last call was over, ns
};

HostThread& this_thread() {
  static std::atomic<unsigned> next{0};
  thread_local HostThread thread{next++};
  return thread;
}

/// Of this thread, ns.
double cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Where a side of a copy lies; null: in memory that the GPU cannot reach by itself.
const MemoryBlock* block_of(State& state, const void* memory, const Array* array) {
  return state.memory.find(
      array == nullptr ? memory : reinterpret_cast<const void*>(array->image.levels.front().address));
}
bool is_host(const MemoryBlock* block) {
  return block == nullptr || block->kind == MemoryKind::host || block->kind == MemoryKind::registered;
}

/// The host of GPUs that are linked: events take longer on them, and to be seen by another, and links sleep, unless they take no time at all (--host none).
host::HostSpec with_link(host::HostSpec host, const std::optional<collective::LinkSpec>& link) {
  if (!link || host.gap.record <= 0) return host;
  host.gap.record += link->event_time;
  host.gap.device = link->event_wait;
  host.gap.sleep_after = link->sleep_after;
  host.gap.sleep_wake = link->sleep_wake;
  return host;
}

}  // namespace

Clock::Clock(host::HostSpec host, double own, host::Sharing* sharing,
             std::optional<collective::LinkSpec> link)
    : line_(with_link(std::move(host), link), sharing), own_(own), link_(std::move(link)) {}

std::uint64_t bytes_of(const FillCall& fill) { return fill.width * fill.element * fill.height * fill.depth; }

cudaError_t waited(cudaError_t result) {
  if (result != cudaSuccess) return result;
  return call([](State& s) {
    if (const Stream* legacy = s.streams.find(cudaStreamLegacy)) s.waiting.finish(*legacy);
    if (const cudaError_t fault = s.faulted(); fault != cudaSuccess) return fault;
    s.clock->finish_copy();
    s.place_launches();
    return cudaSuccess;
  });
}

void Clock::enter() {
  if (own_ == 0) return;
  HostThread& thread = this_thread();
  const double now = cpu_time();
  if (thread.left >= 0) line_.own_work(thread.number, (now - thread.left) * own_);
}
void Clock::leave() {
  if (own_ != 0) this_thread().left = cpu_time();
}

int Clock::push_range(const void* domain, std::string name) {
  return ranges_.push(this_thread().number, domain, std::move(name));
}
int Clock::pop_range(const void* domain) { return ranges_.pop(this_thread().number, domain); }
std::uint64_t Clock::start_range(std::string name) {
  return ranges_.start(this_thread().number, std::move(name));
}
void Clock::end_range(std::uint64_t range) { ranges_.end(range, this_thread().number); }

host::Place Clock::place(const Stream& stream) {
  const auto device = static_cast<unsigned>(stream.device);
  line_.add_stream(stream.id - 1, (stream.flags & cudaStreamNonBlocking) != 0, device,
                   Streams::legacy_id(stream.device) - 1);
  return {this_thread().number, stream.id - 1, stream.priority};
}

host::CopyWork Clock::copy_of(State& state, const CopyCall& copy) const {
  host::CopyWork work;
  work.bytes = std::uint64_t{copy.width} * copy.height * copy.depth;
  const MemoryBlock* const to = block_of(state, copy.to, copy.to_array);
  const MemoryBlock* const from = block_of(state, copy.from, copy.from_array);
  const bool to_host = is_host(to), from_host = is_host(from);
  work.way = to_host     ? host::CopyWay::to_host
             : from_host ? host::CopyWay::to_device
                         : host::CopyWay::on_device;
  work.pageable = to == nullptr || from == nullptr;
  if (link_ && to != nullptr && from != nullptr && is_of_one_device(*to) && is_of_one_device(*from) &&
      to->device != from->device) {
    work.way = host::CopyWay::to_peer;
    work.sender = static_cast<unsigned>(from->device);
    work.receiver = static_cast<unsigned>(to->device);
    work.link_ns = collective::copy_ns(*link_, static_cast<double>(work.bytes));
  }
  return work;
}

void Clock::give(State& state, const Stream& stream, const Operation& operation, const Executed& executed) {
  const host::Place at = place(stream);
  if (const auto* kernel = std::get_if<KernelCall>(&operation)) {
    line_.kernel(at, {executed.launch, executed.seconds * 1e9, executed.share, kernel->dependent,
                      executed.dependence});
  } else if (const auto* copy = std::get_if<CopyCall>(&operation)) {
    const host::CopyWork work = copy_of(state, *copy);
    const host::WorkId id = line_.copy(at, work);
    // Of pageable memory the call has waited as far as it does; within the device, and between devices, no call waits.
    const bool waits =
        !work.pageable && work.way != host::CopyWay::on_device && work.way != host::CopyWay::to_peer;
    this_thread().copy = waits ? id : host::kNoWork;
  } else if (const auto* fill = std::get_if<FillCall>(&operation)) {
    line_.fill(at, bytes_of(*fill));
  } else {
    line_.function(at);
  }
}

host::WorkId Clock::record(const Stream& stream, const Event& event) {
  return line_.record(place(stream), (event.flags & cudaEventDisableTiming) == 0);
}
void Clock::wait(const Stream& stream, const Event& event) { line_.wait(place(stream), event.work); }
void Clock::synchronize(const Stream& stream) { line_.synchronize_stream(place(stream)); }
void Clock::synchronize(const Event& event) { line_.synchronize_event(this_thread().number, event.work); }
void Clock::synchronize() {
  line_.synchronize(this_thread().number, static_cast<unsigned>(current_device()));
}
void Clock::finish_copy() {
  HostThread& thread = this_thread();
  if (thread.copy != host::kNoWork) line_.finish_copy(thread.number, thread.copy);
  thread.copy = host::kNoWork;
}
void Clock::allocate(std::uint64_t bytes) { line_.allocate(this_thread().number, bytes); }
void Clock::allocate_in_stream() { line_.allocate_in_stream(this_thread().number); }
void Clock::release(std::uint64_t bytes) {
  line_.release(this_thread().number, bytes, static_cast<unsigned>(current_device()));
}

}  // namespace foretrace::runtime
