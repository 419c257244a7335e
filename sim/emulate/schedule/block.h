// One block in execution: its warps take turns, wait for each other at barriers, and end or fail.
//
// Models:  a turn of 65,536 instructions unless the warp waits. What an instruction sees of the warp that executes it is Execution.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/schedule/spin_rounds.h"

namespace foretrace::emulate {

class RunningBlock {
 public:
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
  RunningBlock(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record);
  RunningBlock(const RunningBlock&) = delete;
  RunningBlock& operator=(const RunningBlock&) = delete;

  /// Runs until the block has ended (true), or until `patience` warp instructions in a row have brought no store, atomic or
  /// exit (false): it may be waiting for another block. May be called again.
  /// `leaves_polling`: also as soon as all that its warps do is to ask memory again and again, or when they share work with others.
  /// `turn`: also after about so many warp instructions.
  bool run(std::uint64_t patience, bool leaves_polling = false, std::uint64_t turn = kNoEnd);
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
  bool made_progress() const { return x_.progress.at > resumed_at_; }
  /// Likewise: whether a loop asked for the next count (RunningWarp::gives_way).
  bool took_tickets() const { return x_.progress.tickets > tickets_before_; }
  /// Whether it has asked memory again and again since its last progress.
  bool polls() const { return x_.progress.polls > 0; }
  BlockCount count() const { return {x_.progress.issued, thread_instructions_, spins_.rounds_tried()}; }
  [[noreturn]] void fault_never_ends(std::uint64_t idle);

  /// The block is one of several that run together.
  void enter_cluster(Cluster* cluster);
  /// What the cluster's other blocks reach.
  BlockMemory& memory() { return x_.memory; }
  BlockBarriers& barriers() { return x_.barriers; }

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
  Stop run_warp(std::uint64_t budget) {
    return x_.memory.unread().empty() ? run_warp<kRecording, kWaits, false>(budget)
                                      : run_warp<kRecording, kWaits, true>(budget);
  }
  /// `kFollows`: words that a wide load has brought along are followed to where they are read.
  template <bool kRecording, bool kWaits, bool kFollows>
  Stop run_warp(std::uint64_t budget);
  void look_for_reads(std::uint32_t executed);
  template <bool kWaits>
  void record(const MicroOp& op, std::uint32_t executed);
  void give_turn(Warp& w, std::uint64_t slice);
  /// A group that has run for long gives the warp's other groups a turn; so a loop that waits for them ends.
  void let_other_groups_run();

  std::vector<Warp> warps_;
  LaneWords files_;
  std::chrono::steady_clock::time_point started_;
  Cluster* cluster_ = nullptr;  // null: the block runs by itself
  std::uint64_t resumed_at_ = 0, tickets_before_ = 0;
  std::uint64_t thread_instructions_ = 0;
  std::size_t done_ = 0;  // warps that have ended
  Execution x_;
  SpinRounds spins_{x_};
};

}  // namespace foretrace::emulate
