// What comes to an L2 slice before it is served: the SMs' ways, the GPCs' way out, merging of reads, the slice's port.

#include <algorithm>

#include "model/memory/implementation.h"
#include "model/units/error.h"

namespace foretrace::memory {

using Kind = Transaction::Kind;

/// At the end of the way from its SM, or from a slice. The SM's way is in order: who finds it blocked waits.
void MemorySystem::Implementation::arrive(Event event) {
  if (event.crossed()) return enter(event);
  Way& way = way_[event.sm()];
  if (way.waiting.empty() && now_ >= way.blocked) return enter(event);
  way.waiting.push(event);
  if (!way.waking) {
    way.waking = true;
    events_.push(way.blocked, {event.sm(), EventKind::way});
  }
}

/// The SM's way may be open again: those that waited go on, up to one that blocks it anew.
void MemorySystem::Implementation::open_way(std::uint32_t sm) {
  Way& way = way_[sm];
  way.waking = false;
  while (!way.waiting.empty() && now_ >= way.blocked) enter(way.waiting.pop());
  if (way.waiting.empty()) return;
  way.waking = true;
  events_.push(way.blocked, {sm, EventKind::way});
}

/// Bytes that its home slice could read while it works on an atomic.
std::uint32_t MemorySystem::Implementation::home_work(const Transaction& atomic) {
  const std::uint64_t sectors =
      std::uint64_t{atomic.tag} << 32 | std::uint32_t{set_of(atomic)} << 4 | atomic.sectors;
  const LastAtomic last = last_atomic_[slice_of(atomic)];
  const LastAtomic own = {sectors, atomic.kind == Kind::atomic};
  last_atomic_[slice_of(atomic)] = own;
  if (last.sectors != sectors) return atomic.home_bytes;
  return atomic.home_bytes + atomic.again_bytes + (last.answered != own.answered ? atomic.turn_bytes : 0u);
}

void MemorySystem::Implementation::enter(Event event) {
  if (event.write()) return enter_write(event);
  const std::uint32_t index = event.index();
  if (!leave_gpc(index)) return;
  Transaction& transaction = pool_[index];
  if (transaction.kind == Kind::far_read) {
    transaction.segments.partition += static_cast<std::uint32_t>(now_ - transaction.since);
  } else {
    if (transaction.note == 0) signals_.moves(now_);
    transaction.reached = now_;
    if (merges() && transaction.at == transaction.near) {
      if (transaction.kind == Kind::read && merge(index)) return;
      if (is_atomic(transaction)) stop_merging(set_of(transaction), transaction.tag);
    }
  }
  transaction.since = now_;
  Port& port = slice_port_[slice_of(transaction)];
  const bool home = at_home(transaction);
  std::uint32_t taken = 0;
  if (is_atomic(transaction)) {
    taken = home ? home_work(transaction) : transaction.visits * atomic_pass_bytes_;
  } else if (home || has_copy(transaction)) {
    taken =
        (sector_count(transaction.sectors) * kSectorBytes + port.width() - 1) / port.width() * port.width();
  } else {  // its home slice reads the data
    taken = read_pass_bytes_;
  }
  counters_.l2_slice_busy += (taken + port.width() - 1) / port.width();
  const std::uint64_t turn = port.pass(now_, taken);
  if (is_atomic(transaction)) {
    hold_way(transaction.sm,
             std::max(turn, home ? 0 : slice_port_[map_.slice(transaction.home, transaction.index)].last()));
  }
  const Event served{index, EventKind::serve, transaction, false};
  if (turn == now_) {
    serve(served);
  } else {
    events_.push(turn, served);
  }
}

/// The same for a write, of which nothing but its passage is looked at.
void MemorySystem::Implementation::enter_write(Event event) {
  if (!event.crossed()) {
    event.cross();
    signals_.moves(now_);
    const std::uint64_t left = gpc_out_[sm_place_[event.sm()].gpc].pass(now_, event.pieces() * kSectorBytes);
    if (left != now_) return events_.push(left, event);
  }
  if (event.at() == event.near()) stop_merging(set_of(event), event.tag());
  const bool home = event.at_home();
  const SliceWork& work = write_work_[home ? 1 : 0][event.pieces()];
  counters_.l2_slice_busy += work.cycles;
  const std::uint32_t slice = slice_of(event), home_slice = map_.slice(event.home(), event.slice_index());
  const bool partly = event.pieces() > sector_count(event.sectors());
  std::uint64_t turn = slice_port_[slice].pass(now_, work.bytes);
  std::uint64_t done = std::max(turn, slice_port_[home_slice].last());
  if (partly) {
    if (home) turn = partial_writes_[slice].pass(turn, event.sectors(), spec_.l2.partly_interval);
    done = std::max(done, partial_writes_[home_slice].free(event.sectors()));
  }
  hold_way(event.sm(), home ? turn : done);
  if (turn == now_) {
    serve(event);
  } else {
    events_.push(turn, event.as(EventKind::serve));
  }
}

/// What an SM writes, and passes its slices in L2 cycle `passed`, blocks its way while they have so many cycles of work before it. One
/// that goes on finds its home full as soon as the slice beside its SM takes it: no SM has an advantage.
void MemorySystem::Implementation::hold_way(std::uint32_t sm, std::uint64_t passed) {
  if (passed > now_ + spec_.network.slice_queue) {
    Way& way = way_[sm];
    way.blocked = std::max(way.blocked, passed - spec_.network.slice_queue);
  }
}

/// What SMs of a GPC write shares its way out. False when it has to wait for its turn; it will arrive again.
bool MemorySystem::Implementation::leave_gpc(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  if (transaction.crossed) return true;
  transaction.crossed = true;
  if (!is_atomic(transaction)) return true;
  const std::uint64_t turn =
      gpc_out_[sm_place_[transaction.sm].gpc].pass(now_, transaction.flits * kSectorBytes);
  if (turn == now_) return true;
  events_.push(turn, {index, EventKind::arrive, transaction, false});
  return false;
}

/// True when an earlier read of the same sectors takes this one along.
bool MemorySystem::Implementation::merge(std::uint32_t index) {
  Transaction& transaction = pool_[index];
  const std::uint64_t key = Merging::key(set_of(transaction), transaction.tag);
  Merging::Entry* const entry = merging_.find(key);
  const auto lead = [&](Merging::Entry& of) {
    transaction.leads = true;
    transaction.peer = of.leaders;
    of.leaders = index;
  };
  const auto gone = [this](const Transaction& t) {
    return t.answered && now_ > t.since + spec_.l2.merge_cycles;
  };
  // Those whose time is over are forgotten here; one of this read's GPC may be left.
  std::uint32_t own = kNone;
  if (entry != nullptr) {
    for (std::uint32_t* at = &entry->leaders; *at != kNone;) {
      Transaction& leader = pool_[*at];
      const bool same = sm_place_[leader.sm].gpc == sm_place_[transaction.sm].gpc;
      if (gone(leader) ||
          (same && entry->sectors == transaction.sectors && leader.merged + 1u >= spec_.l2.merged_reads)) {
        leader.leads = false;
        *at = leader.peer;
        continue;
      }
      if (same) own = *at;
      at = &leader.peer;
    }
  }
  if (entry == nullptr) {
    Merging::Entry fresh{key, kNone, transaction.sectors};
    lead(fresh);
    merging_.put(fresh);
    return false;
  }
  if (entry->leaders == kNone) entry->sectors = transaction.sectors;
  if (entry->sectors != transaction.sectors) {
    forget_leaders(entry);
    return false;
  }
  if (own == kNone) {
    lead(*entry);
    return false;
  }
  Transaction& first = pool_[own];
  transaction.next = first.followers;
  first.followers = index;
  ++first.merged;
  if (transaction.note != 0 && first.answered) signals_.look(transaction.note, now_);
  --counters_.tex_requests;
  counters_.tex_sectors_read -= sector_count(transaction.sectors);
  return true;
}

/// Nobody joins what is under way of this line any more.
void MemorySystem::Implementation::forget_leaders(Merging::Entry* entry) {
  for (std::uint32_t at = entry->leaders; at != kNone; at = pool_[at].peer) pool_[at].leads = false;
  merging_.remove(entry);
}

/// Something else than a read comes to a line beside its SM.
void MemorySystem::Implementation::stop_merging(std::uint32_t set, std::uint32_t tag) {
  if (merging_.size() == 0) return;
  Merging::Entry* const entry = merging_.find(Merging::key(set, tag));
  if (entry != nullptr) forget_leaders(entry);
}

/// This read's answer leaves.
void MemorySystem::Implementation::stop_leading(std::uint32_t index) {
  const Transaction& transaction = pool_[index];
  Merging::Entry* const entry = merging_.find(Merging::key(set_of(transaction), transaction.tag));
  FORETRACE_ASSERT(entry != nullptr, "a read that others may join is not remembered");
  std::uint32_t* at = &entry->leaders;
  while (*at != index) at = &pool_[*at].peer;
  *at = transaction.peer;
  if (entry->leaders == kNone) merging_.remove(entry);
}

}  // namespace foretrace::memory
