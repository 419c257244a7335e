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
constexpr std::uint8_t kWholeLine = (1u << kSectorsPerLine) - 1;
bool is_atomic(const Transaction& transaction) {
  return transaction.kind == Kind::atomic || transaction.kind == Kind::reduction;
}
}  // namespace

/// At the end of the way from its SM, or from a slice. The SM's way is in order: who finds it blocked waits.
void MemorySystem::Implementation::arrive(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  if (transaction.crossed || transaction.kind == Kind::far_read) return enter(index);
  Way& way = way_[transaction.sm];
  if (way.first == kNone && now_ >= way.blocked) return enter(index);
  transaction.next = kNone;
  (way.first == kNone ? way.first : pool_[way.last].next) = index;
  way.last = index;
  if (!way.waking) {
    way.waking = true;
    events_.push(way.blocked, {transaction.sm, EventKind::way});
  }
}

/// The SM's way may be open again: those that waited go on, up to one that blocks it anew.
void MemorySystem::Implementation::open_way(std::uint32_t sm) {
  Way& way = way_[sm];
  way.waking = false;
  while (way.first != kNone && now_ >= way.blocked) {
    const std::uint32_t index = way.first;
    way.first = pool_[index].next;
    pool_[index].next = kNone;
    enter(index);
  }
  if (way.first == kNone) return;
  way.waking = true;
  events_.push(way.blocked, {sm, EventKind::way});
}

void MemorySystem::Implementation::enter(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  if (!leave_gpc(index)) return;
  if (transaction.kind == Kind::far_read) {
    transaction.segments.partition += static_cast<std::uint32_t>(now_ - transaction.since);
  } else {
    if (transaction.kind != Kind::write) transaction.reached = now_;
    if (transaction.kind == Kind::read && transaction.at == transaction.near && merge(index)) return;
  }
  transaction.since = now_;
  Port& port = slice_port_[slice_of(transaction)];
  const bool home = at_home(transaction);
  const bool write = transaction.kind == Kind::write;
  std::uint32_t taken = port.width();
  if (is_atomic(transaction)) {
    taken = transaction.visits * (home ? atomic_bytes_ : atomic_pass_bytes_);
  } else if (write) {
    taken = static_cast<std::uint32_t>(packet_bytes(transaction) * (home ? kWritesToReads : 1));
  } else if (home || has_copy(transaction)) {  // else a far read's data pass this slice when they come (fill)
    taken = (sector_count(transaction.sectors) * kSectorBytes + port.width() - 1) / port.width() * port.width();
  }
  counters_.l2_slice_busy += (taken + port.width() - 1) / port.width();
  const std::uint64_t turn = port.pass(now_, taken);
  if (write || is_atomic(transaction)) {
    // One that goes on finds its home full as soon as the slice beside its SM takes it: no SM has an advantage.
    const std::uint64_t passed =
        std::max(turn, home ? 0 : slice_port_[map_.slice(transaction.home, transaction.index)].last());
    if (passed > now_ + spec_.network.slice_queue) {
      Way& way = way_[transaction.sm];
      way.blocked = std::max(way.blocked, passed - spec_.network.slice_queue);
    }
  }
  if (turn == now_) {
    serve(index);
  } else {
    events_.push(turn, {index, EventKind::serve, write});
  }
}

/// What SMs of a GPC write shares its way out. False when it has to wait for its turn; it will arrive again.
bool MemorySystem::Implementation::leave_gpc(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  if (transaction.crossed) return true;
  transaction.crossed = true;
  if (transaction.kind != Kind::write && !is_atomic(transaction)) return true;
  const std::uint64_t turn = gpc_out_[sm_place_[transaction.sm].gpc].pass(now_, packet_bytes(transaction));
  if (turn == now_) return true;
  events_.push(turn, {index, EventKind::arrive, transaction.kind == Kind::write});
  return false;
}

/// True when an earlier read of the same sectors takes this one along.
bool MemorySystem::Implementation::merge(std::uint32_t index) {
  if (spec_.l2.merged_reads < 2) return false;
  Transaction& transaction = pool_[index];
  const std::uint64_t key = merging_key(transaction);
  const std::uint32_t first = merging_.find(key);
  const auto gone = [this](const Transaction& t) { return t.answered && now_ > t.since + spec_.l2.merge_cycles; };
  if (first == kNone || pool_[first].merged + 1u >= spec_.l2.merged_reads || gone(pool_[first])) {
    merging_.put(key, index);
    return false;
  }
  transaction.next = pool_[first].followers;
  pool_[first].followers = index;
  ++pool_[first].merged;
  --counters_.tex_requests;
  counters_.tex_sectors_read -= sector_count(transaction.sectors);
  return true;
}

