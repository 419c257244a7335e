// The lines that the slices hold: who gets a place, what is written and not yet in DRAM, copies of far lines, and what was written
// before the launch.
//
// Models:  write-back with byte masks. A slice keeps so many dirty lines, a set so many partly written ones; beyond that the oldest is
//          saved, and where the channels' write queues are full, a store has to wait. Partly written sectors are read before they are
//          saved. What an SM writes whole to the other partition's lines stays beside it as a copy. A cold launch finds dirty lines of others in
//          each set.
// Ignores: see l2_tags.h, which holds the state.
// Source:  profiled_traffic, partly_written, sides on H100; values in configs/ under l2.
#pragma once

#include <cstdint>

#include "model/memory/dram_path.h"
#include "model/memory/l2_tags.h"
#include "model/memory/shared.h"
#include "model/memory/slice_ports.h"

namespace foretrace::memory {

/// What the slices hold between two launches.
struct L2Contents {
  L2Tags tags;
  std::uint32_t left_behind = 0;  ///< as in L2Lines
};

class L2Lines {
 public:
  L2Lines(Shared& shared, SlicePorts& ports, DramPath& dram);

  L2Tags& tags() { return tags_; }
  const L2Tags& tags() const { return tags_; }

  /// A place for a line that is not there, which is installed empty; kNone: none is to be had now. `copy`: of the other partition's.
  std::uint32_t claim(std::uint32_t slice, std::uint32_t set, std::uint32_t tag, bool copy);
  /// A store's bytes to a line at home, which is given a place if need be; no fill is needed. False when it has to wait for a place or for
  /// room in a write queue, or needs either and others of its queue wait already (`behind`).
  bool write(const Write& write, std::uint32_t slice, std::uint32_t set, std::uint32_t tag,
             std::uint8_t sectors, bool behind);
  /// Sectors of a line that is there are written by an atomic.
  void make_dirty(std::uint32_t slice, std::uint32_t slot, std::uint8_t sectors, bool newly_partly);
  /// A store to a far line passes its copy's set: sectors that it writes whole are there from now on, if a place is to be had.
  void keep_copy(const Write& write, std::uint32_t slice, std::uint32_t set, std::uint32_t tag,
                 std::uint8_t sectors);
  /// A copy's sectors are no longer true.
  void drop_copy(std::uint32_t set, std::uint32_t tag, std::uint8_t sectors) {
    if (shared_.spec.l2.partitions < 2) return;
    const std::uint32_t slot = tags_.find(set, tag);
    if (slot != kNone) tags_.drop(slot, sectors);
  }
  /// Whether the near slice can answer a read of a far line.
  bool has_copy(const Passage& passage) const {
    const std::uint32_t slot = tags_.find(shared_.set_of(passage), passage.tag);
    return slot != kNone && without(passage.sectors, tags_[slot].valid) == 0;
  }
  /// Whether a slice beside the SM has a copy of sectors that a store brings to a far line.
  bool follows(const Event& write) const {
    if (write.at_home()) return false;
    const std::uint32_t slot =
        tags_.find(shared_.copy_set(write.home() != 0, write.slice_index(), write.set()), write.tag());
    return slot != kNone && (write.sectors() & (tags_[slot].valid | tags_[slot].pending)) != 0;
  }
  /// A cold launch: nothing is there but what others left.
  void restart_cold();
  L2Contents contents() const { return {tags_, left_behind_}; }
  /// Of the same chip's L2.
  void put(const L2Contents& contents) {
    tags_ = contents.tags;
    left_behind_ = contents.left_behind;
  }

 private:
  /// Tags of lines that were written before the launch: the last ones, the home partition in bit 0 as in all tags.
  static constexpr std::uint32_t kLeftBehind = 0xffff'0000;
  static constexpr std::uint32_t kWholeSector = ~std::uint32_t{0};

  bool writes_partly(const Write& write, std::uint8_t sectors, std::uint32_t slot) const;
  void leave_behind(std::uint32_t set);
  void save(std::uint32_t slot);

  Shared& shared_;
  SlicePorts& ports_;
  DramPath& dram_;
  L2Tags tags_;
  const std::uint32_t dirty_limit_;   // dirty lines per slice
  const std::uint32_t partly_limit_;  // lines with partly written sectors per set
  // Of the lines that a cold launch finds written, what a set holds on average, in 2^-16; 0: none are left. They come to a set
  // when the launch first claims a line of it.
  std::uint32_t left_behind_ = 0;
};

}  // namespace foretrace::memory
