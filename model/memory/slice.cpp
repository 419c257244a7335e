// What an L2 slice does with a transaction: lookup, copies of far lines, write-back, atomics.

#include <algorithm>

#include "model/memory/implementation.h"
#include "model/units/error.h"

namespace foretrace::memory {

namespace {
using Kind = Transaction::Kind;
std::uint8_t without(std::uint8_t sectors, std::uint8_t taken) {
  return static_cast<std::uint8_t>(sectors & ~taken);
}
constexpr std::uint32_t kWholeSector = ~std::uint32_t{0};
}  // namespace

/// Whether the near slice can answer a read of a far line.
bool MemorySystem::Implementation::has_copy(const Passage& passage) {
  const std::uint32_t slot = tags_.find(set_of(passage), passage.tag);
  return slot != kNone && without(passage.sectors, tags_[slot].valid) == 0;
}

void MemorySystem::Implementation::serve(Event event) {
  if (!event.write()) book_slice(pool_[event.index()]);
  if (!attempt(event)) stall(event);
}

void MemorySystem::Implementation::stall(const Event& event) {
  const bool other = event.at_home() && !event.near_home();
  stalled_[queue_of(event)].waiting[other ? 1 : 0].push(event);
}

void MemorySystem::Implementation::book_slice(Transaction& transaction) const {
  transaction.segments.l2 += static_cast<std::uint32_t>(now_ - transaction.since);
  transaction.since = now_;
}

/// False when it needs a line, a miss entry or room in the write queue that is not there now.
bool MemorySystem::Implementation::attempt(Event& event) {
  if (event.write()) {
    if (event.at_home()) return write_home(event);
    pass_on_write(event);
    return true;
  }
  if (event.at_home() || !is_atomic(pool_[event.index()])) return look_up_read(event.index());
  pass_on(event.index());
  return true;
}

/// As the hardware's counters have it: a sector that is already on its way is a hit, and a miss counts as
/// all that it brings.
void MemorySystem::Implementation::count_lookup(const Transaction& transaction, std::uint8_t valid,
                                                std::uint8_t pending) {
  const std::uint8_t there = static_cast<std::uint8_t>(valid | pending);
  const std::uint8_t needed = without(transaction.sectors, there);
  // Of an atomic's packets only the first can miss.
  const std::uint32_t sectors = transaction.visits, hit = sectors - sector_count(needed);
  counters_.lts_sectors += sectors;
  counters_.lts_sectors_hit += hit;
  switch (transaction.kind) {
    case Kind::read: counters_.lts_sectors_read += sectors; break;
    case Kind::instruction:
    case Kind::far_read: counters_.lts_sectors_read += sectors; return;
    default: break;
  }
  // An SM's sector counts once: reads where they are looked up first (as writes), atomics where they are done.
  if (is_atomic(transaction) ? !at_home(transaction) : transaction.at != transaction.near) return;
  counters_.tex_sectors_hit += hit;
  counters_.tex_sectors_miss += sector_count(without(granules_of(needed), there));
}

/// Every sector of a write is a hit.
void MemorySystem::Implementation::count_write(const Event& event) {
  const std::uint32_t sectors = sector_count(event.sectors());
  counters_.lts_sectors += sectors;
  counters_.lts_sectors_hit += sectors;
  counters_.lts_sectors_write += sectors;
  if (event.at() == event.near()) counters_.tex_sectors_hit += sectors;
}

/// Reads, and atomics at home: every sector must be there.
bool MemorySystem::Implementation::look_up_read(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  std::uint32_t slot = tags_.find(set_of(transaction), transaction.tag);
  const std::uint8_t valid = slot == kNone ? std::uint8_t{0} : tags_[slot].valid;
  const std::uint8_t pending = slot == kNone ? std::uint8_t{0} : tags_[slot].pending;
  const std::uint8_t missing = without(transaction.sectors, valid);
  const bool again = transaction.counted;
  if (!again) {
    count_lookup(transaction, valid, pending);
    transaction.counted = true;
  }
  if (missing == 0) {
    tags_.touch(slot);
    complete(index, slot);
    return true;
  }
  const std::uint8_t needed = without(missing, pending);
  if (needed != 0) {
    const std::uint32_t queue = queue_of(transaction);
    if (!again && !stalled_[queue].empty()) return false;  // behind those that wait already
    if (pending == 0 && misses_[queue] >= spec_.l2.misses) return false;
    if (slot == kNone) {
      slot = claim(slice_of(transaction), set_of(transaction), transaction.tag, !at_home(transaction));
      if (slot == kNone) return false;
    }
    if (pending == 0) ++misses_[queue];
    request_fill(slot, transaction, needed);
  }
  tags_.touch(slot);
  wait_for(index, slot, missing);
  return true;
}

/// Whether a store leaves a sector of a line (kNone: of none that is there) with bytes that nobody wrote.
bool MemorySystem::Implementation::writes_partly(const Write& write, std::uint8_t sectors,
                                                 std::uint32_t slot) const {
  for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
    if (!(sectors >> sector & 1) || write.bytes[sector] == kWholeSector) continue;
    if (slot == kNone || !(tags_[slot].valid >> sector & 1)) return true;
  }
  return false;
}

