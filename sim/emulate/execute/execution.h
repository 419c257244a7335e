// One block in execution: its warps take turns, wait for each other at barriers, and end or fail.
//
// Models:  a turn of 65,536 instructions unless the warp waits. What an instruction sees of the warp that executes it is RunningWarp; what
//          moves lanes, memory and barriers are units of their own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "sim/emulate/execute/block_memory.h"
#include "sim/emulate/execute/divergence.h"
#include "sim/emulate/execute/running_warp.h"
#include "sim/emulate/schedule/block_barriers.h"
#include "sim/emulate/schedule/spin_rounds.h"

namespace foretrace::emulate {

class Execution : public RunningWarp {
 public:
  Execution(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Runs until the block has ended (true), or until `patience` warp instructions in a row have brought no store, atomic or
  /// exit (false): it may be waiting for another block. May be called again.
  /// `leaves_polling`: also as soon as all that its warps do is to ask memory again and again.
  bool run(std::uint64_t patience, bool leaves_polling = false);
  /// Gives every warp that is ready one turn of up to `slice` warp instructions; true: the block has ended. Faults like run() with the
  /// launch's idle limit.
  bool run_turn(std::uint64_t slice);
  bool ended() const { return done_ == warps_.size(); }
  bool someone_ended() const { return done_ > 0; }
  bool ended(std::uint32_t index) const { return warps_[index].state == WarpState::done; }
  /// Whether a warp waits at a barrier for others of the block.
  bool someone_waits() const {
    return std::any_of(warps_.begin(), warps_.end(),
                       [](const Warp& w) { return w.state == WarpState::at_barrier; });
  }
  /// In the last call of run().
  bool made_progress() const { return progress.at > resumed_at_; }
  /// Whether all warps of the running one's warpgroup have come to its products, but for the last `but` groups of them.
  bool group_has_multiplied(std::uint64_t but) const {
    const std::size_t first = warp->index / 4 * 4;
    return std::all_of(
        warps_.begin() + static_cast<std::ptrdiff_t>(first),
        warps_.begin() + static_cast<std::ptrdiff_t>(std::min(first + 4, warps_.size())),
        [&](const Warp& w) { return w.state == WarpState::done || w.products + but >= warp->products; });
  }
  BlockCount count() const { return {progress.issued, thread_instructions_}; }
  [[noreturn]] void fault_never_ends(std::uint64_t idle);

  /// The block is one of several that run together.
  void enter_cluster(Cluster* cluster);

  /// From here on what warp `index` does is recorded there; what was recorded before is complete.
  void record_in(std::uint32_t index, work::WarpRecord& record) {
    warps_[index].recorder->go_on_in(record);
    warps_[index].round.loop = nullptr;  // what it began with is out of reach
  }
  void close_record(std::uint32_t index) { warps_[index].recorder->finish(); }
  /// Of a block that was begun without a record: from here on it is recorded, from where each warp is.
  void begin_recording(work::BlockRecord& record);
  /// From here on nothing is recorded.
  void stop_recording() {
    for (Warp& w : warps_) w.recorder.reset();
  }

 private:
  template <bool kRecording, bool kWaits>
  Stop run_warp(std::uint64_t budget);
  void give_turn(Warp& w, std::uint64_t slice);

  std::vector<Warp> warps_;
  LaneWords files_;
  std::chrono::steady_clock::time_point started_;
  Cluster* cluster_ = nullptr;  // null: the block runs by itself
  std::uint64_t resumed_at_ = 0;
  std::uint64_t thread_instructions_ = 0;
  std::size_t done_ = 0;  // warps that have ended

 public:
  // Units that instructions see.
  Divergence divergence{*this};
  BlockMemory memory{*this};
  BlockBarriers barriers{*this, divergence, warps_, memory.shared_checks()};

 private:
  SpinRounds spins_{*this};
};

}  // namespace foretrace::emulate
