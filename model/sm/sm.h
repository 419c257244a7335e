// A streaming multiprocessor: its units, and the way of a warp instruction through them.
//
// Models:  issue of one warp instruction per cycle per sub-core, decided by the compiler's control bits (stall counts, six scoreboards a
//          warp), greedy, then the oldest block's warps by turns; pipes with initiation intervals; operand reads; instruction and
//          constant fetch; block barriers; spin loops: a round whose load came too early is executed again (spin_loops.h); the memory
//          pipe (memory_pipe.h). Every warp is in exactly one of Nsight Compute's states at any cycle.
// Ignores: docs/mechanisms.md.
// Time:    an SM sleeps until its next event; advance(until) runs it alone up to `until`, since nothing reaches it sooner.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/gpc_cache.h"
#include "model/memory/memory_system.h"
#include "model/sm/acknowledgements.h"
#include "model/sm/adu.h"
#include "model/sm/asynchronous_copies.h"
#include "model/sm/barrier_unit.h"
#include "model/sm/blocks.h"
#include "model/sm/bulk_copies.h"
#include "model/sm/cluster_port.h"
#include "model/sm/constant_path.h"
#include "model/sm/held_warps.h"
#include "model/sm/instruction_cache.h"
#include "model/sm/memory_pipe.h"
#include "model/sm/retries.h"
#include "model/sm/spin_loops.h"
#include "model/sm/static_program.h"
#include "model/sm/timeline.h"
#include "model/sm/warp_table.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"

namespace foretrace::sm {

class Sm {
 public:
  /// `l1_bytes`: what the carve-out leaves of the unified memory; `block_shared`: bytes of it that a block takes. References must outlive the SM.
  Sm(const spec::GpuSpec& spec, std::uint32_t id, const StaticProgram& program, std::uint64_t l1_bytes,
     std::uint64_t block_shared = 0);

  /// What becomes of its warps' instructions is told to `timeline`, which must outlive the SM. Before its first block.
  void observe(SmTimeline& timeline) {
    context_.timeline = &timeline;
    memory_.observe(timeline);
  }
  /// A block that starts at work.start, not before what has been simulated. Its warps must fit.
  void place(BlockWork work);
  /// A reply of the memory system or of the GPC's cache, not before what has been simulated.
  void deliver(const memory::Reply& reply);
  /// Acknowledgements of stores and reductions in order of time, not before what has been simulated nor before those that came before.
  void acknowledge(const std::vector<memory::Reply>& replies);
  /// What loads of the warp in a slot wait for (memory::Request::waits), in the round of its loop that it is in.
  const std::vector<work::Awaited>& awaited(std::uint32_t slot) const { return loops_.awaited(slot); }
  /// Simulates all cycles before `until`.
  void advance(Cycle until);
  /// Next cycle at which something happens, kNever: nothing without a delivery or a block. `every`: acknowledgements that nothing waits for
  /// count, too; they are taken with whatever comes next.
  Cycle next_event(bool every = true) const;
  bool idle() const { return resident_warps_ == 0 && memory_.idle() && bulk_.engine.idle(); }
  /// A message from another SM of a cluster, not before what has been simulated.
  void receive(const ClusterMessage& message) { cluster_.receive(message); }
  /// Of an answer to a multicast of this SM (its id has CopyEngine::kToOthers): what it means for the other blocks. Before deliver().
  void spread(const memory::Reply& reply, std::vector<ClusterMessage>& out) const {
    bulk_.spread(reply, out);
  }
  /// Nothing happens any more anywhere, and warps wait: they are let go. False: none does.
  bool let_go(Cycle now);
  /// Adds the warp-cycles that resident warps have been in their present state up to `now` and that are not accounted for yet.
  void count_waiting(Cycle now, stats::StateCycles& into) const;
  /// Closes the accounts at the launch's end, or, when the simulation stops before it, at the cycle `now`: every resident warp's state
  /// and every scheduler's idle time are then accounted for up to `now`.
  void finish(Cycle now);

  std::vector<memory::Request> outbox;  ///< requests made since the caller last emptied it, in order of time
  std::vector<memory::CodeRequest> code_outbox;  ///< same, for code and constants, to the GPC's cache
  std::vector<ClusterMessage> cluster_outbox;    ///< same, to other SMs
  std::vector<WarpEnd> ended;  ///< warps ended since the caller last emptied it, in order of time
  stats::LaunchCounters counters;
  std::uint64_t repeated = 0;  ///< of counters.inst_executed: in rounds that were gone through again

 private:
  void start_block(BlockWork& work, Cycle now);
  void start_warp(std::uint32_t block, std::uint32_t warp, Cycle now);
  void end_warp(Warp& warp, std::uint16_t id, Cycle now);
  void handle(const Event& event, Cycle now);
  void replied(std::uint32_t id, Cycle now);
  void tick(int sub_core, Cycle now);
  void evaluate(std::uint16_t id, Cycle now);
  void issue(int sub_core, std::uint16_t id, Cycle now);
  void take_pipe(int sub_core, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  void execute(int sub_core, Warp& warp, std::uint16_t id, Cycle now);
  void issue_access(int sub_core, Warp& warp, std::uint16_t id, Cycle now);
  void go_on(Warp& warp, std::uint16_t id, const work::Step& done, Cycle now);

  // What its units share comes first.
  Events events_;
  SmContext context_;
  Blocks blocks_;
  WarpTable table_;
  // The units.
  InstructionCache fetch_;
  MemoryPipe memory_;
  Adu adu_;
  ConstantPath constants_;
  BarrierUnit mbarriers_;
  AsynchronousCopies copies_;
  BulkCopies bulk_;
  HeldWarps held_;
  ClusterPort cluster_;
  SpinLoops loops_;
  Retries retries_;
  Acknowledgements acknowledgements_;

  std::vector<BlockWork> incoming_;  // by start
  std::vector<std::uint32_t> fetch_requests_;
  const std::uint32_t launch_registers_;  // a thread
  std::uint64_t next_serial_ = 0;
  std::uint32_t resident_warps_ = 0;
  Cycle now_ = 0, active_since_ = 0, first_code_ = 0;
  Cycle served_ = 0;  // when the instruction that issues is served: its cycle, or when the ADU takes it
};

}  // namespace foretrace::sm
