#include "model/memory/slices.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {

using Kind = Transaction::Kind;

void Slices::serve(Event event) {
  if (event.at() == event.near()) {
    Held& held = held_[shared_.slice_of(event)];
    if (held.releasing || !held.events.empty() || waits_for_copy(event)) return held.events.push(event);
  }
  try_first(event);
}

void Slices::try_first(Event event) {
  if (!attempt(event)) stalled_.push(event);
}

/// A store to a far line of which sectors are on their way here: nobody could tell what they bring from what it changes.
bool Slices::waits_for_copy(const Event& event) const {
  if (!event.write() || event.at_home()) return false;
  const L2Tags& tags = parts_.lines.tags();
  const std::uint32_t slot =
      tags.find(shared_.copy_set(event.home() != 0, event.slice_index(), event.set()), event.tag());
  return slot != kNone && tags[slot].pending != 0;
}

/// Sectors have come: those that a store holds up go on, one after the other, up to the next one that has to wait.
void Slices::release(std::uint32_t slice) {
  Held& held = held_[slice];
  if (held.releasing || held.events.empty() || waits_for_copy(held.events.front())) return;
  const Event event = held.events.front();
  held.events.pop();
  try_first(event);
  if (held.events.empty()) return;
  held.releasing = true;
  const spec::L2Spec& l2 = shared_.spec.l2;
  const double bytes = event.write() ? (event.at_home() ? event.flits() * kSectorBytes * l2.write_cost : 0)
                                     : sector_count(event.sectors()) * kSectorBytes;
  const auto cycles = static_cast<std::uint64_t>((bytes + l2.slice_bytes - 1) / l2.slice_bytes);
  shared_.events.push(shared_.now + std::max<std::uint64_t>(cycles, 1),
                      {2 * l2.slices + slice, EventKind::retry});
}

void Slices::retry(std::uint32_t queue) {
  const std::uint32_t queues = 2 * shared_.spec.l2.slices;
  if (queue >= queues) {
    held_[queue - queues].releasing = false;
    return release(queue - queues);
  }
  stalled_.retry(queue, [this](Event& event) { return attempt(event); });
}

inline void Slices::account(Transaction& transaction) const {
  transaction.segments.l2 += static_cast<std::uint32_t>(shared_.now - transaction.since);
  transaction.since = shared_.now;
}

/// False when it needs a line, a miss entry or room in the write queue that is not there now.
bool Slices::attempt(Event& event) {
  if (event.write()) {
    if (event.at_home()) return write_home(event);
    pass_on_write(event);
    return true;
  }
  account(shared_.pool[event.index()]);
  if (event.at_home() || !is_atomic(shared_.pool[event.index()])) return look_up(event.index());
  pass_on(event.index());
  return true;
}

/// As the hardware's counters have it: a sector that is already on its way is a hit, and a miss counts as
/// all that it brings.
void Slices::count_lookup(const Transaction& transaction, std::uint8_t valid, std::uint8_t pending) {
  const std::uint8_t there = static_cast<std::uint8_t>(valid | pending);
  const std::uint8_t needed = without(transaction.sectors, there);
  // Of an atomic's packets only the first can miss.
  const std::uint32_t sectors = transaction.visits, hit = sectors - sector_count(needed);
  stats::MemoryCounters& counters = shared_.counters;
  counters.lts_sectors += sectors;
  counters.lts_sectors_hit += hit;
  switch (transaction.kind) {
    case Kind::read: counters.lts_sectors_read += sectors; break;
    case Kind::instruction:
    case Kind::far_read: counters.lts_sectors_read += sectors; return;
    default: break;
  }
  // An SM's sector counts once: reads where they are looked up first (as writes), atomics where they are done.
  if (is_atomic(transaction) ? !at_home(transaction) : transaction.at != transaction.near) return;
  counters.tex_sectors_hit += hit;
  counters.tex_sectors_miss += sector_count(without(parts_.fills.brought_for(transaction, needed), there));
}

