// A block that is executed while its record is read: what is in memory is what the reader has not come to yet.
//
// Models:  the same execution as Emulator::run_block, its warps taking shorter turns, so that a block can be left part way.
// Ignores: other blocks: for launches whose blocks are independent (blocks_are_independent).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/work/warp_record.h"
#include "sim/emulate/emulator.h"

namespace foretrace::emulate {

class RunningBlock;

class BlockStream final : public work::RecordStream {
 public:
  /// The emulator must outlive the stream. `ahead`: warp instructions of the block, about, before the record begins; it begins where no warp
  /// has ended or waits for another, so that each barrier is in the records of all of them or of none.
  BlockStream(const Emulator& emulator, std::uint64_t block, std::uint64_t ahead = 0);
  ~BlockStream() override;
  /// Executes more of the block when the warp's reader has caught up. Throws KernelFault.
  const work::WarpRecord* next(std::uint32_t warp) override;
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
  /// Executes what is left of the block; nothing of that can be read.
  void finish();
  /// The record to be read from its start: nothing in it, and `stream` for all that follows.
  static std::shared_ptr<const work::BlockRecord> record(std::shared_ptr<BlockStream> stream);

 private:
  struct Warp {
    std::deque<work::WarpRecord> parts;  // the first is being read when `reading`
    bool reading = false;
  };
  void begin(work::BlockRecord& record);
  const Emulator& emulator_;
  const std::uint64_t block_, ahead_;
  std::unique_ptr<RunningBlock> running_;  // made when the block is first asked for, gone when it has ended
  std::vector<Warp> warps_;
  bool ended_ = false;
};

}  // namespace foretrace::emulate
