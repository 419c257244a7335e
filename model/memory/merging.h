// Reads that are answered together with an earlier one.
//
// Models:  before a slice, a place that remembers lines with reads under way: which sectors they ask for, and the first of each
//          GPC. A read of the same sectors from the same GPC joins it: it is not looked up, and the answer crosses to the
//          GPC once for all. So many readers at most share an answer; none joins some cycles after the data were found.
//          A read of other sectors of the line from any GPC beside the same partition, a store or an atomic ends the line's merging: the line is
//          forgotten, and that read is not remembered either. What goes to several SMs (a copy engine's multicast) takes no part in it.
// Ignores: how many lines it remembers (1,024 per SM under way and five others' change nothing).
// Source:  our merging_order and request_merging on H100: widths of windows and random reads agree to 3%; ncu_multicast: 128 blocks that read
//          the same tiles have 1,370,976 of 3,145,728 sectors looked up, by multicasts to one block all of them, to two half. NVIDIA's name for the
//          place is L2 request coalescer (Nsight Compute's lrc), one per slice.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/l2_tags.h"
#include "model/support/large_pages.h"

namespace foretrace::memory {

/// Lines with reads under way. Open addressing; a line is held at most once. An entry stays where it is until the next put or
/// remove.
class Merging {
 public:
  struct Entry {
    std::uint64_t key = 0;          ///< 0: none
    std::uint32_t leaders = kNone;  ///< a list of reads that others of their GPC may join
    std::uint8_t sectors = 0;       ///< that they ask for
  };

  Merging() : entries_(1024) {}

  /// A number that tells lines apart by set (of all slices) and tag.
  static std::uint64_t key(std::uint32_t set, std::uint32_t tag) {
    return (std::uint64_t{tag} << 32 | set) + 1;
  }

  /// The line's entry, nullptr without any.
  Entry* find(std::uint64_t key) {
    for (std::size_t at = home(key);; at = next(at)) {
      if (entries_[at].key == key) return &entries_[at];
      if (entries_[at].key == 0) return nullptr;
    }
  }
  /// The line will be looked for soon.
  [[gnu::always_inline]] void bring(std::uint64_t key) const { support::prefetch(&entries_[home(key)]); }
  /// The first read of the line if it stands at its home, else kNone: for what is asked of the host's caches.
  std::uint32_t leader_at_home(std::uint64_t key) const {
    const Entry& entry = entries_[home(key)];
    return entry.key == key ? entry.leaders : kNone;
  }
  /// Notes a line that is not there.
  void put(const Entry& entry) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    std::size_t at = home(entry.key);
    while (entries_[at].key != 0) at = next(at);
    ++count_;
    entries_[at] = entry;
  }
  /// Forgets what find() gave.
  void remove(Entry* entry) {
    std::size_t hole = static_cast<std::size_t>(entry - entries_.data());
    // What follows moves up where the hole lies between its home and it.
    for (std::size_t at = next(hole); entries_[at].key != 0; at = next(at)) {
      const std::size_t mask = entries_.size() - 1;
      if (((at - home(entries_[at].key)) & mask) >= ((at - hole) & mask)) {
        entries_[hole] = entries_[at];
        hole = at;
      }
    }
    entries_[hole] = {};
    --count_;
  }
  std::size_t size() const { return count_; }

 private:
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E37'79B9'7F4A'7C15u >> 40) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  void grow() {
    support::LargeVector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    count_ = 0;
    for (const Entry& entry : old) {
      if (entry.key != 0) put(entry);
    }
  }
  support::LargeVector<Entry> entries_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace foretrace::memory
