// What brings sectors into a slice, and who waits for them.
//
// Models:  a miss asks DRAM at the line's home, else the home slice in the other partition; a slice has so many lines with sectors on
//          their way; whoever needs sectors that are on their way waits for them, in order.
// Time:    L2 cycles. A wait is attributed to the parts that the fill went through.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/dram_path.h"
#include "model/memory/l2_tags.h"
#include "model/memory/partition_link.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class Fills {
 public:
  Fills(Shared& shared, L2Tags& tags, DramPath& dram, const PartitionLink& link);

  /// Whether the queue (Shared::queue_of) has as many lines with sectors on their way as it may.
  bool full(std::uint32_t queue) const { return lines_[queue] >= shared_.spec.l2.misses; }
  /// The sectors that come where `sectors` are asked for: those of whole DRAM accesses; an atomic from the other partition
  /// brings its own alone (H200, cold_units).
  std::uint8_t brought_for(const Transaction& transaction, std::uint8_t sectors) const {
    return is_atomic(transaction) && transaction.near != transaction.home ? sectors
                                                                          : dram_.granules_of(sectors);
  }
  /// Asks for sectors of the line in `slot` that the transaction misses.
  void request(std::uint32_t slot, const Transaction& transaction, std::uint8_t sectors);
  /// The transaction waits for sectors that are on their way.
  void wait(std::uint32_t index, std::uint32_t slot, std::uint8_t sectors);
  /// The fill's sectors are there: complete(index, slot) for each transaction that waits for nothing else. The fill is gone then.
  template <typename Complete>
  void arrive(std::uint32_t index, Complete&& complete) {
    Transaction& filled = shared_.pool[index];
    const std::uint32_t slot = filled.slot;
    L2Tags::Line& line = tags_[slot];
    line.valid = (line.valid | filled.sectors) & kWholeLine;
    line.pending = without(line.pending, filled.sectors) & kWholeLine;
    if (line.pending == 0)
      --lines_[2 * shared_.slice_of(filled) + (filled.kind == Transaction::Kind::far_read ? 1 : 0)];
    const std::uint32_t newest = tags_.waiters(slot);
    if (newest != kNone) {
      tags_.waiters(slot) = kNone;
      std::uint32_t at = shared_.pool[newest].next;
      while (true) {
        Transaction& waiter = shared_.pool[at];
        const std::uint32_t following = waiter.next;
        waiter.wait = without(waiter.wait, filled.sectors);
        if (waiter.wait != 0) {
          wait(at, slot, waiter.wait);
        } else {
          account(waiter, filled);
          complete(at, slot);
        }
        if (at == newest) break;
        at = following;
      }
    }
    shared_.pool.give_back(index);
  }

 private:
  void account(Transaction& waiter, const Transaction& filled) const;

  Shared& shared_;
  L2Tags& tags_;
  DramPath& dram_;
  const PartitionLink& link_;
  std::vector<std::uint32_t> lines_;  // with sectors on their way, by queue
};

}  // namespace foretrace::memory
