// Between the L2 slices and the DRAM channels: what is read and written, and the channels' turns.
//
// Models:  the way there and back, half of DRAM's latency each; accesses of so many sectors; a lone sector takes the bus for as long as a
//          whole access; L2 holds back where writes fill a channel's queue.
// Ignores: see dram_channel.h.
// Time:    L2 cycles; each channel in its own clock.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/dram_channel.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class DramPath {
 public:
  explicit DramPath(Shared& shared);

  /// The sectors of the accesses that hold `sectors`: reads bring whole accesses into L2.
  std::uint8_t granules_of(std::uint8_t sectors) const {
    std::uint32_t result = 0;
    for (std::uint32_t first = 0; first < kSectorsPerLine; first += granule_sectors_) {
      const std::uint32_t granule = ((1u << granule_sectors_) - 1) << first;
      if (sectors & granule) result |= granule;
    }
    return static_cast<std::uint8_t>(result);
  }
  /// Reads so many bytes: when they are there, an event `fill` comes for the transaction (kNone: nobody waits for them).
  void read(const DramPlace& place, std::uint32_t bytes, std::uint32_t transaction) {
    shared_.counters.dram_bytes_read += bytes;
    send(place, bytes, transaction, false);
  }
  void write(const DramPlace& place, std::uint32_t bytes) {
    shared_.counters.dram_bytes_write += bytes;
    send(place, bytes, kNone, true);
  }
  /// Whether the write queues of the slice's channels have room.
  bool may_write(std::uint32_t slice) const;
  /// A channel's turn. True when it has written something, so that its slices may write again.
  bool run(std::uint32_t channel);

  bool idle() const;
  /// The channels' counters into the memory system's.
  void count(stats::MemoryCounters& counters) const;
  /// Time zero of a new launch. Rows stay open if `warm`.
  void restart(bool warm);

 private:
  void send(const DramPlace& place, std::uint32_t bytes, std::uint32_t tag, bool write);

  Shared& shared_;
  const std::uint32_t granule_sectors_;  // of an access
  std::vector<DramChannel> channel_;
  std::vector<std::uint64_t> wake_;  // cycle of a channel's next event
  std::vector<DramChannel::Done> done_;
};

}  // namespace foretrace::memory