/// Every sector of a write is a hit.
void Slices::count_write(const Event& event) {
  const std::uint32_t sectors = sector_count(event.sectors());
  stats::MemoryCounters& counters = shared_.counters;
  counters.lts_sectors += sectors;
  counters.lts_sectors_hit += sectors;
  counters.lts_sectors_write += sectors;
  if (event.at() == event.near()) counters.tex_sectors_hit += sectors;
}

/// Reads, and atomics at home: every sector must be there.
bool Slices::look_up(std::uint32_t index) {
  Transaction& transaction = shared_.pool[index];
  L2Tags& tags = parts_.lines.tags();
  std::uint32_t slot = tags.find(shared_.set_of(transaction), transaction.tag);
  const std::uint8_t valid = slot == kNone ? std::uint8_t{0} : tags[slot].valid;
  const std::uint8_t pending = slot == kNone ? std::uint8_t{0} : tags[slot].pending;
  const std::uint8_t missing = without(transaction.sectors, valid);
  const bool again = transaction.counted;
  if (!again) {
    count_lookup(transaction, valid, pending);
    transaction.counted = true;
  }
  if (missing == 0) {
    tags.touch(slot);
    complete(index, slot);
    return true;
  }
  const std::uint8_t needed = without(missing, pending);
  if (needed != 0) {
    const std::uint32_t queue = shared_.queue_of(transaction);
    if (!again && !stalled_.empty(queue)) return false;  // behind those that wait already
    if (pending == 0 && parts_.fills.full(queue)) return false;
    if (slot == kNone) {
      slot = parts_.lines.claim(shared_.slice_of(transaction), shared_.set_of(transaction), transaction.tag,
                                !at_home(transaction));
      if (slot == kNone) return false;
    }
    parts_.fills.request(slot, transaction, needed);
  }
  tags.touch(slot);
  if (transaction.kind == Kind::reduction) acknowledge(transaction);
  parts_.fills.wait(index, slot, missing);
  return true;
}

/// Stores at home. A copy beside the SM is no longer true.
bool Slices::write_home(Event& event) {
  const bool again = event.counted();
  if (!again) {
    count_write(event);
    event.count();
    if (event.near_home())
      parts_.lines.drop_copy(shared_.copy_set(event.home() != 0, event.slice_index(), event.set()),
                             event.tag(), event.sectors());
  }
  const Write& write = shared_.writes[event.index()];
  const std::uint32_t slice = shared_.slice_of(event);
  const bool behind = !again && !stalled_.empty(shared_.queue_of(event));
  if (!parts_.lines.write(write, slice, shared_.map.set(slice, event.set()), event.tag(), event.sectors(),
                          behind))
    return false;
  if (write.note != 0) {
    shared_.signals.make(write.note, shared_.now);
    shared_.signals.give_back(write.note);
  }
  if (write.wants_reply) {
    const bool far = !event.near_home();
    const std::uint64_t out = shared_.now + shared_.spec.l2.latency + (far ? parts_.link.latency() : 0);
    parts_.answers.acknowledge(event.sm(), write.id, out, false, far);
  }
  shared_.writes.give_back(event.index());
  return true;
}

/// To its home in the other partition. A copy here follows it; whole sectors leave one.
void Slices::pass_on_write(Event event) {
  count_write(event);
  parts_.lines.keep_copy(shared_.writes[event.index()], shared_.slice_of(event),
                         shared_.copy_set(event.home() != 0, event.slice_index(), event.set()), event.tag(),
                         event.sectors());
  event.go_home();
  shared_.events.push(parts_.link.cross(event.near() != 0, sector_count(event.sectors())),
                      event.as(EventKind::arrive));
}

/// Atomics whose home is the other partition. Their result is only known there, so that a copy here is lost.
void Slices::pass_on(std::uint32_t index) {
  Transaction& transaction = shared_.pool[index];
  count_lookup(transaction, transaction.sectors, 0);
  parts_.lines.drop_copy(shared_.copy_set(transaction.home, transaction.index, transaction.set),
                         transaction.tag, transaction.sectors);
  const std::uint64_t across = parts_.link.cross(transaction.near, transaction.visits);
  transaction.at = transaction.home;
  shared_.events.push(across, {index, EventKind::arrive, transaction, false});
}

