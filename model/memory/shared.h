// What all parts of the memory system share: the chip, its clocks, the time, what is under way, and what was counted.
//
// Models:  nothing. Parts see each other's doing here and in the events alone, unless one is given another.
// Time:    `now` is the L2 cycle whose events are being handled.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/memory/clock_ratio.h"
#include "model/memory/event.h"
#include "model/memory/peer_memory.h"
#include "model/memory/signals.h"
#include "model/memory/topology.h"
#include "model/memory/transaction.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/memory_counters.h"
#include "model/support/calendar.h"

namespace foretrace::memory {

inline bool at_home(const Passage& t) { return t.at == t.home; }
inline bool is_atomic(const Packet& t) {
  return t.kind == Transaction::Kind::atomic || t.kind == Transaction::Kind::reduction;
}
/// Sectors of a mask that another does not have.
inline std::uint8_t without(std::uint8_t sectors, std::uint8_t taken) {
  return static_cast<std::uint8_t>(sectors & ~taken);
}

struct Shared {
  /// Fails where the chip has more of something than packets and events can number.
  explicit Shared(const spec::GpuSpec& chip);

  /// Slice and set, among those of all slices, where a packet is looked up.
  std::uint32_t slice_of(const Passage& t) const { return map.slice(t.at, t.index); }
  std::uint32_t set_of(const Passage& t) const { return map.set(slice_of(t), t.set); }
  std::uint32_t slice_of(const Event& event) const { return map.slice(event.at(), event.slice_index()); }
  std::uint32_t set_of(const Event& event) const { return map.set(slice_of(event), event.set()); }
  /// A slice keeps what it holds of lines at home and what it copies from the other partition apart: two slices whose entries were
  /// all taken by copies would wait for each other for ever.
  std::uint32_t queue_of(const Passage& t) const { return 2 * slice_of(t) + (at_home(t) ? 0 : 1); }
  std::uint32_t queue_of(const Event& event) const { return 2 * slice_of(event) + (event.at_home() ? 0 : 1); }
  /// Of the slice in the other partition that may hold a copy: of the line whose home this is, or the other way round.
  std::uint32_t copy_set(bool home, std::uint32_t slice_index, std::uint32_t set) const {
    return map.set(map.slice(home ? 0 : 1, slice_index), set);
  }
  std::uint32_t gpc_of(std::uint32_t sm) const { return sm_place[sm].gpc; }
  /// Time zero of a new launch; nothing may be under way. What L2 still holds dirty is kept if `warm`.
  void restart(bool warm);

  struct SmPlace {
    std::uint32_t gpc = 0, cpc = 0, partition = 0;
    Ways ways;
  };
  const spec::GpuSpec spec;
  const AddressMap map;
  const ClockRatio sm_to_l2, l2_to_sm, l2_to_dram, dram_to_l2;
  std::vector<SmPlace> sm_place;
  Ways shortest;                           ///< of all SMs
  std::shared_ptr<const PeerMemory> peer;  ///< of this launch; null: all memory is the device's own

  std::uint64_t now = 0;
  support::Calendar<Event> events;
  Pool<Transaction> pool;
  Pool<Write> writes;
  Signals signals;
  stats::MemoryCounters counters;
};

}  // namespace foretrace::memory