/// Whether the near slice can answer a read of a far line.
bool MemorySystem::Implementation::has_copy(const Transaction& transaction) {
  const std::uint32_t slot = tags_.find(set_of(transaction), transaction.tag);
  return slot != kNone && without(transaction.sectors, tags_[slot].valid) == 0;
}

void MemorySystem::Implementation::serve(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  book_slice(transaction);
  if (!attempt(index)) stall(index);
}

/// Where a write's time goes nobody asks.
void MemorySystem::Implementation::book_slice(Transaction& transaction) const {
  if (transaction.kind != Kind::write) transaction.segments.l2 += static_cast<std::uint32_t>(now_ - transaction.since);
  transaction.since = now_;
}

/// False when it needs a line, a miss entry or room in the write queue that is not there now.
bool MemorySystem::Implementation::attempt(std::uint32_t index) {
  const Transaction& transaction = pool_[index];
  if (transaction.kind == Kind::read || transaction.kind == Kind::instruction ||
      transaction.kind == Kind::far_read) {
    return look_up_read(index);
  }
  if (!at_home(transaction)) {
    pass_on(index);
    return true;
  }
  return transaction.kind == Kind::write ? write_home(index) : look_up_read(index);
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
    case Kind::write: counters_.lts_sectors_write += sectors; break;
    default: break;
  }
  // An SM's sector counts once: reads and writes where they are looked up first, atomics where they are done.
  if (is_atomic(transaction) ? !at_home(transaction) : transaction.at != transaction.near) return;
  counters_.tex_sectors_hit += hit;
  counters_.tex_sectors_miss += sector_count(without(granules_of(needed), there));
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
    if (!again && stalled_[queue].first != kNone) return false;  // behind those that wait already
    if (pending == 0 && misses_[queue] >= spec_.l2.misses) return false;
    if (slot == kNone) {
      slot = claim(transaction);
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
bool MemorySystem::Implementation::writes_partly(const Transaction& transaction, std::uint32_t slot) const {
  for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
    if (!(transaction.sectors >> sector & 1) || transaction.bytes[sector] == kWholeSector) continue;
    if (slot == kNone || !(tags_[slot].valid >> sector & 1)) return true;
  }
  return false;
}

/// Stores: no fill is needed, bytes are noted.
bool MemorySystem::Implementation::write_home(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  const std::uint32_t slice = slice_of(transaction);
  const bool again = transaction.counted;
  if (!again) {
    count_lookup(transaction, transaction.sectors, 0);
    transaction.counted = true;
    if (transaction.near == transaction.home) drop_copy(transaction);
  }
  std::uint32_t slot = tags_.find(set_of(transaction), transaction.tag);
  const bool newly_dirty = slot == kNone || !tags_.listed_dirty(slot);
  const bool newly_partly =
      (slot == kNone || tags_[slot].partly() == 0) && writes_partly(transaction, slot);
  if (newly_dirty || newly_partly) {
    if (!again && stalled_[queue_of(transaction)].first != kNone) return false;
    const bool saves = (newly_dirty && tags_.dirty_count(slice) >= dirty_limit_) ||
                       (newly_partly && tags_.partly(set_of(transaction)).count >= partly_limit_);
    if (saves && !may_save(slice)) return false;
    if (slot == kNone) slot = claim(transaction);
    if (slot == kNone) return false;
  }
  L2Tags::Line& line = tags_[slot];
  for (int sector = 0; sector < kSectorsPerLine; ++sector) {
    const std::uint8_t bit = static_cast<std::uint8_t>(1 << sector);
    if (!(transaction.sectors & bit) || (line.valid & bit)) continue;
    std::uint32_t& bytes = tags_.bytes(slot, sector);
    if (!(line.dirty & bit)) bytes = 0;
    bytes |= transaction.bytes[static_cast<std::size_t>(sector)];
    if (bytes == kWholeSector) line.valid = static_cast<std::uint8_t>(line.valid | bit);
  }
  make_dirty(transaction, slot, newly_partly);
  complete(index, slot);
  return true;
}

