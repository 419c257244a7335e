// Before a slice: reads of a GPC that are answered together with an earlier one (the rules and their source: merging.h).
//
// Models:  who leads the reads of a line, who joins whom, and what ends that.
// Time:    L2 cycles.
#pragma once

#include <cstdint>

#include "model/memory/merging.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class ReadMerging {
 public:
  explicit ReadMerging(Shared& shared) : shared_(shared) {}

  /// Whether the chip merges reads.
  bool on() const { return shared_.spec.l2.merged_reads > 1; }
  /// True when an earlier read of the same sectors takes this one along; else others may join it from now on, unless it asked for other
  /// sectors than those under way.
  bool join(std::uint32_t index);
  /// A read of the line comes soon; at the next cycle, what it would join.
  [[gnu::always_inline]] void bring(std::uint32_t set, std::uint32_t tag) const {
    lines_.bring(Merging::key(set, tag));
  }
  [[gnu::always_inline]] void bring_leader(std::uint32_t set, std::uint32_t tag) const {
    const std::uint32_t leader = lines_.leader_at_home(Merging::key(set, tag));
    if (leader != kNone) shared_.pool.bring(leader);
  }
  /// Something else than a read comes to a line beside its SM.
  void stop(std::uint32_t set, std::uint32_t tag) {
    if (lines_.size() == 0) return;
    Merging::Entry* const entry = lines_.find(Merging::key(set, tag));
    if (entry != nullptr) forget(entry);
  }
  /// The answer of this read, which others may join, leaves.
  void answered(std::uint32_t index);
  /// Lines with reads that others may join.
  std::size_t lines() const { return lines_.size(); }

 private:
  /// Nobody joins what is under way of this line any more.
  void forget(Merging::Entry* entry);
  void lead(Merging::Entry& entry, std::uint32_t index);
  /// The read of this one's GPC that it may join; those whose time is over are forgotten.
  std::uint32_t leader_for(Merging::Entry& entry, const Transaction& transaction);

  Shared& shared_;
  Merging lines_;
};

}  // namespace foretrace::memory
