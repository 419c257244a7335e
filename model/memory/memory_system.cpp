#include "model/memory/memory_system.h"

#include <algorithm>
#include <cmath>

#include "model/memory/implementation.h"
#include "model/units/error.h"

namespace foretrace::memory {

std::array<MemorySystem::Implementation::AtomicWork, spec::kAtomicDataKinds>
MemorySystem::Implementation::atomic_work(const spec::L2Spec& l2) {
  const auto work = [&l2](double several, double lone, double again) {
    const auto bytes = [&l2](double cycles) {
      return static_cast<std::uint32_t>(std::lround(cycles * l2.slice_bytes));
    };
    return AtomicWork{bytes(several), bytes(lone), bytes(std::max(lone, again)),
                      bytes(l2.atomic_turn_interval)};
  };
  // In the order of spec::AtomicData.
  const double integer = l2.atomic_interval, single = l2.atomic_float_interval;
  return {work(integer, integer, integer), work(l2.atomic_wide_interval, integer, integer),
          work(l2.atomic_compare_interval, integer, integer), work(single, single, l2.atomic_lone_interval),
          work(l2.atomic_double_interval, single, l2.atomic_lone_interval)};
}

MemorySystem::Implementation::Implementation(const spec::GpuSpec& chip)
    : spec_(chip), map_(chip), sm_to_l2_(chip.clock.sm, chip.clock.l2),
      l2_to_sm_(chip.clock.l2, chip.clock.sm), l2_to_dram_(chip.clock.l2, chip.clock.dram),
      dram_to_l2_(chip.clock.dram, chip.clock.l2),
      dirty_limit_(
          std::max(1u, static_cast<std::uint32_t>(chip.l2.dirty_fraction * map_.sets() * chip.l2.ways))),
      partly_limit_(
          std::max(1u, static_cast<std::uint32_t>(std::lround(chip.l2.partly_fraction * chip.l2.ways)))),
      granule_sectors_(chip.dram.access_bytes / kSectorBytes), atomic_work_(atomic_work(chip.l2)),
      atomic_pass_bytes_(
          static_cast<std::uint32_t>(std::lround(chip.l2.atomic_pass_interval * chip.l2.slice_bytes))),
      read_pass_bytes_(
          static_cast<std::uint32_t>(std::lround(chip.l2.read_pass_interval * chip.l2.slice_bytes))),
      way_(chip.sm.count), sm_out_(chip.sm.count, Port(chip.network.request_bytes)),
      sm_in_(chip.sm.count, Port(chip.network.reply_bytes)),
      gpc_out_(chip.sm.gpcs, Port(chip.network.gpc_request_bytes)),
      gpc_in_(chip.sm.gpcs, Port(chip.network.gpc_reply_bytes)),
      slice_port_(chip.l2.slices, Port(chip.l2.slice_bytes)), last_atomic_(chip.l2.slices),
      partial_writes_(chip.l2.slices),
      link_(chip.l2.partitions > 1 ? 2 : 0, Port(chip.network.partition_bytes)),
      tags_(chip.l2.slices, map_.sets(), chip.l2.ways), misses_(2 * std::size_t{chip.l2.slices}),
      stalled_(2 * std::size_t{chip.l2.slices}), wake_(chip.dram.channels, kNever),
      outgoing_(chip.sm.count, l2_to_sm_, chip.network.reply_latency) {
  FORETRACE_ASSERT(
      chip.dram.access_bytes == 32 || chip.dram.access_bytes == 64 || chip.dram.access_bytes == 128,
      "DRAM accesses are of one, two or four sectors");
  FORETRACE_ASSERT(chip.l2.misses > 0, "a slice without outstanding misses cannot read DRAM");
  FORETRACE_ASSERT(chip.sm.count < 65536 && chip.l2.slices < 65536,
                   "more SMs or slices than 16 bits can number");
  FORETRACE_ASSERT(map_.sets() < 65536, "more sets of a slice than 16 bits can number");
  for (std::uint32_t sm = 0; sm < chip.sm.count; ++sm)
    sm_place_.push_back({gpc_of_sm(chip.sm, sm), partition_of_sm(chip, sm)});
  for (std::uint32_t pieces = 0; pieces < 8; ++pieces) {
    const std::uint32_t bytes = pieces * kSectorBytes, width = chip.l2.slice_bytes;
    const auto work = [width](std::uint32_t taken) { return SliceWork{taken, (taken + width - 1) / width}; };
    write_work_[0][pieces] = work(bytes);
    // A slice that passes a write on to its home takes as long as for a read.
    write_work_[1][pieces] = work(static_cast<std::uint32_t>(bytes * chip.l2.write_cost));
  }
  channel_.reserve(chip.dram.channels);
  for (std::uint32_t i = 0; i < chip.dram.channels;
       ++i) {  // refreshes of the channels are spread over the interval
    channel_.emplace_back(chip.dram,
                          std::uint64_t{chip.dram.refresh_interval} * (i + 1) / chip.dram.channels);
  }
}

Cycle MemorySystem::Implementation::lookahead() const {
  return l2_to_sm_.down(std::uint64_t{spec_.network.request_latency} + spec_.network.reply_latency);
}

void MemorySystem::Implementation::submit(const Request& request, std::span<const work::Awaited> awaited) {
  FORETRACE_ASSERT(request.time >= until_, "a memory request came after its window had been served");
  FORETRACE_ASSERT(request.sm < spec_.sm.count && request.sectors != 0 && request.sectors < 16,
                   "a memory request asks for nothing");
  const Place place = map_.place(request.line);
  Passage passage;
  passage.tag = place.tag;
  passage.sm = static_cast<std::uint16_t>(request.sm);
  passage.index = static_cast<std::uint16_t>(place.index);
  passage.set = static_cast<std::uint16_t>(place.set);
  passage.sectors = request.sectors;
  passage.at = passage.near = sm_place_[request.sm].partition != 0;
  passage.home = place.home != 0;
  const std::uint32_t sectors = sector_count(request.sectors);
  std::uint32_t note = 0;
  if (request.tells == kTries) {
    const work::Signal& s = request.signal;
    const std::uint64_t sent = sm_to_l2_.up(request.time);
    constexpr std::uint32_t kWaits = 1u << 8;  // values of Request::waits
    note = signals_.take(
        {.tells = kTries,
         .signal = {},
         .awaited = {},
         .swap = {.line = request.line,
                  .words = s.block,
                  .changes = s.number * work::Signal::kWarps + s.warp,
                  .asker = request.sm * kWaits + request.waits,
                  .round = request.bytes[0],
                  // What it compares with came the same way back.
                  .read = sent > spec_.network.reply_latency ? sent - spec_.network.reply_latency : 0}});
  } else if (request.tells != 0 || !awaited.empty()) {
    const std::uint64_t word = request.tells > 1 ? request.line * (kLineBytes / 4) + request.tells - 2u : 0;
    note = signals_.take({request.tells, false, request.signal, word, {awaited.begin(), awaited.end()}, {}});
  }
  const auto leave = [&](std::uint32_t index, std::uint32_t bytes, bool write) {
    Port& port = sm_out_[request.sm];
    const std::uint64_t left = port.pass(sm_to_l2_.up(request.time), std::max(bytes, port.width()));
    arrivals_.push(left + spec_.network.request_latency, {index, EventKind::arrive, passage, write});
  };
  if (request.kind == RequestKind::write) {
    const std::uint32_t index = writes_.take();
    Write& kept = writes_[index];
    kept.bytes = request.bytes;
    kept.id = request.id;
    kept.wants_reply = request.wants_reply;
    kept.note = note;
    const std::uint32_t pieces =
        request.flits != 0 ? request.flits : write_pieces(request.sectors, request.bytes);
    FORETRACE_ASSERT(pieces < write_work_[0].size(), "a write is more than its sectors and their mask");
    passage.pieces = static_cast<std::uint8_t>(pieces);
    counters_.tex_sectors_write += sectors;
    ++counters_.tex_requests;
    return leave(index, pieces * kSectorBytes, true);
  }
  const std::uint32_t index = pool_.take();
  Transaction& transaction = pool_[index];
  transaction = {};
  static_cast<Passage&>(transaction) = passage;
  transaction.order = order_++;
  transaction.issued = request.time;
  transaction.id = request.id;
  transaction.wants_reply = request.wants_reply;
  transaction.note = note;
  transaction.visits = static_cast<std::uint8_t>(sectors);
  std::uint32_t bytes = 0;
  switch (request.kind) {
    case RequestKind::read:
      transaction.kind = Transaction::Kind::read;
      counters_.tex_sectors_read += sectors;
      break;
    case RequestKind::instruction: transaction.kind = Transaction::Kind::instruction; break;
    case RequestKind::write: break;
    case RequestKind::atomic:
    case RequestKind::reduction: {
      const bool atomic = request.kind == RequestKind::atomic;
      transaction.kind = atomic ? Transaction::Kind::atomic : Transaction::Kind::reduction;
      if (request.visits != 0) transaction.visits = request.visits;
      transaction.flits = request.flits != 0 ? request.flits : transaction.visits;
      const AtomicWork& work = atomic_work_[static_cast<std::size_t>(request.data)];
      // Several packets of a single word are of one word; whether the slice's last one was as well turns out at home (arrival.cpp).
      const std::uint32_t lone = std::min(request.lone, transaction.visits);
      const std::uint32_t first = lone == 0 ? 0 : 1;
      transaction.home_bytes = static_cast<std::uint16_t>(first * work.lone + (lone - first) * work.again +
                                                          (transaction.visits - lone) * work.several);
      transaction.again_bytes = static_cast<std::uint16_t>(first * (work.again - work.lone));
      transaction.turn_bytes = static_cast<std::uint16_t>(first * work.turn);
      (atomic ? counters_.tex_sectors_atomic : counters_.tex_sectors_reduction) += transaction.visits;
      counters_.tex_requests += request.packets - 1u;
      bytes = transaction.flits * kSectorBytes;
      break;
    }
  }
  if (request.kind != RequestKind::instruction) ++counters_.tex_requests;
  leave(index, bytes, false);
}

void MemorySystem::Implementation::advance(Cycle until, Replies& replies) {
  FORETRACE_ASSERT(until >= until_, "the memory system was asked to go back in time");
  until_ = until;
  // What is submitted from now on reaches a slice in this cycle or later.
  run_before(sm_to_l2_.up(until) + spec_.network.request_latency);
  outgoing_.hand_out(until + lookahead(), replies);
}

/// Nearly every step of a request touches memory that no cache of the host holds any more. What the next cycles will touch is asked
/// for ahead, first the transactions, then what they name, so that the host waits for all of it together.
[[gnu::always_inline]] inline void MemorySystem::Implementation::bring(const Calendar<Event>& calendar) {
  // Writes are looked up at home, when they have left their GPC.
  const auto written = [](const Event& event) { return event.write() && event.at_home() && event.crossed(); };
  calendar.look_at(
      now_ + 2, [&](const Event& event) __attribute__((always_inline)) {
        if (event.write()) return;
        const EventKind kind = event.kind();
        if (kind != EventKind::channel && kind != EventKind::retry && kind != EventKind::way)
          pool_.bring(event.index());
      });
  calendar.look_at(
      now_ + 1, [&](const Event& event) __attribute__((always_inline)) {
        if (event.write()) {
          if (!written(event)) return;
          writes_.bring(event.index());
          tags_.bring_set(set_of(event));
          if (spec_.l2.partitions > 1 && event.near_home()) {
            tags_.bring_tags(copy_set(event.home() != 0, event.slice_index(), event.set()));  // for drop_copy
          }
        } else if (event.kind() == EventKind::fill) {
          tags_.bring_slot(pool_[event.index()].slot);
        } else if (event.kind() == EventKind::arrive || event.kind() == EventKind::serve) {
          tags_.bring_set(set_of(event));
        }
      });
  calendar.look_at(
      now_, [&](const Event& event) __attribute__((always_inline)) {
        if (written(event)) tags_.bring_written(set_of(event), event.tag());
      });
}

void MemorySystem::Implementation::run_before(std::uint64_t end) {
  end_ = end;
  while (true) {
    now_ = std::min(events_.next(), arrivals_.next());
    if (now_ == kNever || now_ >= end) return;
    // Within a cycle: what was under way, then what arrives from the SMs, then what the arrivals caused.
    // Neither order depends on when a request was submitted.
    arrivals_.move_to(now_);
    events_.move_to(now_);
    bring(events_);
    bring(arrivals_);
    const auto act = [this](const Event& event) { handle(event); };
    if (events_.next() == now_) events_.take(now_, act);
    if (arrivals_.next() == now_) arrivals_.take(now_, act);
    if (events_.next() == now_) events_.take(now_, act);
  }
}

void MemorySystem::Implementation::handle(Event event) {
  switch (event.kind()) {
    case EventKind::arrive: return arrive(event);
    case EventKind::serve: return serve(event);
    case EventKind::fill: return fill(event.index());
    case EventKind::reply: return reply(event.index());
    case EventKind::channel: return run_channel(event.index());
    case EventKind::retry: return retry(event.index());
    case EventKind::way: return open_way(event.index());
  }
}

void MemorySystem::Implementation::reply(std::uint32_t index) {
  const Transaction& transaction = pool_[index];
  const std::uint64_t out =
      gpc_in_[sm_place_[transaction.sm].gpc].pass(now_, transaction.visits * kSectorBytes);
  if (transaction.kind == Transaction::Kind::read && merges()) {
    if (transaction.leads) stop_leading(index);
    std::uint32_t follower = transaction.followers;
    while (follower != kNone) {
      const std::uint32_t following = pool_[follower].next;
      follow(pool_[follower], transaction);
      deliver(follower, out);
      follower = following;
    }
  }
  deliver(index, out);
}

/// A read's data are found: whether what it waits for is among them, and what those wait for that it takes along.
void MemorySystem::Implementation::look_for_writes(const Transaction& read) {
  if (read.note != 0) signals_.look(read.note, now_);
  for (std::uint32_t at = read.followers; at != kNone; at = pool_[at].next) {
    if (pool_[at].note != 0) signals_.look(pool_[at].note, now_);
  }
}

/// A reduction is done.
void MemorySystem::Implementation::forget(std::uint32_t index) {
  if (pool_[index].note != 0) signals_.give_back(pool_[index].note);
  pool_.give_back(index);
}

/// A read that was taken along waited for the last of what the first one went through.
void MemorySystem::Implementation::follow(Transaction& follower, const Transaction& first) const {
  std::uint32_t left = static_cast<std::uint32_t>(now_ - follower.reached);
  const auto book = [&left](std::uint32_t length) {
    const std::uint32_t taken = std::min(left, length);
    left -= taken;
    return taken;
  };
  follower.segments.l2 = book(spec_.l2.latency);
  follower.segments.dram = book(first.segments.dram);
  follower.segments.dram_queue = book(first.segments.dram_queue);
  follower.segments.partition = book(first.segments.partition);
  follower.segments.l2 += left;
}

/// The answer has crossed to the GPC at `out`: it passes the SM's own port.
void MemorySystem::Implementation::deliver(std::uint32_t index, std::uint64_t out) {
  const Transaction& transaction = pool_[index];
  out = sm_in_[transaction.sm].pass(out, transaction.visits * kSectorBytes);
  const Cycle time = outgoing_.time_of(out);
  std::uint32_t id = transaction.id;
  if (transaction.note != 0) {
    if (signals_.note(transaction.note).early) id |= kTooEarly;
    signals_.give_back(transaction.note);
  }
  outgoing_.put({time, transaction.sm, id}, transaction.order,
                transaction.kind == Transaction::Kind::instruction);
  if (journeys_ && transaction.kind != Transaction::Kind::instruction) observe_journey(transaction, time);
  if (transaction.kind == Transaction::Kind::read) {
    const Segments& waited = transaction.segments;
    const std::uint64_t part = sm_to_l2_.from();
    const std::uint64_t network =
        (transaction.reached - now_) * part + (time - transaction.issued) * sm_to_l2_.to();
    const std::uint64_t inside =
        std::uint64_t{waited.l2} + waited.partition + waited.dram_queue + waited.dram;
    FORETRACE_ASSERT(network + inside * part == (time - transaction.issued) * sm_to_l2_.to(),
                     "the segments of a read do not sum to its latency");
    ++counters_.read_requests;
    counters_.read_latency += time - transaction.issued;
    totals_.network += network;
    totals_.l2 += static_cast<Wide>(waited.l2) * part;
    totals_.partition += static_cast<Wide>(waited.partition) * part;
    totals_.dram_queue += static_cast<Wide>(waited.dram_queue) * part;
    totals_.dram += static_cast<Wide>(waited.dram) * part;
  }
  pool_.give_back(index);
}

void MemorySystem::Implementation::observe_journey(const Transaction& transaction, Cycle time) {
  const Segments& waited = transaction.segments;
  std::uint64_t at = transaction.reached;
  const auto upto = [&](std::uint32_t length) {
    at += length;
    return std::clamp<Cycle>(at * sm_to_l2_.from() / sm_to_l2_.to(), transaction.issued, time);
  };
  ReadJourney journey{transaction.sm, transaction.id, transaction.issued, upto(0)};
  journey.l2 = upto(waited.l2);
  journey.partition = upto(waited.partition);
  journey.dram_queue = upto(waited.dram_queue);
  journey.dram = upto(waited.dram);
  journey.answered = time;
  if (transaction.kind != Transaction::Kind::read)
    journey.l2 = journey.partition = journey.dram_queue = journey.dram = time;
  journeys_->push_back(journey);
}

bool MemorySystem::Implementation::idle() const {
  return pool_.live() == 0 && writes_.live() == 0 && outgoing_.empty() &&
         std::all_of(channel_.begin(), channel_.end(), [](const auto& c) { return c.idle(); });
}

Cycle MemorySystem::Implementation::next_event() const {
  const std::uint64_t inside = std::min(events_.next(), arrivals_.next());
  return std::min(inside == kNever ? kNever : l2_to_sm_.down(inside), outgoing_.next(end_));
}

void MemorySystem::Implementation::begin_launch(bool warm) {
  run_before(kNever);  // what the launch before left in the queues; replies that nobody took are forgotten
  FORETRACE_ASSERT(pool_.live() == 0 && writes_.live() == 0, "a memory request got lost");
  outgoing_.clear();
  signals_.restart();
  arrivals_.restart();
  events_.restart();
  for (auto* ports : {&sm_out_, &sm_in_, &gpc_out_, &gpc_in_, &slice_port_, &link_}) {
    for (Port& port : *ports) port.reset();
  }
  for (DramChannel& channel : channel_) channel.restart(warm);
  for (Way& way : way_) way.blocked = 0;
  std::fill(last_atomic_.begin(), last_atomic_.end(), LastAtomic{});
  std::fill(partial_writes_.begin(), partial_writes_.end(), PartialWrites{});
  std::fill(wake_.begin(), wake_.end(), kNever);
  now_ = end_ = until_ = order_ = 0;
  const std::uint64_t dirty = counters_.dirty_sectors_left;
  counters_ = {};
  totals_ = {};
  if (warm) {
    counters_.dirty_sectors_left = dirty;
  } else {
    tags_.invalidate_all();
    const double sets = static_cast<double>(spec_.l2.slices) * map_.sets();
    left_behind_ = static_cast<std::uint32_t>(std::lround(65536 * spec_.l2.launch_dirty_lines / sets));
  }
}

const stats::MemoryCounters& MemorySystem::Implementation::counters() const {
  counters_.waits_let_go = signals_.let_go() ? 1 : 0;
  counters_.dram_row_hits = counters_.dram_row_misses = counters_.dram_busy = 0;
  for (const DramChannel& channel : channel_) {
    counters_.dram_row_hits += channel.counters().row_hits;
    counters_.dram_row_misses += channel.counters().row_misses;
    counters_.dram_busy += channel.counters().busy;
  }
  // Rounded down as running sums, so that the segments in SM cycles still add up to the latency.
  Wide sum = 0;
  std::uint64_t before = 0;
  const auto segment = [&](Wide parts) {
    sum += parts;
    const std::uint64_t cycles = static_cast<std::uint64_t>(sum / sm_to_l2_.to());
    const std::uint64_t own = cycles - before;
    before = cycles;
    return own;
  };
  counters_.segment_network = segment(totals_.network);
  counters_.segment_l2 = segment(totals_.l2);
  counters_.segment_partition = segment(totals_.partition);
  counters_.segment_dram_queue = segment(totals_.dram_queue);
  counters_.segment_dram = segment(totals_.dram);
  FORETRACE_ASSERT(before == counters_.read_latency, "the segments of the reads do not sum to their latency");
  return counters_;
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
void MemorySystem::begin_launch(bool warm) { implementation_->begin_launch(warm); }
void MemorySystem::observe(std::vector<ReadJourney>* journeys) { implementation_->observe(journeys); }
const stats::MemoryCounters& MemorySystem::counters() const { return implementation_->counters(); }

}  // namespace foretrace::memory
