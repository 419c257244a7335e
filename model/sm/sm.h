// A streaming multiprocessor: four sub-cores that issue, one memory pipe, blocks and their barriers.
//
// Models:  issue of one warp instruction a cycle a sub-core, decided by the compiler's control bits (stall counts, six scoreboards a
//          warp), greedy-then-youngest; pipes with initiation intervals; operand reads; instruction and constant fetch; block barriers;
//          waiting loops: a round whose load came too early is executed again (waits.cpp); the memory pipe (memory_pipe.h). Every warp is in exactly one of Nsight Compute's states at any cycle.
// Ignores: docs/mechanisms.md.
// Time:    an SM sleeps until its next event; advance(until) runs it alone up to `until`, since nothing reaches it sooner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/memory/gpc_cache.h"
#include "model/memory/memory_system.h"
#include "model/sm/constant_cache.h"
#include "model/sm/copy_engine.h"
#include "model/sm/event_wheel.h"
#include "model/sm/instruction_cache.h"
#include "model/sm/mbarriers.h"
#include "model/sm/memory_pipe.h"
#include "model/sm/register_file.h"
#include "model/sm/static_program.h"
#include "model/sm/timeline.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// A block handed to an SM.
struct BlockWork {
  Cycle start = 0;  ///< cycle of its first warp's start
  std::shared_ptr<const work::BlockRecord> record = {};
  std::uint64_t cluster = 0;  ///< number of its cluster
  std::uint32_t rank = 0;     ///< its place in it
  std::vector<std::uint32_t>
      places;  ///< SMs of the cluster's blocks, by rank; empty: it is a cluster of its own
};

/// What a block tells another one of its cluster.
struct ClusterMessage {
  enum class Kind : std::uint8_t {
    arrival,  ///< at an mbarrier
    copied,   ///< bytes of a multicast stand at the SM's port
    barrier,  ///< all warps of the block have come to the cluster's barrier
    left      ///< the block has ended: it has come to all that follow
  };
  Cycle time = 0;  ///< when it comes to the other SM
  std::uint32_t sm = 0;
  std::uint64_t cluster = 0;
  std::uint32_t rank = 0;  ///< of the block that it is for
  Kind kind = Kind::arrival;
  std::uint32_t offset = 0;  ///< of the mbarrier
  std::uint32_t times = 1;
  isa::Arrival arrival{};
};

/// A warp that has ended.
struct WarpEnd {
  Cycle time = 0;
  std::uint32_t sm = 0;
  bool block = false;  ///< it was its block's last
};

class Sm {
 public:
  /// `l1_bytes`: what the carve-out leaves of the unified memory; `block_shared`: bytes of it that a block takes. References must outlive the SM.
  Sm(const spec::GpuSpec& spec, std::uint32_t id, const StaticProgram& program, std::uint64_t l1_bytes,
     std::uint64_t block_shared = 0);

  /// What becomes of its warps' instructions is told to `timeline`, which must outlive the SM. Before its first block.
  void observe(SmTimeline& timeline) {
    timeline_ = &timeline;
    memory_.observe(timeline);
  }
  /// A block that starts at work.start, not before what has been simulated. Its warps must fit.
  void place(BlockWork work);
  /// A reply of the memory system or of the GPC's cache, not before what has been simulated.
  void deliver(const memory::Reply& reply);
  /// Acknowledgements of stores and reductions in order of time, not before what has been simulated nor before those that came before.
  void acknowledge(const std::vector<memory::Reply>& replies);
  /// What loads of the warp in a slot wait for (memory::Request::waits), in the round of its loop that it is in.
  const std::vector<work::Awaited>& awaited(std::uint32_t slot) const { return rounds_[slot].awaited; }
  /// Simulates all cycles before `until`.
  void advance(Cycle until);
  /// Next cycle at which something happens, kNever: nothing without a delivery or a block.
  Cycle next_event() const;
  bool idle() const { return resident_warps_ == 0 && memory_.idle() && copies_.idle(); }
  /// A message from another SM of a cluster, not before what has been simulated.
  void receive(const ClusterMessage& message);
  /// Of an answer to a multicast of this SM (its id has CopyEngine::kToOthers): what it means for the other blocks. Before deliver().
  void spread(const memory::Reply& reply, std::vector<ClusterMessage>& out) const;
  /// Nothing happens any more anywhere, and warps wait: they are let go. False: none does.
  bool let_go(Cycle now);
  /// Adds the warp-cycles that resident warps have been in their present state up to `now` and that are not booked yet.
  void count_waiting(Cycle now, stats::StateCycles& into) const;
  /// Closes the books at the launch's end, or, when the simulation stops before it, at the cycle `now`: every resident warp's state
  /// and every scheduler's idle time are then booked up to `now`.
  void finish(Cycle now);

