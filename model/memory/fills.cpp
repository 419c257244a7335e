#include "model/memory/fills.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {

Fills::Fills(Shared& shared, L2Tags& tags, DramPath& dram, const PartitionLink& link)
    : shared_(shared), tags_(tags), dram_(dram), link_(link), lines_(2 * std::size_t{shared.spec.l2.slices}) {
  FORETRACE_ASSERT(shared.spec.l2.misses > 0, "a slice without outstanding misses cannot read DRAM");
}

void Fills::request(std::uint32_t slot, const Transaction& transaction, std::uint8_t sectors) {
  const std::uint32_t index = shared_.pool.take();
  Transaction& asked = shared_.pool[index];
  asked = {};
  asked.set = transaction.set;
  asked.tag = transaction.tag;
  asked.index = transaction.index;
  asked.near = transaction.at;  // where it is brought to
  asked.at = transaction.home;
  asked.home = transaction.home;
  asked.slot = slot;
  asked.since = shared_.now;
  // What comes along is kept, unless L2 has it or awaits it already. The far side is asked for whole
  // accesses as well.
  L2Tags::Line& line = tags_[slot];
  if (line.pending == 0) ++lines_[shared_.queue_of(transaction)];
  const std::uint8_t granules = brought_for(transaction, sectors);
  asked.sectors =
      static_cast<std::uint8_t>(granules & ~std::uint32_t{line.valid} & ~std::uint32_t{line.pending});
  asked.visits = static_cast<std::uint8_t>(sector_count(asked.sectors));
  line.pending = (line.pending | asked.sectors) & kWholeLine;
  if (!at_home(transaction)) {
    asked.kind = Transaction::Kind::far_read;
    asked.crossed = true;
    shared_.events.push(shared_.now + link_.latency(), {index, EventKind::arrive, asked, false});
    return;
  }
  asked.kind = Transaction::Kind::fill;
  shared_.counters.fill_sectors += sector_count(static_cast<std::uint8_t>(asked.sectors & line.partly()));
  dram_.read(
      shared_.map.dram({transaction.home ? 1u : 0u, transaction.index, transaction.set, transaction.tag}),
      sector_count(is_atomic(transaction) ? asked.sectors : granules) * kSectorBytes, index);
}

void Fills::wait(std::uint32_t index, std::uint32_t slot, std::uint8_t sectors) {
  Transaction& transaction = shared_.pool[index];
  transaction.wait = sectors;
  std::uint32_t& newest = tags_.waiters(slot);
  if (newest == kNone) {
    transaction.next = index;
  } else {  // a ring that is entered at its newest, whose next is the oldest
    transaction.next = shared_.pool[newest].next;
    shared_.pool[newest].next = index;
  }
  newest = index;
}

/// A wait is accounted for from its end backwards along what the fill went through: whoever joined late saw only
/// the last of it.
void Fills::account(Transaction& waiter, const Transaction& filled) const {
  std::uint32_t left = static_cast<std::uint32_t>(shared_.now - waiter.since);
  const auto part = [&left](std::uint32_t length, std::uint32_t& segment) {
    const std::uint32_t taken = std::min(left, length);
    segment += taken;
    left -= taken;
  };
  Segments& segments = waiter.segments;
  part(filled.back, segments.partition);
  part(filled.segments.dram, segments.dram);
  part(filled.segments.dram_queue, segments.dram_queue);
  part(filled.segments.l2, segments.l2);
  part(filled.segments.partition, segments.partition);
  FORETRACE_ASSERT(left == 0, "a transaction waited longer for a fill than the fill was under way");
  waiter.since = shared_.now;
}

}  // namespace foretrace::memory
