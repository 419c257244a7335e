// Between the L2 slices and the DRAM channels: fills, write-backs, and the channels' turns.

#include <algorithm>

#include "model/memory/implementation.h"

namespace foretrace::memory {

/// The sectors of the DRAM accesses that hold `sectors`: reads bring whole accesses into L2.
std::uint8_t MemorySystem::Implementation::granules_of(std::uint8_t sectors) const {
  std::uint32_t result = 0;
  for (std::uint32_t first = 0; first < kSectorsPerLine; first += granule_sectors_) {
    const std::uint32_t granule = ((1u << granule_sectors_) - 1) << first;
    if (sectors & granule) result |= granule;
  }
  return static_cast<std::uint8_t>(result);
}

/// Asks for sectors of the line in `slot`: DRAM at home, else the home slice in the other partition.
void MemorySystem::Implementation::request_fill(std::uint32_t slot, const Transaction& transaction,
                                                std::uint8_t sectors) {
  const std::uint32_t index = pool_.take();
  Transaction& asked = pool_[index];
  asked = {};
  asked.set = transaction.set;
  asked.tag = transaction.tag;
  asked.index = transaction.index;
  asked.near = transaction.at;  // where it is brought to
  asked.at = transaction.home;
  asked.home = transaction.home;
  asked.slot = slot;
  asked.since = now_;
  // What comes along is kept, unless L2 has it or awaits it already. The far side is asked for whole
  // accesses as well.
  L2Tags::Line& line = tags_[slot];
  const std::uint8_t granules = granules_of(sectors);
  asked.sectors =
      static_cast<std::uint8_t>(granules & ~std::uint32_t{line.valid} & ~std::uint32_t{line.pending});
  asked.visits = static_cast<std::uint8_t>(sector_count(asked.sectors));
  line.pending = (line.pending | asked.sectors) & kWholeLine;
  if (!at_home(transaction)) {
    asked.kind = Transaction::Kind::far_read;
    asked.crossed = true;
    events_.push(now_ + spec_.network.partition_latency, {index, EventKind::arrive, asked, false});
    return;
  }
  asked.kind = Transaction::Kind::fill;
  counters_.fill_sectors += sector_count(static_cast<std::uint8_t>(asked.sectors & line.partly()));
  send(map_.dram({transaction.home ? 1u : 0u, transaction.index, transaction.set, transaction.tag}),
       sector_count(granules) * kSectorBytes, index, false);
}

/// Writes a line's dirty sectors to DRAM; it stays, clean. Partly written sectors are read first, to
/// complete them: alone, without the rest of an access (measured on H100: 32 bytes each).
void MemorySystem::Implementation::save_dirty(std::uint32_t slot) {
  L2Tags::Line& line = tags_[slot];
  const DramPlace place = map_.dram(map_.place_of(tags_.set_of(slot), tags_.tag_of(slot)));
  const std::uint8_t partly = static_cast<std::uint8_t>(line.partly() & ~line.pending);
  if (partly) {
    counters_.fill_sectors += sector_count(partly);
    send(place, sector_count(partly) * kSectorBytes, kNone, false);
  }
  const std::uint32_t sectors = sector_count(line.dirty);
  counters_.dram_bytes_write += sectors * std::uint64_t{kSectorBytes};
  if (tags_.tag_of(slot) < kLeftBehind) counters_.dirty_sectors_left -= sectors;  // the launch's own
  send(place, sectors * kSectorBytes, kNone, true);
  line.valid = (line.valid | partly) & kWholeLine;
  line.dirty = 0;
  tags_.remove_dirty(slot);
}

/// Whether the write queues of the slice's channels have room.
bool MemorySystem::Implementation::may_save(std::uint32_t slice) const {
  const auto [first, last] = map_.channels_of(slice);
  return std::none_of(channel_.begin() + first, channel_.begin() + last,
                      [](const DramChannel& c) { return c.writes_full(); });
}

void MemorySystem::Implementation::send(const DramPlace& place, std::uint32_t bytes, std::uint32_t tag,
                                        bool write) {
  const std::uint32_t channel = place.channel;
  if (!write) counters_.dram_bytes_read += bytes;
  DramChannel::Access access;
  access.arrival = l2_to_dram_.up(now_ + spec_.dram.latency / 2);
  access.row = place.row;
  access.bank = place.bank;
  // A lone sector takes the bus for as long as a whole access (H100: strided stores of one sector or of two
  // a line run alike).
  access.cycles =
      (std::max(bytes, spec_.dram.access_bytes) + spec_.dram.channel_bytes - 1) / spec_.dram.channel_bytes;
  access.tag = tag;
  access.write = write;
  channel_[channel].enqueue(access);
  const std::uint64_t wake = std::max(now_, dram_to_l2_.up(channel_[channel].wake_time(access.arrival)));
  if (wake < wake_[channel]) {
    wake_[channel] = wake;
    events_.push(wake, {channel, EventKind::channel});
  }
}

void MemorySystem::Implementation::run_channel(std::uint32_t index) {
  if (wake_[index] != now_) return;  // it was called earlier meanwhile
  done_.clear();
  const std::uint64_t next = channel_[index].schedule(l2_to_dram_.up(now_), done_);
  bool wrote = false;
  for (const DramChannel::Done& done : done_) {
    wrote |= done.write;
    if (done.tag == kNone) continue;
    pool_[done.tag].segments.dram_queue = static_cast<std::uint32_t>(dram_to_l2_.down(done.queued));
    events_.push(dram_to_l2_.up(done.end) + (spec_.dram.latency - spec_.dram.latency / 2),
                 {done.tag, EventKind::fill});
  }
  wake_[index] = next == kNever ? kNever : std::max(now_ + 1, dram_to_l2_.up(next));
  if (next != kNever) events_.push(wake_[index], {index, EventKind::channel});
  if (wrote) {
    const auto [first, last] = map_.slices_of(index);
    for (std::uint32_t slice = first; slice < last; ++slice) retry_later(slice);
  }
}

}  // namespace foretrace::memory
