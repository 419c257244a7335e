#include "model/memory/dram_path.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {

DramPath::DramPath(Shared& shared)
    : shared_(shared), granule_sectors_(shared.spec.dram.access_bytes / kSectorBytes),
      wake_(shared.spec.dram.channels, kNever) {
  const spec::DramSpec& dram = shared.spec.dram;
  FORETRACE_ASSERT(dram.access_bytes == 32 || dram.access_bytes == 64 || dram.access_bytes == 128,
                   "DRAM accesses are of one, two or four sectors");
  channel_.reserve(dram.channels);
  for (std::uint32_t i = 0; i < dram.channels;
       ++i) {  // refreshes of the channels are spread over the interval
    channel_.emplace_back(dram, std::uint64_t{dram.refresh_interval} * (i + 1) / dram.channels);
  }
}

bool DramPath::may_write(std::uint32_t slice) const {
  const auto [first, last] = shared_.map.channels_of(slice);
  return std::none_of(channel_.begin() + first, channel_.begin() + last,
                      [](const DramChannel& c) { return c.writes_full(); });
}

void DramPath::send(const DramPlace& place, std::uint32_t bytes, std::uint32_t tag, bool write) {
  const spec::DramSpec& dram = shared_.spec.dram;
  DramChannel& channel = channel_[place.channel];
  DramChannel::Access access;
  access.arrival = shared_.l2_to_dram.up(shared_.now + dram.latency / 2);
  access.row = place.row;
  access.bank = place.bank;
  // A lone sector takes the bus for as long as a whole access (H100: strided stores of one sector or of two
  // a line run alike).
  access.cycles = (std::max(bytes, dram.access_bytes) + dram.channel_bytes - 1) / dram.channel_bytes;
  access.tag = tag;
  access.write = write;
  channel.enqueue(access);
  const std::uint64_t wake = std::max(shared_.now, shared_.dram_to_l2.up(channel.wake_time(access.arrival)));
  if (wake < wake_[place.channel]) {
    wake_[place.channel] = wake;
    shared_.events.push(wake, {place.channel, EventKind::channel});
  }
}

bool DramPath::run(std::uint32_t channel) {
  const std::uint64_t now = shared_.now;
  if (wake_[channel] != now) return false;  // it was called earlier meanwhile
  done_.clear();
  const std::uint64_t next = channel_[channel].schedule(shared_.l2_to_dram.up(now), done_);
  const std::uint32_t latency = shared_.spec.dram.latency;
  bool wrote = false;
  for (const DramChannel::Done& done : done_) {
    wrote |= done.write;
    if (done.tag == kNone) continue;
    shared_.pool[done.tag].segments.dram_queue =
        static_cast<std::uint32_t>(shared_.dram_to_l2.down(done.queued));
    shared_.events.push(shared_.dram_to_l2.up(done.end) + (latency - latency / 2),
                        {done.tag, EventKind::fill});
  }
  wake_[channel] = next == kNever ? kNever : std::max(now + 1, shared_.dram_to_l2.up(next));
  if (next != kNever) shared_.events.push(wake_[channel], {channel, EventKind::channel});
  return wrote;
}

bool DramPath::idle() const {
  return std::all_of(channel_.begin(), channel_.end(), [](const DramChannel& c) { return c.idle(); });
}

void DramPath::count(stats::MemoryCounters& counters) const {
  counters.dram_row_hits = counters.dram_row_misses = counters.dram_busy = 0;
  for (const DramChannel& channel : channel_) {
    counters.dram_row_hits += channel.counters().row_hits;
    counters.dram_row_misses += channel.counters().row_misses;
    counters.dram_busy += channel.counters().busy;
  }
}

void DramPath::restart(bool warm) {
  for (DramChannel& channel : channel_) channel.restart(warm);
  std::fill(wake_.begin(), wake_.end(), kNever);
}

}  // namespace foretrace::memory