/// Stores: no fill is needed, bytes are noted.
bool MemorySystem::Implementation::write_home(Event& event) {
  const std::uint32_t slice = slice_of(event), set = map_.set(slice, event.set()), tag = event.tag();
  const std::uint8_t sectors = event.sectors();
  const bool again = event.counted();
  if (!again) {
    count_write(event);
    event.count();
    if (event.near_home())
      drop_copy(copy_set(event.home() != 0, event.slice_index(), event.set()), tag, sectors);
  }
  const Write& write = writes_[event.index()];
  std::uint32_t slot = tags_.find(set, tag);
  const bool newly_dirty = slot == kNone || !tags_.listed_dirty(slot);
  const bool newly_partly =
      (slot == kNone || tags_[slot].partly() == 0) && writes_partly(write, sectors, slot);
  if (newly_dirty || newly_partly) {
    if (!again && !stalled_[queue_of(event)].empty()) return false;
    const bool saves = (newly_dirty && tags_.dirty_count(slice) >= dirty_limit_) ||
                       (newly_partly && tags_.partly(set).count >= partly_limit_);
    if (saves && !may_save(slice)) return false;
    if (slot == kNone) slot = claim(slice, set, tag, false);
    if (slot == kNone) return false;
  }
  L2Tags::Line& line = tags_[slot];
  for (int sector = 0; sector < kSectorsPerLine; ++sector) {
    const std::uint8_t bit = static_cast<std::uint8_t>(1 << sector);
    if (!(sectors & bit) || (line.valid & bit)) continue;
    std::uint32_t& bytes = tags_.bytes(slot, sector);
    if (!(line.dirty & bit)) bytes = 0;
    bytes |= write.bytes[static_cast<std::size_t>(sector)];
    if (bytes == kWholeSector) line.valid = (line.valid | bit) & kWholeLine;
  }
  make_dirty(slice, slot, sectors, newly_partly);
  if (write.note != 0) {
    signals_.make(write.note, now_);
    signals_.give_back(write.note);
  }
  if (write.wants_reply) {
    const bool far = !event.near_home();
    const std::uint64_t out = now_ + spec_.l2.latency + (far ? spec_.network.partition_latency : 0);
    outgoing_.acknowledge(event.sm(), write.id, out, false, far);
  }
  writes_.give_back(event.index());
  return true;
}

/// To its home in the other partition. A copy here follows it.
void MemorySystem::Implementation::pass_on_write(Event event) {
  count_write(event);
  const std::uint32_t sectors = sector_count(event.sectors());
  counters_.partition_sectors += sectors;
  event.go_home();
  events_.push(link_[event.near()].pass(now_, sectors * kSectorBytes) + spec_.network.partition_latency,
               event.as(EventKind::arrive));
}

/// Atomics whose home is the other partition. Their result is only known there, so that a copy here is lost.
void MemorySystem::Implementation::pass_on(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  count_lookup(transaction, transaction.sectors, 0);
  drop_copy(copy_set(transaction.home, transaction.index, transaction.set), transaction.tag,
            transaction.sectors);
  counters_.partition_sectors += transaction.visits;
  const std::uint64_t across =
      link_[transaction.near].pass(now_, transaction.visits * kSectorBytes) + spec_.network.partition_latency;
  transaction.at = transaction.home;
  events_.push(across, {index, EventKind::arrive, transaction, false});
}