void Slices::fill(std::uint32_t index) {
  Transaction& filled = shared_.pool[index];
  filled.at = filled.near;
  const std::uint32_t slice = shared_.slice_of(filled);
  if (filled.kind != Kind::far_read) {
    filled.segments.dram =
        static_cast<std::uint32_t>(shared_.now - filled.since) - filled.segments.dram_queue;
  }
  parts_.fills.arrive(index, [this](std::uint32_t waiter, std::uint32_t slot) { complete(waiter, slot); });
  stalled_.wake(slice);
  release(slice);
}

/// All that was asked of the slice is done: the answer leaves.
void Slices::complete(std::uint32_t index, std::uint32_t slot) {
  Transaction& transaction = shared_.pool[index];
  switch (transaction.kind) {
    case Kind::read:
      transaction.answered = true;
      if (shared_.signals.awaited()) look_for_writes(transaction);
      [[fallthrough]];
    case Kind::instruction: {
      const std::uint32_t latency = shared_.spec.l2.latency;
      transaction.segments.l2 += latency;
      shared_.events.push(shared_.now + latency, {index, EventKind::reply});
      return;
    }
    case Kind::far_read: {
      const std::uint64_t across = parts_.link.cross(transaction.home, transaction.visits);
      transaction.back = static_cast<std::uint32_t>(across - shared_.now);
      shared_.events.push(across, {index, EventKind::fill});
      return;
    }
    case Kind::atomic:
    case Kind::reduction: return complete_atomic(index, slot);
    case Kind::fill: FORETRACE_ASSERT(false, "a fill was looked up");
  }
}

/// At its home.
void Slices::complete_atomic(std::uint32_t index, std::uint32_t slot) {
  Transaction& transaction = shared_.pool[index];
  const std::uint64_t now = shared_.now;
  parts_.lines.make_dirty(shared_.slice_of(transaction), slot, transaction.sectors, false);
  if (transaction.note != 0 && !shared_.signals.look(transaction.note, now))
    shared_.signals.make(transaction.note, now);
  const bool far = transaction.near != transaction.home;
  if (!far) {
    parts_.lines.drop_copy(shared_.copy_set(transaction.home, transaction.index, transaction.set),
                           transaction.tag, transaction.sectors);
  }
  if (transaction.kind == Kind::reduction) {
    acknowledge(transaction);
    return forget(index);
  }
  std::uint64_t out = now + shared_.spec.l2.atomic_latency;
  if (far) out += parts_.link.cross(transaction.home, transaction.visits) - now;
  shared_.events.push(out, {index, EventKind::reply});
}

/// The word that a reduction is L2's business leaves, once: also where it waits for its line (cold_reductions, H100: the clock after a fence
/// behind reductions to lines in DRAM is that of lines in L2).
void Slices::acknowledge(Transaction& reduction) {
  if (!reduction.wants_reply) return;
  reduction.wants_reply = false;
  const bool far = reduction.near != reduction.home;
  const std::uint64_t out = shared_.now + shared_.spec.l2.atomic_latency + (far ? parts_.link.latency() : 0);
  parts_.answers.acknowledge(reduction.sm, reduction.id, out, true, far);
}

/// A read's data are found: whether what it waits for is among them, and what those wait for that it takes along.
void Slices::look_for_writes(const Transaction& read) {
  if (read.note != 0) shared_.signals.look(read.note, shared_.now);
  for (std::uint32_t at = read.followers; at != kNone; at = shared_.pool[at].next) {
    if (shared_.pool[at].note != 0) shared_.signals.look(shared_.pool[at].note, shared_.now);
  }
}

/// A reduction is done.
void Slices::forget(std::uint32_t index) {
  if (shared_.pool[index].note != 0) shared_.signals.give_back(shared_.pool[index].note);
  shared_.pool.give_back(index);
}

}  // namespace foretrace::memory
