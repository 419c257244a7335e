// The records of a launch's blocks in the order in which blocks are placed: clusters go to the GPCs in turn, their source gives index order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "model/units/error.h"
#include "model/work/block_source.h"

namespace foretrace::gpu {

class BlockRecords {
 public:
  /// `clusters`: blocks may be asked for out of order. The source must outlive the object.
  BlockRecords(work::BlockSource& source, bool clusters) : source_(source), clusters_(clusters) {}

  /// The block that is placed next.
  std::shared_ptr<const work::BlockRecord> take(std::uint64_t block) {
    for (;;) {
      if (const auto found = early_.find(block); found != early_.end()) {
        auto record = std::move(found->second);
        early_.erase(found);
        return record;
      }
      auto record = source_.next();
      FORETRACE_ASSERT(record != nullptr, "the source has a record for every block");
      if (!clusters_) return record;
      early_.emplace(record->block, std::move(record));
    }
  }

 private:
  work::BlockSource& source_;
  const bool clusters_;
  std::map<std::uint64_t, std::shared_ptr<const work::BlockRecord>> early_;  // that came before their turn
};

}  // namespace foretrace::gpu