  std::vector<memory::Request> outbox;  ///< requests made since the caller last emptied it, in order of time
  std::vector<memory::CodeRequest> code_outbox;  ///< same, for code and constants, to the GPC's cache
  std::vector<ClusterMessage> cluster_outbox;    ///< same, to other SMs
  std::vector<WarpEnd> ended;  ///< warps ended since the caller last emptied it, in order of time
  stats::LaunchCounters counters;

 private:
  static constexpr int kSlots = kWarpSlots;
  static constexpr std::uint32_t kInstructionMark =
      0x8000'0000;  // in ids of requests for code and constants; others are the memory pipe's
  static constexpr std::uint32_t kConstantMark = 0x4000'0000;  // beside kInstructionMark
  static constexpr std::uint32_t kIndexedMark = 0x2000'0000;   // beside both: a line for an LDC
  enum class Phase : std::uint8_t { free, timed, scoreboard, candidate, barrier, fetch, drain };

  static constexpr std::size_t kGroups = 64;  // of asynchronous copies: open at a time in a warp
  struct CopyGroup {
    std::uint32_t pending = 0;
    bool closed = false;
    std::uint8_t scoreboard = 7;
    std::uint32_t barrier_op = 0;  ///< 1 + what it does to mbarriers when it is done
  };
  /// What a warp that is held waits for.
  enum class Hold : std::uint8_t { none, groups, begun, registers, cluster };
  struct Warp {
    work::WarpCursor cursor;
    work::Step step;
    const StaticInstruction* instruction = nullptr;
    Cycle ready_at = 0, since = 0, started = 0;
    std::uint64_t age = 0, free_before = 0, allocate_before = 0;
    std::uint32_t block = 0;
    std::uint32_t in_block = 0;  ///< its number in the block
    InstructionCache::Buffer code;
    Cycle constant_at = kNever;  ///< when the constant operand that its instruction waits for is there for it
    std::uint32_t stores = 0;    ///< instructions whose data have not left the memory pipe
    std::uint32_t blame = 0;     ///< instruction that the warp's present state is booked to
    std::array<std::uint8_t, kScoreboards> scoreboard{};
    std::uint8_t long_scoreboards = 0;
    std::uint32_t registers = 0;         ///< a thread
    std::uint64_t cluster_arrivals = 0;  ///< at the cluster's barrier
    std::uint8_t bulk_first = 0, bulk_now = 0;
    Hold hold = Hold::none;
    Phase phase = Phase::free;
    stats::WarpState label = stats::WarpState::wait;
    std::uint8_t group_first = 0, group_now = 0;
  };
  /// Of a warp in a program with waiting loops.
  struct Round {
    const isa::WaitingLoop* loop = nullptr;  ///< that it is in; null: in none
    bool whole = false;                      ///< its lanes have stayed together so far
    bool again = false;       ///< it is executed again: what other lanes did in between is done
    work::WarpCursor cursor;  ///< as it began
    work::Step first;
    std::uint32_t signals = 0, signals_before = 0;  ///< that the warp has given, and had when the round began
    std::vector<work::Awaited> awaited;
  };
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint64_t waiting = 0;
    std::uint32_t expected = 0;
  };
  struct Block {
    std::shared_ptr<const work::BlockRecord> record;
    std::uint32_t live_warps = 0;
    std::array<Barrier, 16> barriers{};
    bool used = false;
    std::uint64_t serial = 0;  ///< which of the SM's blocks it is
    std::uint64_t cluster = 0;
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> places;
    std::uint64_t pool = 0;  ///< registers that USETMAXREG gave back
    // The cluster's barrier: warps here, blocks of the cluster
    std::uint32_t cluster_warps = 0, cluster_left = 0;
    std::uint64_t cluster_told = 0, cluster_phase = 0;
    std::array<std::uint32_t, 2> cluster_blocks{};  ///< that have come, by phase mod 2
  };
  struct SubCore {
    std::uint32_t resident = 0, timed = 0;
    std::array<Cycle, kSlots> ready{};  // by slot, of those timed: their ready_at
    std::array<std::uint32_t, kMaxClasses> candidates{};
    std::uint32_t classes_waiting = 0;  // classes with candidates
    std::array<std::uint64_t, kMaxClasses> free_cycles{}, allocate_cycles{};
    std::array<Cycle, spec::kPipes> pipe_free{};
    Cycle dispatch_free = 0;      // nothing issues before
    std::array<Cycle, 16> adu{};  // when its last instructions for the ADU left its queue, a ring
    std::uint32_t adu_next = 0;
    Cycle ticked = kNever;  // last cycle that was ticked: one issue a cycle
    Cycle idle_since = 0;
    int idle_reason = 0;
    int greedy = -1;
    RegisterFile registers;
    ConstantCache constants;
    explicit SubCore(const spec::GpuSpec& spec)
        : registers(spec.register_file), constants(spec.constant.l0_bytes, spec.constant.line_bytes) {}
  };

  Cycle next_inside() const;
  void take_acknowledgements(Cycle now);
  void start_block(BlockWork& work, Cycle now);
  void start_warp(std::uint32_t block, std::uint32_t warp, Cycle now);
  bool next_step(Warp& warp);
  bool names_write(const Warp& warp, std::uint64_t& counter) const;
  bool next_step_or_round(Warp& warp, std::uint16_t id, const work::Step& done);
  void begin_round(Warp& warp, std::uint16_t id);
  void tell_and_wait(Warp& warp, std::uint16_t id, const work::Step& step, MemoryIssue& issued);
  void look_ahead(const Warp& warp, const isa::WaitingLoop& loop, std::vector<work::Awaited>& awaited) const;
  void handle(const Event& event, Cycle now);
  void tick(int sub_core, Cycle now);
  void evaluate(std::uint16_t id, Cycle now);
  bool scoreboards_clear(const Warp& warp) const;
  bool constant_ready(Warp& warp, std::uint16_t id, Cycle now);
  void issue(int sub_core, std::uint16_t id, Cycle now);
  void take_pipe(int sub_core, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  void act(int sub_core, Warp& warp, std::uint16_t id, Cycle now);
  void set_scoreboards(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  bool constant_near(std::uint32_t address, Cycle now);
  void constants_arrived(std::uint32_t block, Cycle now);
  void load_constants(std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  void advance_lookup(std::uint32_t index, Cycle now);
  void ask_for_constants(std::uint32_t address, std::uint32_t lookup, Cycle now);
  void constant_line_arrived(std::uint32_t line, Cycle now);
  void constant_words(const Warp& warp, const StaticInstruction& instruction, std::uint32_t executed);
  void load_constant(Warp& warp, std::uint16_t id, const StaticInstruction& instruction,
                     std::uint32_t executed, Cycle now);
  void hold_adu_place(std::uint16_t id, Cycle until);
  void arrive(Warp& warp, std::uint16_t id, const work::Step& step, bool waits, Cycle now);
  void check_barrier(Block& block, Barrier& barrier, Cycle now);
  void commit_copies(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  void settle_groups(Warp& warp, std::uint16_t id, Cycle now);
  std::array<CopyGroup, kGroups>& groups_of(std::uint16_t id);
  void wake(std::uint16_t id, Cycle now);
  void end_warp(Warp& warp, std::uint16_t id, Cycle now);
  void book(Warp& warp, stats::WarpState state, Cycle until);
  void enter(Warp& warp, Phase phase, stats::WarpState label, Cycle now);
  void wait_until(Warp& warp, std::uint16_t id, Cycle when, stats::WarpState label, Cycle now);
  void book_candidate(SubCore& core, Warp& warp, Cycle now);
  void take_adu(SubCore& core, const StaticInstruction& instruction, Cycle now);
  void hold_back(SubCore& core, int sub_core, Cycle cycles, Cycle now);
  void go_on(Warp& warp, std::uint16_t id, const work::Step& done, Cycle now);
  void raise(Warp& warp, std::uint8_t scoreboard, bool is_long);
  void book_idle(SubCore& core, Cycle now);
  void tell_candidate(const SubCore& core, const Warp& warp, Cycle now);
  void tell_issue(const SubCore& core, std::uint16_t id, Cycle now);
  std::uint16_t slot_of(const Warp& warp) const { return static_cast<std::uint16_t>(&warp - warps_.data()); }
  bool class_free(const SubCore& core, int sub_core, const IssueClass& c, Cycle now) const;
  // asynchronous.cpp
  /// One instruction's doings with mbarriers, on its way to them.
  struct BarrierOp {
    struct Item {
      std::uint32_t rank = 0, offset = 0, times = 0;
      std::uint32_t operand = 0;
    };
    std::vector<Item> items;
    isa::BarrierUse use = isa::BarrierUse::none;
    std::uint32_t index = 0;  ///< instruction
    std::uint32_t block = 0;
    std::uint64_t serial = 0;
    std::uint16_t warp = 0;
    std::uint32_t generation = 0;
    std::uint32_t waiting = 0;  ///< checks: barriers whose phase has not ended
    Cycle asked = 0, answered = 0;
  };
  std::uint32_t new_barrier_op(const Warp& warp, std::uint16_t id, const work::Step& step);
  void do_barrier_op(std::uint32_t number, Cycle answered, Cycle now);
  void do_arrival(std::uint32_t block, std::uint32_t rank, std::uint32_t offset, const isa::Arrival& arrival,
                  std::uint32_t times, Cycle now);
  void end_waits(bool by_bytes, Cycle now);
  void answer(BarrierOp& op, bool by_bytes, Cycle now);
  bool is_remote(const Warp& warp, const StaticInstruction& instruction) const;
  std::uint32_t own_or_remote(const Block& block, std::uint32_t rank) const;
  void start_transfer(Warp& warp, std::uint16_t id, Cycle now);
  void transfer_told(std::uint32_t job, Cycle now);
  void commit_transfers(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  void settle_transfers(Warp& warp, std::uint16_t id, Cycle now);
  std::array<CopyGroup, kGroups>& bulk_groups_of(std::uint16_t id);
  void issue_product(Warp& warp, const StaticInstruction& instruction, Cycle now);
  Cycle held_until(Warp& warp, const StaticInstruction& instruction, Hold hold, Cycle now);
  bool hold_or_wait(Warp& warp, std::uint16_t id, const work::Step& done, Cycle ready, Cycle counted,
                    Cycle now);
  void look_at_held(std::uint32_t block, Cycle now);
  void arrive_at_cluster(Block& block, Cycle now);
  void tell_cluster(Block& block, ClusterMessage::Kind kind, Cycle now);
  void take_message(const ClusterMessage& message, Cycle now);
  static std::uint32_t generation(const Warp& warp) { return static_cast<std::uint32_t>(warp.age); }
  static int core_of(std::uint16_t warp) { return warp / kSlots; }
  /// Looks at the warp again when it is ready.
  void look_when_ready(const Warp& warp, std::uint16_t id) {
    SubCore& core = cores_[static_cast<std::size_t>(core_of(id))];
    core.timed |= 1u << (id % kSlots);
    core.ready[id % kSlots] = warp.ready_at;
    look_at(core_of(id), warp.ready_at);
  }
  void look_at(int sub_core, Cycle when) {
    Cycle& next = next_tick_[static_cast<std::size_t>(sub_core)];
    next = std::min(next, when);
  }

  const spec::GpuSpec& spec_;
  const std::uint32_t id_;
  const StaticProgram& program_;
  Events events_;
  InstructionCache fetch_;
  ConstantCache constants_;
  MemoryPipe memory_;
  std::array<Cycle, kSubCores> next_tick_;  // by sub-core: when it is looked at next
  std::array<SubCore, kSubCores> cores_;
  std::vector<Warp> warps_;
  std::vector<std::array<CopyGroup, kGroups>> groups_;  // by warp; none before the first copy
  std::vector<Round> rounds_;                           // by warp; none in programs without waiting loops
  std::vector<Block> blocks_;
  CopyEngine copies_;
  Mbarriers mbarriers_;
  Products products_;
  std::vector<std::array<CopyGroup, kGroups>> bulk_groups_;  // by warp; none before the first copy
  std::vector<BarrierOp> barrier_ops_;
  std::vector<std::uint32_t> free_barrier_ops_;
  std::vector<std::uint32_t> ended_waits_;  // tickets: barrier operations
  std::vector<ClusterMessage> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::uint64_t next_serial_ = 0;
  std::uint32_t launch_registers_ = 0;
  std::vector<BlockWork> incoming_;              // by start
  std::vector<memory::Reply> acknowledgements_;  // of stores, by time
  std::size_t first_acknowledgement_ = 0;        // those before it were taken
  std::vector<std::uint32_t> fetch_requests_;
  struct ConstantBlock {
    std::uint32_t block;
    bool here;
  };
  std::vector<ConstantBlock> constant_blocks_;  // that were asked of the GPC's cache
  struct ConstantWait {
    std::uint32_t address;
    Event release;
  };
  std::vector<ConstantWait> constant_waits_;  // LDC whose block is on its way
  /// An LDC whose lanes differ, from its first missing line on.
  struct ConstantLookup {
    std::vector<std::uint32_t> words;
    std::size_t at = 0;  // the word that goes next
    Cycle pass = 0;      // when it goes
    Cycle ready = 0;     // of the words before it
    Cycle latency = 0, interval = 0;
    Cycle in_adu = 0;  // when its last first pass leaves the ADU
    bool waits = false;
    Event release;
  };
  struct ConstantLine {
    std::uint32_t line;
    std::vector<std::uint32_t> lookups;  // that wait for it
  };
  std::vector<ConstantLookup> lookups_;
  std::vector<std::uint32_t> free_lookups_;
  std::vector<ConstantLine> constant_lines_;  // on their way to the SM's cache
  std::vector<std::uint32_t> words_;          // of the LDC at hand
  Cycle constant_port_free_ = 0;              // the way of LDC's lines from the GPC's cache
  std::uint32_t resident_warps_ = 0;
  std::uint64_t next_age_ = 0;
  Cycle now_ = 0, active_since_ = 0, first_code_ = 0;
  Cycle adu_free_ = 0;                          // the SM's ADU
  Cycle replays_from_ = 0, replay_cycles_ = 0;  // what it takes once more, and when
  SmTimeline* timeline_ = nullptr;              // null: nobody looks
  Cycle served_ = 0;  // when the instruction that issues is served: its cycle, or when the ADU takes it
};

}  // namespace foretrace::sm
