#include "sim/emulate/schedule/block_stream.h"

#include "sim/emulate/schedule/block.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions per turn, and the least that a reader is given unless its warp waits or ends: long enough that the change from
/// executing to reading costs little, short enough that all warps of a chip hold little.
constexpr std::uint64_t kTurn = 512, kLeastSlice = 256;
constexpr std::uint64_t kLongTurn = 1 << 16;  ///< where nobody reads

}  // namespace

BlockStream::BlockStream(const Emulator& emulator, std::uint64_t block, std::uint64_t ahead)
    : emulator_(emulator), block_(block), ahead_(ahead), warps_(emulator.launch().warps) {}
BlockStream::~BlockStream() = default;

const work::WarpRecord* BlockStream::next(std::uint32_t warp) {
  Warp& reader = warps_[warp];
  if (reader.reading) reader.parts.pop_front();
  reader.reading = false;
  if (reader.parts.empty() && !ended_) {
    work::BlockRecord none;  // what the recorders write to until they are told where
    if (!running_) begin(none);
    for (std::uint32_t i = 0; i < warps_.size(); ++i) {
      warps_[i].parts.emplace_back();
      running_->record_in(i, warps_[i].parts.back());
    }
    while (!ended_ && !running_->ended(warp) && reader.parts.back().instructions < kLeastSlice) {
      ended_ = running_->run_turn(kTurn);
    }
    for (std::uint32_t i = 0; i < warps_.size(); ++i) {
      running_->close_record(i);
      if (warps_[i].parts.back().instructions == 0) warps_[i].parts.pop_back();
    }
    if (ended_) running_.reset();
  }
  if (reader.parts.empty()) return nullptr;
  reader.reading = true;
  return &reader.parts.front();
}

/// Begins the block; with its first part executed and not recorded, as long as that leaves each warp something to do.
void BlockStream::begin(work::BlockRecord& record) {
  for (std::uint64_t ahead = ahead_; ahead > 0; ahead /= 2) {
    running_ = std::make_unique<RunningBlock>(emulator_.launch(), block_, nullptr);
    bool ended = false;
    while (!ended && running_->count().instructions < ahead) ended = running_->run_turn(kTurn);
    while (!ended && running_->someone_waits()) ended = running_->run_turn(1);
    if (running_->someone_ended()) continue;
    running_->begin_recording(record);
    return;
  }
  running_ = std::make_unique<RunningBlock>(emulator_.launch(), block_, &record);
}

void BlockStream::finish() {
  if (ended_) return;
  if (!running_) running_ = std::make_unique<RunningBlock>(emulator_.launch(), block_, nullptr);
  running_->stop_recording();
  while (!running_->run_turn(kLongTurn)) {}
  ended_ = true;
  running_.reset();
}

std::shared_ptr<const work::BlockRecord> BlockStream::record(std::shared_ptr<BlockStream> stream) {
  auto record = std::make_shared<work::BlockRecord>();
  record->block = stream->block_;
  record->warps.resize(stream->warps_.size());
  record->rest = std::move(stream);
  return record;
}

}  // namespace foretrace::emulate