void MemorySystem::Implementation::drop_copy(std::uint32_t set, std::uint32_t tag, std::uint8_t sectors) {
  if (spec_.l2.partitions < 2) return;
  const std::uint32_t slot = tags_.find(set, tag);
  if (slot != kNone) tags_.drop(slot, sectors);
}

std::uint32_t MemorySystem::Implementation::claim(std::uint32_t slice, std::uint32_t set, std::uint32_t tag,
                                                  bool copy) {
  if (left_behind_ != 0 && tags_.untouched(set)) leave_behind(set);
  const std::uint32_t slot = tags_.victim(set, may_save(slice), copy);
  if (slot == kNone) return kNone;
  if (tags_[slot].dirty) save_dirty(slot);
  tags_.install(slot, tag);
  return slot;
}

/// What was written before the launch and lies in the set still: whole lines, older than all that the launch brings (H100 and H200,
/// profiled_traffic: kernels that only read more than L2 holds write 2.4 MB to DRAM).
void MemorySystem::Implementation::leave_behind(std::uint32_t set) {
  constexpr std::uint32_t kUnit = 1u << 16;
  const std::uint32_t chance = set * 2654435761u >> 16;  // even over the sets
  const std::uint32_t lines = left_behind_ / kUnit + (chance < left_behind_ % kUnit ? 1 : 0);
  const std::uint32_t partition = set / map_.sets() / map_.slices_per_partition();
  for (std::uint32_t i = 0; i < std::min(lines, spec_.l2.ways - 1); ++i) {
    const std::uint32_t slot = tags_.victim(set, false, false);
    tags_.install(slot, kLeftBehind + 2 * i + partition);
    tags_[slot].valid = tags_[slot].dirty = kWholeLine;
    tags_.put_newest_dirty(slot);
  }
}

void MemorySystem::Implementation::make_dirty(std::uint32_t slice, std::uint32_t slot, std::uint8_t sectors,
                                              bool newly_partly) {
  L2Tags::Line& line = tags_[slot];
  const std::uint8_t fresh = without(sectors, line.dirty);
  line.dirty = (line.dirty | sectors) & kWholeLine;
  counters_.dirty_sectors_left += sector_count(fresh);
  tags_.touch(slot);
  tags_.put_newest_dirty(slot);
  if (newly_partly) {  // nothing else makes a set's partly written lines more
    const L2Tags::Partly partly = tags_.partly(tags_.set_of(slot));
    if (partly.count > partly_limit_) save_dirty(partly.oldest);
  }
  if (tags_.dirty_count(slice) > dirty_limit_) save_dirty(tags_.oldest_dirty(slice));
}

void MemorySystem::Implementation::wait_for(std::uint32_t index, std::uint32_t slot, std::uint8_t sectors) {
  Transaction& transaction = pool_[index];
  transaction.wait = sectors;
  std::uint32_t& newest = tags_.waiters(slot);
  if (newest == kNone) {
    transaction.next = index;
  } else {  // a ring that is entered at its newest, whose next is the oldest
    transaction.next = pool_[newest].next;
    pool_[newest].next = index;
  }
  newest = index;
}

/// Sectors come from DRAM or from the other partition.
void MemorySystem::Implementation::fill(std::uint32_t index) {
  Transaction& filled = pool_[index];
  filled.at = filled.near;
  const std::uint32_t slice = slice_of(filled);
  if (filled.kind != Kind::far_read)
    filled.segments.dram = static_cast<std::uint32_t>(now_ - filled.since) - filled.segments.dram_queue;
  const std::uint32_t slot = filled.slot;
  L2Tags::Line& line = tags_[slot];
  line.valid = (line.valid | filled.sectors) & kWholeLine;
  line.pending = without(line.pending, filled.sectors) & kWholeLine;
  if (line.pending == 0) --misses_[2 * slice + (filled.kind == Kind::far_read ? 1 : 0)];
  const std::uint32_t newest = tags_.waiters(slot);
  if (newest != kNone) {
    tags_.waiters(slot) = kNone;
    std::uint32_t at = pool_[newest].next;
    while (true) {
      Transaction& waiter = pool_[at];
      const std::uint32_t following = waiter.next;
      waiter.wait = without(waiter.wait, filled.sectors);
      if (waiter.wait != 0) {
        wait_for(at, slot, waiter.wait);
      } else {
        book_wait(waiter, filled);
        complete(at, slot);
      }
      if (at == newest) break;
      at = following;
    }
  }
  pool_.give_back(index);
  retry_later(slice);
}

