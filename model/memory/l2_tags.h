// What the L2 slices hold: tags, sector states, byte masks of partly written sectors, and which lines were
// written first.
//
// Models:  sectored set-associative slices, write-back, replacement of the least recently used of half the
//          ways (the half rotates at random), which gives the sloping capacity knees that pointer chases
//          show (RRZE gpu-latency); a list of a slice's dirty lines, oldest first; how many lines of a set are
//          partly written.
// Ignores: persisting accesses, compression, eviction hints.
// Source:  128-byte lines of four sectors with byte masks: ASIM, JIA. The replacement policy is
//          unpublished: assumed. Dirty and partly written lines in
//          numbers: our profiled_traffic and partly_written on H100.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "model/support/large_pages.h"
#include "model/units/units.h"

namespace foretrace::memory {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};
inline constexpr std::uint8_t kWholeLine = (1u << kSectorsPerLine) - 1;  ///< all sectors of a line

class L2Tags {
 public:
  struct Line {
    std::uint8_t valid : 4 = 0;    ///< sectors that are complete
    std::uint8_t dirty : 4 = 0;    ///< sectors DRAM does not have; dirty and not valid: partly written
    std::uint8_t pending : 4 = 0;  ///< sectors on their way
    bool listed : 1 = false;       ///< among the slice's dirty lines
    std::uint16_t stamp = 0;       ///< the set's clock at the last use
    std::uint8_t partly() const { return static_cast<std::uint8_t>(dirty & ~valid); }
  };

  L2Tags(std::uint32_t slices, std::uint32_t sets, std::uint32_t ways);

  /// Slot of a line in a set (numbered over all slices: slice x sets + set), kNone if it is not there.
  std::uint32_t find(std::uint32_t set, std::uint32_t tag) const {
    const std::uint32_t first = set * ways_;
    std::uint32_t way = 0;
#ifdef __SSE2__
    const auto* four = reinterpret_cast<const __m128i*>(tags_.data() + first);
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    std::uint32_t found = 0;
    for (; way + 4 <= ways_; way += 4) {
      const __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128(four++), wanted);
      found |= static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(same))) << way;
    }
    if (found) return first + static_cast<std::uint32_t>(std::countr_zero(found));
#endif
    for (; way < ways_; ++way) {
      if (tags_[first + way] == tag) return first + way;
    }
    return kNone;
  }
  /// A slot to put a new line in: an empty one, or a victim with nothing pending (and nothing dirty, unless
  /// `dirty_too`). kNone if there is none. A copy does not get the last way that has nothing pending. The
  /// caller saves what is dirty, then calls install.
  std::uint32_t victim(std::uint32_t set, bool dirty_too, bool copy);
  /// Whether no line came to a set since all were made invalid.
  bool untouched(std::uint32_t set) const {
    return clock_[set] == 0 && tags_[std::size_t{set} * ways_] == kEmpty;
  }
  /// Puts an empty line, nothing of it listed, into a slot.
  void install(std::uint32_t slot, std::uint32_t tag);
  /// Drops sectors of a copy, and the line when nothing is left or pending.
  void drop(std::uint32_t slot, std::uint8_t sectors);
  void touch(std::uint32_t slot) { lines_[slot].stamp = ++clock_[set_of(slot)]; }

  Line& operator[](std::uint32_t slot) { return lines_[slot]; }
  const Line& operator[](std::uint32_t slot) const { return lines_[slot]; }
  std::uint32_t tag_of(std::uint32_t slot) const { return tags_[slot]; }
  std::uint32_t set_of(std::uint32_t slot) const { return power_of_two_ ? slot >> log2_ways_ : slot / ways_; }
  /// Newest of the ring of transactions that wait for pending sectors, kNone without any.
  std::uint32_t& waiters(std::uint32_t slot) { return slots_[slot].waiters; }
  /// Bytes written so far of a partly written sector.
  std::uint32_t& bytes(std::uint32_t slot, int sector) {
    return slots_[slot].bytes[static_cast<std::size_t>(sector)];
  }

  /// Dirty lines of a slice, in the order in which they were last written.
  void put_newest_dirty(std::uint32_t slot);
  void remove_dirty(std::uint32_t slot);
  bool listed_dirty(std::uint32_t slot) const { return lines_[slot].listed; }
  /// The slice must have one.
  std::uint32_t oldest_dirty(std::uint32_t slice);
  std::uint32_t dirty_count(std::uint32_t slice) const { return queues_[slice].lines; }

  /// Lines of a set with partly written sectors, and the one of them that was used longest ago.
  struct Partly {
    std::uint32_t count = 0, oldest = kNone;
  };
  Partly partly(std::uint32_t set) const;

  void invalidate_all();
  /// The set will be looked up soon.
  [[gnu::always_inline]] void bring_set(std::uint32_t set) const {
    const std::size_t slot = std::size_t{set} * ways_;
    support::prefetch(tags_.data() + slot);
    support::prefetch(lines_.data() + slot);
  }
  [[gnu::always_inline]] void bring_tags(std::uint32_t set) const {
    support::prefetch(tags_.data() + std::size_t{set} * ways_);
  }
  [[gnu::always_inline]] void bring_slot(std::uint32_t slot) const {
    support::prefetch(lines_.data() + slot);
    support::prefetch(slots_.data() + slot);
  }
  /// As bring_set, for a write to the line: where it stands is looked up.
  [[gnu::always_inline]] void bring_written(std::uint32_t set, std::uint32_t tag) const {
    const std::uint32_t slot = find(set, tag);
    if (slot == kNone) return;
    support::prefetch(slots_.data() + slot);
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  /// A slice's dirty lines, each where it was put last: where its turn is not the line's present one it stands for nothing.
  struct DirtyQueue {
    struct Place {
      std::uint32_t slot, turn;
    };
    std::vector<Place> places;
    std::size_t first = 0;    // the places before it were left
    std::uint32_t turn = 0;   // of the place put last
    std::uint32_t lines = 0;  // listed
  };
  struct alignas(32) Slot {  // half a cache line of the host
    std::array<std::uint32_t, kSectorsPerLine>
        bytes{};                    // written of each sector, where it is written in part
    std::uint32_t turn = 0;         // in the slice's queue of dirty lines; 0: not in it
    std::uint32_t waiters = kNone;  // newest of them
  };
  void tidy(DirtyQueue& queue);
  void invalidate(std::uint32_t set);
  std::uint32_t sets_, ways_, log2_ways_;
  bool power_of_two_;  // ways_
  support::LargeVector<std::uint32_t> tags_;
  support::LargeVector<Line> lines_;
  support::LargeVector<Slot> slots_;
  support::LargeVector<std::uint16_t> clock_;  // uses, by set
  std::vector<std::uint32_t> random_;          // by slice
  std::vector<DirtyQueue> queues_;             // by slice
  std::size_t most_filled_;                    // sets that are remembered
  std::vector<std::uint32_t>
      filled_;  // sets that a line came to since all were invalid, some of them repeatedly, if not too many
};

}  // namespace foretrace::memory
