#include "model/memory/memory_system.h"

#include <algorithm>

#include "model/memory/implementation.h"
#include "model/units/error.h"

namespace foretrace::memory {

MemorySystem::Implementation::Implementation(const spec::GpuSpec& chip)
    : shared_(chip), sm_link_(shared_), ways_(shared_), merging_(shared_), ports_(shared_), link_(shared_),
      dram_(shared_), lines_(shared_, ports_, dram_), fills_(shared_, lines_.tags(), dram_, link_),
      answers_(shared_, merging_), peer_link_(shared_, answers_),
      slices_(shared_, {lines_, fills_, link_, answers_}) {}

Cycle MemorySystem::Implementation::lookahead() const {
  return shared_.l2_to_sm.down(std::uint64_t{shared_.shortest.request} + shared_.shortest.reply);
}

void MemorySystem::Implementation::submit(const Request& request, std::span<const work::Awaited> awaited) {
  FORETRACE_ASSERT(request.time >= until_, "a memory request came after its window had been served");
  sm_link_.submit(request, awaited);
}

void MemorySystem::Implementation::advance(Cycle until, Replies& replies) {
  FORETRACE_ASSERT(until >= until_, "the memory system was asked to go back in time");
  until_ = until;
  // What is submitted from now on reaches a slice in this cycle or later.
  run_before(shared_.sm_to_l2.up(until) + shared_.shortest.request);
  answers_.hand_out(until + lookahead(), replies);
}

/// Nearly every step of a request touches memory that no cache of the host holds any more. What the next cycles will touch is asked
/// for ahead, first the transactions, then what they name, so that the host waits for all of it together.
[[gnu::always_inline]] inline void MemorySystem::Implementation::bring(
    const support::Calendar<Event>& calendar) {
  const L2Tags& tags = lines_.tags();
  // Writes are looked up at home, when they have left their GPC.
  const auto written = [](const Event& event) { return event.write() && event.at_home() && event.crossed(); };
  const bool merges = merging_.on();
  const auto joins = [merges](const Event& event) {
    return merges && !event.write() && event.kind() == EventKind::arrive && event.at() == event.near();
  };
  calendar.look_at(
      shared_.now + 2, [&](const Event& event) __attribute__((always_inline)) {
        if (event.write()) return;
        const EventKind kind = event.kind();
        if (kind != EventKind::channel && kind != EventKind::retry && kind != EventKind::way)
          shared_.pool.bring(event.index());
      });
  calendar.look_at(
      shared_.now + 1, [&](const Event& event) __attribute__((always_inline)) {
        if (event.write()) {
          if (!written(event)) return;
          shared_.writes.bring(event.index());
          tags.bring_set(shared_.set_of(event));
          if (shared_.spec.l2.partitions > 1 && event.near_home()) {  // for drop_copy
            tags.bring_tags(shared_.copy_set(event.home() != 0, event.slice_index(), event.set()));
          }
        } else if (event.kind() == EventKind::fill) {
          tags.bring_slot(shared_.pool[event.index()].slot);
        } else if (event.kind() == EventKind::arrive || event.kind() == EventKind::serve) {
          tags.bring_set(shared_.set_of(event));
          if (joins(event)) merging_.bring(shared_.set_of(event), event.tag());
        }
      });
  calendar.look_at(
      shared_.now, [&](const Event& event) __attribute__((always_inline)) {
        if (written(event)) tags.bring_written(shared_.set_of(event), event.tag());
        if (joins(event)) merging_.bring_leader(shared_.set_of(event), event.tag());
      });
}

void MemorySystem::Implementation::run_before(std::uint64_t end) {
  support::Calendar<Event>&events = shared_.events, &arrivals = sm_link_.arrivals();
  end_ = end;
  while (true) {
    const std::uint64_t now = std::min(events.next(), arrivals.next());
    shared_.now = now;
    if (now == kNever || now >= end) return;
    // Within a cycle: what was under way, then what arrives from the SMs, then what the arrivals caused.
    // Neither order depends on when a request was submitted.
    arrivals.move_to(now);
    events.move_to(now);
    bring(events);
    bring(arrivals);
    const auto act = [this](const Event& event) { handle(event); };
    if (events.next() == now) events.take(now, act);
    if (arrivals.next() == now) arrivals.take(now, act);
    if (events.next() == now) events.take(now, act);
  }
}

void MemorySystem::Implementation::handle(Event event) {
  switch (event.kind()) {
    case EventKind::arrive: return arrive(event);
    case EventKind::peer: return event.crossed() ? peer_link_.come_back(event) : arrive(event);
    case EventKind::serve: return slices_.serve(event);
    case EventKind::fill: return slices_.fill(event.index());
    case EventKind::reply: return answers_.answer(event.index());
    case EventKind::retry: return slices_.retry(event.index());
    case EventKind::way: return ways_.open(event.index(), [this](const Event& e) { enter(e); });
    case EventKind::channel: {
      if (!dram_.run(event.index())) return;
      const auto [first, last] = shared_.map.slices_of(event.index());
      for (std::uint32_t slice = first; slice < last; ++slice) slices_.wake(slice);
      return;
    }
  }
}

bool MemorySystem::Implementation::idle() const {
  return shared_.pool.live() == 0 && shared_.writes.live() == 0 && answers_.empty() && dram_.idle();
}

Cycle MemorySystem::Implementation::next_event() const {
  const std::uint64_t inside = std::min(shared_.events.next(), sm_link_.arrivals().next());
  return std::min(inside == kNever ? kNever : shared_.l2_to_sm.down(inside), answers_.next(end_));
}

void MemorySystem::Implementation::begin_launch(bool warm) {
  run_before(kNever);  // what the launch before left in the queues
  shared_.restart(warm);
  sm_link_.restart();
  ways_.restart();
  ports_.restart();
  link_.restart();
  dram_.restart(warm);
  answers_.restart();
  peer_link_.restart();
  if (!warm) lines_.restart_cold();
  end_ = until_ = 0;
}

void MemorySystem::Implementation::set_peer(std::shared_ptr<const PeerMemory> peer) {
  run_before(kNever);
  shared_.peer = std::move(peer);
}

L2Contents MemorySystem::Implementation::l2_contents() {
  run_before(kNever);
  return lines_.contents();
}

void MemorySystem::Implementation::empty_l2() {
  run_before(kNever);
  shared_.counters.dirty_sectors_left = 0;
  lines_.restart_cold();
}

void MemorySystem::Implementation::begin_launch(const L2Contents& contents) {
  begin_launch(true);
  lines_.put(contents);
}

const stats::MemoryCounters& MemorySystem::Implementation::counters() {
  stats::MemoryCounters& counters = shared_.counters;
  counters.waits_let_go = shared_.signals.let_go() ? 1 : 0;
  dram_.count(counters);
  ports_.count(counters);
  answers_.count(counters);
  return counters;
}

MemorySystem::MemorySystem(const spec::GpuSpec& spec)
    : implementation_(std::make_unique<Implementation>(spec)) {}
MemorySystem::~MemorySystem() = default;
Cycle MemorySystem::lookahead() const { return implementation_->lookahead(); }
void MemorySystem::submit(const Request& request, std::span<const work::Awaited> awaited) {
  implementation_->submit(request, awaited);
}
void MemorySystem::advance(Cycle until, Replies& replies) { implementation_->advance(until, replies); }
bool MemorySystem::idle() const { return implementation_->idle(); }
Cycle MemorySystem::next_event() const { return implementation_->next_event(); }
void MemorySystem::set_peer(std::shared_ptr<const PeerMemory> peer) {
  implementation_->set_peer(std::move(peer));
}
void MemorySystem::begin_launch(bool warm) { implementation_->begin_launch(warm); }
std::shared_ptr<const L2Contents> MemorySystem::l2_contents() {
  return std::make_shared<const L2Contents>(implementation_->l2_contents());
}
void MemorySystem::begin_launch(const L2Contents& contents) { implementation_->begin_launch(contents); }
void MemorySystem::empty_l2() { implementation_->empty_l2(); }
void MemorySystem::observe(std::vector<ReadJourney>* journeys) { implementation_->observe(journeys); }
const stats::MemoryCounters& MemorySystem::counters() const { return implementation_->counters(); }

}  // namespace foretrace::memory
