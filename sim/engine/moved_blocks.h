// The records of a launch's blocks as those of a larger program, in memory of their own.
#pragma once

#include <cstdint>
#include <memory>

#include "model/work/block_source.h"

namespace foretrace::engine {

class MovedBlocks final : public work::BlockSource {
 public:
  /// `own`: the shapes of the source's program; `all`: those of the program in which its instructions begin at `first`. Both must outlive
  /// the object. Its global memory lies `memory` bytes further on. Without waits for other blocks (work::Shapes::loops).
  MovedBlocks(std::unique_ptr<work::BlockSource> source, const work::Shapes& own, const work::Shapes& all,
              std::uint32_t first, std::uint64_t memory)
      : source_(std::move(source)), own_(own), all_(all), first_(first), memory_(memory) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  void move(const work::WarpRecord& from, work::WarpRecord& to) const;
  std::unique_ptr<work::BlockSource> source_;
  const work::Shapes& own_;
  const work::Shapes& all_;
  const std::uint32_t first_;
  const std::uint64_t memory_;
};

}  // namespace foretrace::engine
