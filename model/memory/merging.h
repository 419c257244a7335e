// Reads that are answered together with an earlier one.
//
// Models:  where an SM's read enters L2, a read of the same sectors from the same GPC that was not answered yet
//          takes the new one along: it is not looked up, and the answer crosses to the GPC once for all. So many
//          readers at most share an answer; none joins some cycles after the data were found.
// Ignores: reads of a part of the sectors under way (they go on their own).
// Source:  our request_merging on H100: readers of one GPC merge while the first is under way (some 450 cycles
//          when it comes from DRAM, a few when L2 has it), up to four; those of other GPCs never do.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/l2_tags.h"

namespace foretrace::memory {

/// Reads under way by what they ask for. Open addressing; a key is held at most once.
class Merging {
 public:
  Merging() : entries_(1024) {}

  /// A number that tells reads apart by set (of all slices), tag, GPC and sectors.
  static std::uint64_t key(std::uint32_t set, std::uint32_t tag, std::uint32_t gpc, std::uint8_t sectors) {
    return (std::uint64_t{tag} << 32 | std::uint64_t{set} << 9 | std::uint64_t{gpc} << 4 | sectors) + 1;
  }
  /// The transaction noted under a key, kNone without any.
  std::uint32_t find(std::uint64_t key) const {
    for (std::size_t at = home(key);; at = next(at)) {
      if (entries_[at].key == key) return entries_[at].index;
      if (entries_[at].key == 0) return kNone;
    }
  }
  /// Notes a transaction under a key, instead of the one that was there.
  void put(std::uint64_t key, std::uint32_t index) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    std::size_t at = home(key);
    while (entries_[at].key != 0 && entries_[at].key != key) at = next(at);
    count_ += entries_[at].key == 0;
    entries_[at] = {key, index};
  }
  /// Forgets the key if it is this transaction's.
  void remove(std::uint64_t key, std::uint32_t index) {
    std::size_t hole = home(key);
    while (entries_[hole].key != key) {
      if (entries_[hole].key == 0) return;
      hole = next(hole);
    }
    if (entries_[hole].index != index) return;
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
  struct Entry {
    std::uint64_t key = 0;  // 0: empty
    std::uint32_t index = kNone;
  };
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E37'79B9'7F4A'7C15u >> 40) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    count_ = 0;
    for (const Entry& entry : old) {
      if (entry.key != 0) put(entry.key, entry.index);
    }
  }
  std::vector<Entry> entries_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace foretrace::memory