/// A wait is booked from its end backwards along what the fill went through: whoever joined late saw only
/// the last of it.
void MemorySystem::Implementation::book_wait(Transaction& transaction, const Transaction& filled) const {
  std::uint32_t left = static_cast<std::uint32_t>(now_ - transaction.since);
  const auto book = [&left](std::uint32_t length, std::uint32_t& segment) {
    const std::uint32_t taken = std::min(left, length);
    segment += taken;
    left -= taken;
  };
  Segments& segments = transaction.segments;
  book(filled.back, segments.partition);
  book(filled.segments.dram, segments.dram);
  book(filled.segments.dram_queue, segments.dram_queue);
  book(filled.segments.l2, segments.l2);
  book(filled.segments.partition, segments.partition);
  FORETRACE_ASSERT(left == 0, "a transaction waited longer for a fill than the fill was under way");
  transaction.since = now_;
}

/// All that was asked of the slice is done: the answer leaves.
void MemorySystem::Implementation::complete(std::uint32_t index, std::uint32_t slot) {
  Transaction& transaction = pool_[index];
  const std::uint32_t bytes = transaction.visits * kSectorBytes;
  std::uint64_t out = now_ + (is_atomic(transaction) ? spec_.l2.atomic_latency : spec_.l2.latency);
  switch (transaction.kind) {
    case Kind::read:
      transaction.answered = true;
      if (signals_.awaited()) look_for_writes(transaction);
      [[fallthrough]];
    case Kind::instruction: transaction.segments.l2 += spec_.l2.latency; break;
    case Kind::far_read: {
      counters_.partition_sectors += sector_count(transaction.sectors);
      const std::uint64_t across =
          link_[transaction.home].pass(now_, bytes) + spec_.network.partition_latency;
      transaction.back = static_cast<std::uint32_t>(across - now_);
      events_.push(across, {index, EventKind::fill});
      return;
    }
    case Kind::atomic:
    case Kind::reduction:
      make_dirty(slice_of(transaction), slot, transaction.sectors, false);
      if (transaction.note != 0 && !signals_.look(transaction.note, now_))
        signals_.make(transaction.note, now_);
      if (transaction.near == transaction.home) {
        drop_copy(copy_set(transaction.home, transaction.index, transaction.set), transaction.tag,
                  transaction.sectors);
      }
      if (transaction.kind != Kind::atomic && !transaction.wants_reply) {
        forget(index);
        return;
      }
      if (transaction.near != transaction.home) {
        const bool data = transaction.kind == Kind::atomic;
        if (data) counters_.partition_sectors += transaction.visits;
        out +=
            spec_.network.partition_latency + (data ? link_[transaction.home].pass(now_, bytes) - now_ : 0);
      }
      if (transaction.kind != Kind::atomic) {
        outgoing_.acknowledge(transaction.sm, transaction.id, out, true,
                              transaction.near != transaction.home);
        forget(index);
        return;
      }
      break;
    case Kind::fill: FORETRACE_ASSERT(false, "a fill was looked up");
  }
  events_.push(out, {index, EventKind::reply});
}

void MemorySystem::Implementation::retry_later(std::uint32_t slice) {
  for (std::uint32_t queue : {2 * slice, 2 * slice + 1}) {
    Stalled& stalled = stalled_[queue];
    if (stalled.empty() || stalled.retrying) continue;
    stalled.retrying = true;
    events_.push(now_, {queue, EventKind::retry});
  }
}

void MemorySystem::Implementation::retry(std::uint32_t queue) {
  Stalled& stalled = stalled_[queue];
  stalled.retrying = false;
  while (!stalled.empty()) {
    const bool other = stalled.waiting[0].empty() || (stalled.others_turn && !stalled.waiting[1].empty());
    Ring<Event>& waiting = stalled.waiting[other ? 1 : 0];
    Event& event = waiting.front();
    if (!event.write()) book_slice(pool_[event.index()]);
    if (!attempt(event)) return;
    stalled.others_turn = !other;
    waiting.pop();
  }
}

}  // namespace foretrace::memory
