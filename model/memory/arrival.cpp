// What comes to an L2 slice before it is served: through the SM's and the CPC's way, past the reads under way, to the slice's port.

#include <algorithm>

#include "model/memory/implementation.h"

namespace foretrace::memory {

using Kind = Transaction::Kind;

/// At the end of the way from its SM, or from a slice. The SM's way is in order: who finds it blocked waits.
void MemorySystem::Implementation::arrive(Event event) {
  if (event.crossed() || ways_.passes(event)) enter(event);
}

void MemorySystem::Implementation::enter(Event event) {
  if (event.kind() == EventKind::peer) return leave_chip(event);
  if (event.write()) return enter_write(event);
  const std::uint32_t index = event.index();
  if (!leave_cpc(index)) return;
  Transaction& transaction = shared_.pool[index];
  const std::uint64_t now = shared_.now;
  if (transaction.kind == Kind::far_read) {
    transaction.segments.partition += static_cast<std::uint32_t>(now - transaction.since);
  } else {
    if (transaction.note == 0) shared_.signals.moves(now);
    transaction.reached = now;
    if (merging_.on() && transaction.at == transaction.near) {
      if (transaction.kind == Kind::read && !transaction.multicast && merging_.join(index)) return;
      if (is_atomic(transaction)) merging_.stop(shared_.set_of(transaction), transaction.tag);
    }
  }
  transaction.since = now;
  const bool home = at_home(transaction);
  std::uint64_t turn = 0;
  if (is_atomic(transaction)) {
    turn = ports_.pass_atomic(transaction);
    const std::uint32_t home_slice = shared_.map.slice(transaction.home, transaction.index);
    ways_.hold(transaction.sm, home ? turn : std::max(turn, ports_.last(home_slice)));
  } else {  // of a far read its home slice reads the data
    turn = ports_.pass_read(transaction, home || lines_.has_copy(transaction));
  }
  const Event served{index, EventKind::serve, transaction, false};
  if (turn == now) {
    slices_.serve(served);
  } else {
    shared_.events.push(turn, served);
  }
}

/// For another device's memory.
void MemorySystem::Implementation::leave_chip(Event event) {
  const bool brings = event.write() || is_atomic(shared_.pool[event.index()]);
  const std::uint64_t left = peer_link_.leave(event);
  if (brings) ways_.hold(event.sm(), left);
}

/// The same for a write, of which nothing but its passage is looked at.
void MemorySystem::Implementation::enter_write(Event event) {
  if (!event.crossed()) {
    event.cross();
    shared_.signals.moves(shared_.now);
    const std::uint64_t left = ways_.leave_cpc(event.sm(), event.flits() * kSectorBytes);
    if (left != shared_.now) return shared_.events.push(left, event);
  }
  if (event.at() == event.near()) merging_.stop(shared_.set_of(event), event.tag());
  const auto [turn, until] = ports_.pass_write(event, lines_.follows(event));
  ways_.hold(event.sm(), until);
  if (turn == shared_.now) {
    slices_.serve(event);
  } else {
    shared_.events.push(turn, event.as(EventKind::serve));
  }
}

/// What SMs of a CPC write shares its way out. False when it has to wait for its turn; it will arrive again.
bool MemorySystem::Implementation::leave_cpc(std::uint32_t index) {
  Transaction& transaction = shared_.pool[index];
  if (transaction.crossed) return true;
  transaction.crossed = true;
  if (!is_atomic(transaction)) return true;
  const std::uint64_t turn = ways_.leave_cpc(transaction.sm, transaction.flits * kSectorBytes);
  if (turn == shared_.now) return true;
  shared_.events.push(turn, {index, EventKind::arrive, transaction, false});
  return false;
}

}  // namespace foretrace::memory
