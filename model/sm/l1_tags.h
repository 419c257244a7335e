// The tag array of the unified L1: which sectors of which 128-byte lines are here or on their way.
//
// Models:  sectored lines in hashed sets; a sector that was asked for counts as present (its data comes later);
//          stores allocate and mark what they write; data always goes on to L2. A load finds words that a store left in a sector that is
//          not here; a store that follows another one which is still on its way leaves nothing else of its sector.
//          Replacement: lines that were used again after they had come are kept apart, so many at most; the oldest of the others goes, and of
//          those that were used last in the same stretch of accesses any.
// Source:  NCU, CIC (docs/sources.md); store hits: an H100 counts them in l1tex__t_sector_hit_rate too; sets and replacement:
//          validate/microbenchmarks/l1_replacement.cu (H200).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/sm/line_ages.h"
#include "model/spec/gpu_spec.h"
#include "model/support/large_pages.h"
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
    std::uint8_t written = 0;    ///< sectors that a store touched: its words are here
    bool by_texture = false;     ///< the last that missed it was a lookup
  };

  /// What stores left of a line's sectors, while not all of a sector is here.
  struct Stored {
    std::array<std::uint32_t, kSectorsPerLine> bytes{};  ///< that are here
    std::array<std::uint32_t, kSectorsPerLine>
        out{};              ///< cycle in which the last store to it has left the SM, 0: none has
    std::uint8_t held = 0;  ///< sectors whose last store is held back in the SM
  };

  L1Tags(std::uint64_t bytes, const spec::L1Spec& spec);

  /// The line's entry, nullptr when it is not here.
  Entry* find(std::uint64_t line) {
    for (std::uint32_t slot = slot_of(line);; slot = (slot + 1) & slot_mask_) {
      const Slot& found = slots_[slot];
      if (found.entry == kEmpty) return nullptr;
      if (found.mark == mark_of(line) && entries_[found.entry].line == line) return &entries_[found.entry];
    }
  }
  /// An entry that was found is used: it is the youngest of its set and one of those that were used again.
  void use(const Entry& entry);
  /// The line will be looked for soon.
  [[gnu::always_inline]] void bring(std::uint64_t line) const { support::prefetch(&slots_[slot_of(line)]); }
  /// The same, once that has come: its entry, where it is here.
  [[gnu::always_inline]] void bring_entry(std::uint64_t line) const {
    const Slot& found = slots_[slot_of(line)];
    if (found.mark == mark_of(line) && found.entry != kEmpty) support::prefetch(&entries_[found.entry]);
  }
  /// The entry at the position will be looked at soon, and where its line lies.
  [[gnu::always_inline]] void bring_at(std::uint32_t position) const {
    support::prefetch(&entries_[position]);
    support::prefetch(&places_[position]);
  }
  /// Takes an entry of the line's set for the line. Only after find() found nothing.
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
  /// No sector of global memory is here any more (CCTL.IVALL, which fences and acquiring loads of the device bring). Local memory and what
  /// lookups brought stay (H200, l1_invalidations).
  void invalidate();
  /// A store of `bytes` to `sectors` of the line at `now`; `joins`: it leaves the SM together with the store before, `held`: it waits there
  /// until left() says that it has left. Returns the sectors to which another store is on its way out: it is no hit (H100, store_order), and
  /// leaves nothing of the sector but its own bytes (written_words).
  std::uint8_t store(Entry& entry, std::uint8_t sectors,
                     const std::array<std::uint32_t, kSectorsPerLine>& bytes, bool joins, bool held,
                     Cycle now);
  /// A store to the line has left the SM, or will have at `out`.
  void left(std::uint64_t line, std::uint8_t sectors, Cycle out);
  /// The sectors are not here any more: L2 has changed them.
  void drop(Entry& entry, std::uint8_t sectors);
  /// Those of `sectors`, not here as a whole, of which stores left all `bytes`.
  std::uint8_t covered(const Entry& entry, std::uint8_t sectors,
                       const std::array<std::uint32_t, kSectorsPerLine>& bytes) const;

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  static constexpr std::uint32_t kLists = 2;  // of a set: lines used once, lines used again
  struct Slot {
    std::uint32_t mark = 0, entry = kEmpty;
  };
  struct Set {
    std::uint32_t taken = 0;     // entries that hold a line
    std::uint32_t accesses = 0;  // uses of its entries and lines taken
  };
  /// Neighbouring lines are in different sets, and so are those that lie any power of two apart.
  std::uint32_t set_of(std::uint64_t line) const {
    if (set_bits_ == 0) return 0;
    for (std::uint32_t shift = widest_fold_; shift >= set_bits_; shift /= 2) line ^= line >> shift;
    return static_cast<std::uint32_t>(line) & ((1u << set_bits_) - 1);
  }
  std::uint32_t stretch(Set& set) const { return set.accesses++ / stretch_; }
  /// A line's place in the table that is searched (Fibonacci hashing), and most of its number in half the bytes.
  std::uint32_t slot_of(std::uint64_t line) const {
    return static_cast<std::uint32_t>(line * 0x9e3779b97f4a7c15u >> slot_shift_);
  }
  static std::uint32_t mark_of(std::uint64_t line) { return static_cast<std::uint32_t>(line ^ line >> 32); }
  std::uint32_t victim(std::uint32_t set);
  void enter(std::uint64_t line, std::uint32_t entry);
  void leave(std::uint64_t line);

  std::uint32_t set_bits_, widest_fold_, lines_per_set_, again_per_set_, stretch_;
  std::vector<Entry> entries_;         // a set's lie together
  std::vector<Stored> stored_;         // by entry; none before the first store
  std::vector<std::uint32_t> places_;  // by entry
  std::vector<Set> sets_;
  LineAges ages_;  // by entry; lists 2 s and 2 s + 1 are set s's
  std::uint32_t slot_mask_ = 0, slot_shift_ = 0;
  support::LargeVector<Slot> slots_;
  std::uint32_t places_taken_ = 0;
  bool used_ = false;      // since all was invalid
  std::uint32_t any_ = 1;  // chooses among lines that are equally old
};

}  // namespace foretrace::sm
