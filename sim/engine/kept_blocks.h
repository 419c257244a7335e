// The records of a launch, kept in memory so that it can be simulated again: beside others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/work/block_source.h"

namespace foretrace::engine {

/// Host memory that a record takes, about.
std::size_t bytes_of(const work::BlockRecord& record);

class KeptBlocks {
 public:
  /// Beyond `most_bytes` nothing is kept.
  explicit KeptBlocks(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  /// The next block's, whole.
  void add(std::shared_ptr<const work::BlockRecord> record);
  /// Whether all `blocks` are here.
  bool whole(std::uint64_t blocks) const { return records_.size() == blocks; }
  std::size_t bytes() const { return bytes_; }
  /// From the first block on; the object must outlive it.
  std::unique_ptr<work::BlockSource> open() const;

 private:
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  bool full_ = false;
  std::vector<std::shared_ptr<const work::BlockRecord>> records_;
};

/// Another source's records, of which each is kept as it is given out.
class KeepingBlocks final : public work::BlockSource {
 public:
  /// References must outlive the object.
  KeepingBlocks(work::BlockSource& source, KeptBlocks& kept) : source_(source), kept_(kept) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  work::BlockSource& source_;
  KeptBlocks& kept_;
};

}  // namespace foretrace::engine
