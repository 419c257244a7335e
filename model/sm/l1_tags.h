// The tag array of the unified L1: which sectors of which 128-byte lines are here or on their way.
//
// Models:  sectored lines, hashed sets, least recently used way; a sector that was asked for counts as present (its data comes later);
//          stores allocate and mark what they write; data always goes on to L2. A load finds words that a store left in a sector that is
//          not here; a store that follows another one which is still on its way leaves nothing else of its sector.
// Source:  NCU, CIC (docs/sources.md); store hits: an H100 counts them in l1tex__t_sector_hit_rate too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/memory/large_pages.h"
#include "model/units/units.h"

namespace foretrace::sm {

class L1Tags {
 public:
  struct Entry {
    std::uint64_t line = ~std::uint64_t{0};
    std::int32_t pending =
        -1;  ///< newest outstanding request of this line, linked list in the memory pipe; -1: none
    std::uint8_t valid = 0;      ///< sectors present or asked for
    std::uint8_t in_flight = 0;  ///< of those, asked for and not yet arrived
    std::uint8_t written = 0;    ///< sectors that a store touched: later stores to them count as hits
  };

  /// What stores left of a line's sectors, while not all of a sector is here.
  struct Stored {
    std::array<std::uint32_t, kSectorsPerLine> bytes{};  ///< that are here
    std::array<std::uint32_t, kSectorsPerLine> last{};   ///< cycle of the last store, 0: none
  };

  L1Tags(std::uint64_t bytes, std::uint32_t ways);

  /// The line's entry, nullptr when it is not here. A hit makes it the youngest of its set.
  Entry* find(std::uint64_t line);
  /// The line will be looked for soon.
  [[gnu::always_inline]] void bring(std::uint64_t line) const {
    const std::size_t first = std::size_t{set_of(line)} * ways_;
    memory::prefetch(&marks_[first]);
    memory::prefetch(&used_[first]);
  }
  /// The same, once that has come: its entry, where it is here.
  [[gnu::always_inline]] void bring_entry(std::uint64_t line) const {
    const std::uint32_t first = set_of(line) * ways_, mark = mark_of(line);
    for (std::uint32_t at = first; at < first + ways_; ++at) {
      if (marks_[at] == mark) memory::prefetch(&entries_[at]);
    }
  }
  /// Takes the oldest way of the line's set for the line. Only after find() found nothing.
  Entry& allocate(std::uint64_t line);
  /// Entry by its position, for replies; nullptr when it holds another line by now.
  Entry* at(std::uint32_t position, std::uint64_t line) {
    return position < entries_.size() && entries_[position].line == line ? &entries_[position] : nullptr;
  }
  std::uint32_t position(const Entry& entry) const {
    return static_cast<std::uint32_t>(&entry - entries_.data());
  }
  /// Where an entry's line lies in the SM's array, in bytes from L1's start: entries get their places as they are first taken.
  std::uint64_t place(std::uint32_t position) const { return std::uint64_t{places_[position]} * kLineBytes; }
  void invalidate();
  /// A store of `bytes` to `sectors` of the line at `now`; `joins`: it leaves the SM together with the store before. A store to a sector
  /// while another one to it is on its way (for `flight` cycles) leaves nothing of the sector but its own bytes (H100, written_words). Returns those sectors.
  std::uint8_t store(Entry& entry, std::uint8_t sectors,
                     const std::array<std::uint32_t, kSectorsPerLine>& bytes, bool joins, Cycle now,
                     Cycle flight);
  /// The sectors are not here any more: L2 has changed them.
  void drop(Entry& entry, std::uint8_t sectors);
  /// Those of `sectors`, not here as a whole, of which stores left all `bytes`.
  std::uint8_t covered(const Entry& entry, std::uint8_t sectors,
                       const std::array<std::uint32_t, kSectorsPerLine>& bytes) const;

 private:
  std::uint32_t set_of(std::uint64_t line) const {
    const std::uint64_t mixed = (line ^ (line >> 7) ^ (line >> 17)) & 0xffffffffu;
    // mixed % sets_ for 32-bit numbers without a division (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((Wide{share_of_set_ * mixed} * sets_) >> 64);
  }
  /// Most of a line's number in half the bytes: what a search compares first.
  static std::uint32_t mark_of(std::uint64_t line) { return static_cast<std::uint32_t>(line ^ line >> 32); }
  std::vector<Entry> entries_;
  std::vector<Stored> stored_;                // by entry; none before the first store
  memory::LargeVector<std::uint32_t> marks_;  // by entry
  memory::LargeVector<std::uint32_t> used_;   // by entry: the clock when it was used last
  std::vector<std::uint32_t> places_;         // by entry
  std::uint32_t ways_, sets_, places_taken_ = 0;
  std::uint64_t share_of_set_;  // 2^64 / sets_, rounded up; 0: one set
  std::uint32_t clock_ = 0;     // searches that hit, and lines taken
};

}  // namespace foretrace::sm