/// Writes and atomics whose home is the other partition. A copy here follows a write; an atomic's result is
/// only known at home.
void MemorySystem::Implementation::pass_on(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  count_lookup(transaction, transaction.sectors, 0);
  if (transaction.kind != Kind::write) drop_copy(transaction);
  counters_.partition_sectors += transaction.visits;
  const std::uint64_t across =
      link_[transaction.near].pass(now_, transaction.visits * kSectorBytes) + spec_.network.partition_latency;
  transaction.at = transaction.home;
  events_.push(across, {index, EventKind::arrive, transaction.kind == Kind::write});
}

void MemorySystem::Implementation::drop_copy(const Transaction& transaction) {
  if (spec_.l2.partitions < 2) return;
  const std::uint32_t slice = map_.slice(1u - transaction.home, transaction.index);
  const std::uint32_t slot = tags_.find(map_.set(slice, transaction.set), transaction.tag);
  if (slot != kNone) tags_.drop(slot, transaction.sectors);
}

std::uint32_t MemorySystem::Implementation::claim(const Transaction& transaction) {
  const std::uint32_t slice = slice_of(transaction);
  const std::uint32_t set = map_.set(slice, transaction.set);
  if (left_behind_ != 0 && tags_.untouched(set)) leave_behind(set);
  const std::uint32_t slot = tags_.victim(set, may_save(slice), !at_home(transaction));
  if (slot == kNone) return kNone;
  if (tags_[slot].dirty) save_dirty(slot);
  tags_.install(slot, transaction.tag);
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

void MemorySystem::Implementation::make_dirty(const Transaction& transaction, std::uint32_t slot, bool newly_partly) {
  const std::uint32_t slice = slice_of(transaction);
  L2Tags::Line& line = tags_[slot];
  const std::uint8_t fresh = without(transaction.sectors, line.dirty);
  line.dirty = static_cast<std::uint8_t>(line.dirty | transaction.sectors);
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
  if (filled.kind == Kind::far_read) {
    Port& port = slice_port_[slice];
    const std::uint32_t cycles =
        (sector_count(filled.sectors) * kSectorBytes + port.width() - 1) / port.width();
    counters_.l2_slice_busy += cycles;
    port.pass(now_, cycles * port.width());
  } else {
    filled.segments.dram = static_cast<std::uint32_t>(now_ - filled.since) - filled.segments.dram_queue;
  }
  const std::uint32_t slot = filled.slot;
  L2Tags::Line& line = tags_[slot];
  line.valid = static_cast<std::uint8_t>(line.valid | filled.sectors);
  line.pending = without(line.pending, filled.sectors);
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
    case Kind::read: transaction.answered = true; [[fallthrough]];
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
      make_dirty(transaction, slot, false);
      if (transaction.near == transaction.home) drop_copy(transaction);
      [[fallthrough]];
    case Kind::write:
      if (transaction.kind != Kind::atomic && !transaction.wants_reply) {
        pool_.give_back(index);
        return;
      }
      if (transaction.near != transaction.home) {
        const bool data = transaction.kind == Kind::atomic;
        if (data) counters_.partition_sectors += transaction.visits;
        out += spec_.network.partition_latency + (data ? link_[transaction.home].pass(now_, bytes) - now_ : 0);
      }
      if (transaction.kind != Kind::atomic) return acknowledge(index, out);
      break;
    case Kind::fill: FORETRACE_ASSERT(false, "a fill was looked up");
  }
  events_.push(out, {index, EventKind::reply});
}

void MemorySystem::Implementation::stall(std::uint32_t index) {
  Stalled& stalled = stalled_[queue_of(pool_[index])];
  pool_[index].next = kNone;
  (stalled.last == kNone ? stalled.first : pool_[stalled.last].next) = index;
  stalled.last = index;
}

void MemorySystem::Implementation::retry_later(std::uint32_t slice) {
  for (std::uint32_t queue : {2 * slice, 2 * slice + 1}) {
    Stalled& stalled = stalled_[queue];
    if (stalled.first == kNone || stalled.retrying) continue;
    stalled.retrying = true;
    events_.push(now_, {queue, EventKind::retry});
  }
}

void MemorySystem::Implementation::retry(std::uint32_t queue) {
  Stalled& stalled = stalled_[queue];
  stalled.retrying = false;
  while (stalled.first != kNone) {
    const std::uint32_t index = stalled.first;
    Transaction& transaction = pool_[index];
    const std::uint32_t following = transaction.next;
    book_slice(transaction);
    if (!attempt(index)) {
      transaction.next = following;
      return;
    }
    stalled.first = following;
    if (following == kNone) stalled.last = kNone;
  }
}

}  // namespace foretrace::memory
