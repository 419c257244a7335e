// Barriers of a block and of a cluster: who has arrived, who waits, and what can no longer complete.
//
// Models:  BAR.SYNC, BAR.ARV, BAR.RED with numbers and counts; UCGABAR_ARV and UCGABAR_WAIT. A warp arrives as
//          a whole, so a barrier that only part of its live lanes can come to is a fault.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/emulate/execute/divergence.h"
#include "sim/emulate/execute/running_warp.h"
#include "sim/emulate/memory/shared_checks.h"

namespace foretrace::emulate {

class Cluster;

/// A barrier lets all warps go at once, and they get on about alike until one waits for what it loads: what the others read first thing
/// is not yet what a warp writes later. There is code that needs it (SHOC's scan reads and writes its seed without a barrier between, as
/// loops do that take the next ticket for all).
inline constexpr std::array<std::uint64_t, 2> kShortTurnLengths = {48, 8};  // the last one first
inline constexpr std::uint8_t kShortTurns = kShortTurnLengths.size();

class BlockBarriers {
 public:
  /// `checks`: null: shared memory is not checked. All must outlive it.
  BlockBarriers(RunningWarp& x, Divergence& divergence, std::vector<Warp>& warps, SharedChecks* checks)
      : x_(x), divergence_(divergence), warps_(warps), shared_checks_(checks) {}
  void enter_cluster(Cluster* cluster) { cluster_ = cluster; }

  /// The running group comes to a barrier of its block (BAR), at which its program counter (Group::pc) stands. True: the warp goes on.
  bool arrive(const MicroOp& op, std::uint32_t executed);
  /// The same of the cluster's barrier (UCGABAR). A block that runs by itself is a whole cluster.
  bool arrive_at_cluster(const MicroOp& op, std::uint32_t executed);
  /// Whether all warps have come to the cluster's barrier in that phase, or ended.
  bool all_arrived(std::uint64_t phase) const;
  /// Ends the phase of the cluster's barrier if it is complete: a warp has come or ended.
  void complete_cluster_phase();
  /// The phase has ended.
  void release_from_cluster();
  /// Part of the warp's live lanes have come to a barrier: others run first, if any can. False: the barrier is executed now.
  bool let_others_come(std::uint32_t executed);
  /// The number that goes into the record of an instruction that has one, in RunningWarp::value.
  void note_value(const MicroOp& op, std::uint32_t executed);
  /// Lets the warps go whose barrier is complete: a warp has come or ended.
  void complete();
  /// No warp of the block can go on.
  [[noreturn]] void fault_impossible();

 private:
  static constexpr std::uint32_t kBarriers = 16;
  struct Barrier {
    std::uint32_t arrived_warps = 0;  ///< also those that do not wait (BAR.ARV)
    std::uint32_t expected = 0;       ///< threads; 0: all that are live
    std::uint32_t count = 0;          ///< threads whose predicate was true
    bool all = true, any = false;
  };
  void report_divergent(std::uint32_t executed);
  std::uint64_t cluster_phase() const;
  static std::uint64_t cluster_place(const Warp& warp);
  void has_waited_at_cluster(const Warp& warp);

  RunningWarp& x_;
  Divergence& divergence_;
  std::vector<Warp>& warps_;
  SharedChecks* shared_checks_;
  Cluster* cluster_ = nullptr;   // null: the block runs by itself
  std::uint64_t own_phase_ = 0;  // of the cluster's barrier, of a block that runs by itself
  std::array<Barrier, kBarriers> barriers_{};
};

}  // namespace foretrace::emulate
