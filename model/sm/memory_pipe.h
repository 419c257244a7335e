// The memory pipe of an SM: the sub-cores' queues, address generation, the arbiter they share, the L1 tag and data stages, misses.
//
// Models:  a queue a sub-core that holds an instruction until the SM's memory unit takes it; one address generator a sub-core; one
//          instruction an interval at the memory unit, sub-cores served in turn; tag stage with its lines and sectors a cycle; one data
//          stage, one wavefront a cycle, for shared memory and global data alike; loads of a warp return in order (HUE, CIC);
//          write-through stores that allocate in L1; limits on misses and stores in flight; shared accesses go again where they meet
//          others in their half of the data array (data_array.h).
//          lookups in textures: the texture unit takes one at a time, by passes and quads of lanes; what they touch goes through L1.
// Ignores: the texture unit's own queue (a lookup waits in the sub-core's), and of the texels of a lane those between the first and last.
// Source:  HUE Tables 1 and 2, CIC, NCU (docs/sources.md).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/rules/coalescing.h"
#include "model/sm/data_array.h"
#include "model/sm/event_wheel.h"
#include "model/sm/l1_tags.h"
#include "model/sm/static_program.h"
#include "model/sm/store_buffer.h"
#include "model/sm/swaps.h"
#include "model/sm/timeline.h"
#include "model/sm/warp_slots.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// What happens in an SM at a time.
struct Event {
  enum class Kind : std::uint8_t {
    release,
    copy_done,
    store_done,
    reply,
    end,
    barrier,       ///< an operation on mbarriers has come to them; id: of BarrierUnit
    copy_step,     ///< the copy engine's next row
    copy_told,     ///< one of its copies is done; id: its job
    message,       ///< from another SM of the cluster; id: of ClusterPort
    constant_pass  ///< the next word of an LDC; id: of ConstantPath's lookups
  };
  Kind kind = Kind::end;
  std::uint8_t scoreboard = 0;
  std::uint16_t warp = 0;
  std::uint32_t id = 0;  ///< reply: the request; copy_done: the group
  std::uint32_t generation =
      0;  ///< the warp's age: an event of a warp that has ended in the meantime means nothing
};
using Events = EventWheel<Event>;

/// What the memory pipe needs of a warp's instruction at its issue.
struct MemoryIssue {
  const StaticInstruction* instruction = nullptr;
  std::uint32_t index = 0;
  std::uint16_t warp = 0;
  std::uint8_t copy_group = 0;
  std::uint16_t block = 0;  ///< its slot in the SM
  std::uint32_t generation = 0;
  std::uint32_t executed = 0;
  std::uint64_t local_base = 0;  ///< local memory: where this warp's window starts
  const work::WarpCursor* cursor = nullptr;
  std::uint32_t barrier_op = 0;  ///< 1 + that of BarrierUnit; 0: does nothing to mbarriers
  bool remote = false;           ///< of the shared memory of a block on another SM
  std::uint32_t passes = 1;      ///< of the texture unit
  bool waits = false;            ///< a load that may come too early
  std::uint8_t tells = 0;        ///< as in memory::Request
  work::Signal signal = {};
  Swap swap = {};
};

class MemoryPipe {
 public:
  MemoryPipe(const spec::GpuSpec& spec, std::uint32_t sm, std::uint64_t l1_bytes, std::uint64_t block_shared,
             const StaticProgram& program, Events& events, stats::LaunchCounters& counters,
             std::vector<memory::Request>& outbox);

  /// What becomes of its operations is told there, which must outlive it.
  void observe(SmTimeline& timeline) { timeline_ = &timeline; }
  bool queue_has_room(int sub_core) const { return queue_[sub_core].size < spec_.lsu.queue; }
  /// Entry of an instruction into its sub-core's queue at `now`. Room must have been asked for.
  void issue(int sub_core, const MemoryIssue& issue, Cycle now);
  /// Counts what an instruction asks for, as issue() does, and does nothing else.
  void count(const MemoryIssue& issue);
  /// Takes what can be taken at `now`.
  void tick(Cycle now);
  /// When tick() has something to do, kNever: after an event.
  Cycle next_tick() const { return next_tick_; }
  /// A reply with this id stands at the SM's port; returns when it is in the L1 (Event::Kind::reply is then due).
  Cycle arrive(std::uint32_t id, Cycle now);
  /// The data of request `id` is in the L1.
  void filled(std::uint32_t id, Cycle now);
  /// The store or reduction with this id is done.
  void acknowledged(std::uint32_t id, Cycle now);
  /// Whether a load of the warp came too early, or a swap of it failed, since the last call for it.
  bool came_too_early(std::uint16_t warp) {
    const std::uint64_t bit = std::uint64_t{1} << warp;
    const bool early = (too_early_ & bit) != 0;
    too_early_ &= ~bit;
    return early;
  }
  /// Whether a store waits for others to be done: only then acknowledged() gives tick() something to do.
  bool stores_wait() const { return stores_wait_; }
  /// A request of the copy engine for data, which answers it itself: it leaves like any other.
  void send_copied(const memory::Request& request, Cycle now) { leave(request, now); }
  /// The same of what it stores; it takes the data stage for a pass. Returns when the next one can follow.
  Cycle send_stored(memory::Request request, Cycle now);
  /// `sectors` that the copy engine brings to a block's shared memory at `now`.
  void copied_in(std::uint32_t block, std::uint32_t offset, std::uint32_t sectors, Cycle now);
  /// The tensor cores read operands from shared memory for `shared` of the cycles from `start` to `end`. They come first.
  void take_for_products(Cycle start, Cycle end, std::uint32_t shared);
  /// A warp starts at `when`, not before the one before it.
  void start_warp(Cycle when) { array_.start_warp(when); }
  /// All stores that wait for others leave: a block has ended.
  void leave_stores(Cycle now);
  /// Nothing queued, under way or unacknowledged.
  bool idle() const {
    return operations_in_use_ == 0 && requests_in_use_ == 0 && store_buffer_.due() == kNever;
  }

 private:
  static constexpr Cycle kTagToData = 1;  // the data stage follows the tag stage
  static constexpr std::uint32_t kStoreMark =
      0x4000'0000;  // ids of stores: with it their sectors, and nothing is kept of them
  /// What an operation asks for, line by line. Kept apart from the rest, which is looked at far more often.
  struct Detail {
    work::LaneAddresses addresses{};  // of atomics and reductions
    rules::Coalesced lines;
    rules::WrittenBytes written;  // by line: bytes that a store to global memory writes, or a load asks for
  };
  struct Operation {
    Detail* detail = nullptr;
    const StaticInstruction* instruction = nullptr;
    std::uint32_t index = 0;
    std::uint32_t executed = 0;
    std::uint16_t warp = 0;
    std::uint8_t sub_core = 0;
    std::uint8_t copy_group = 0;
    isa::Space space = isa::Space::global;  // a generic access: the one that it finds
    std::uint32_t generation = 0;
    Cycle ready = 0;  // address generated; later: data there
    Cycle accepted = 0;
    std::uint32_t wavefronts = 0;          // of the data stage
    std::uint32_t ideal = 1;               // floor of the width
    std::uint32_t shared_wavefronts = 0;   // copies: of the write to shared memory
    std::uint32_t waiting = 0;             // requests not yet arrived
    std::uint32_t lines = 0, sectors = 0;  // of its detail
    bool tags_done = false;
    bool missed = false;
    bool hit = false;             // its data were there, and no load of its warp before it waited
    std::uint8_t half = 0;        // of the data array: shared memory
    std::int32_t next_load = -1;  // of the same warp
    bool waits = false;
    std::uint8_t tells = 0;
    work::Signal signal;
    std::uint32_t barrier_op = 0;
    bool remote = false;
    std::uint32_t passes = 1;  // of the texture unit
    Swap swap;
  };
  struct Pending {
    std::uint64_t line = 0;
    std::uint32_t entry = 0;                           // position in the tag array
    std::int32_t next = -1;                            // older outstanding request of the line
    std::int32_t first_waiter = -1, last_waiter = -1;  // operations that wait for it, by age
    std::uint8_t sectors = 0;
    bool tagged = false;
  };
  struct Waiter {
    std::uint32_t operation = 0;
    std::int32_t next = -1;  // of the same request, or free
  };
  struct Queue {
    std::array<std::uint32_t, 16> operation{};
    std::uint32_t first = 0, size = 0;
    Cycle generator_free = 0;
  };
  /// The last result of the pure rules for one static instruction: most executions repeat the lane pattern.
  struct Memo {
    work::AddressPattern pattern;
    std::uint64_t local_base = 0;
    std::uint32_t executed = 0;
    bool valid = false;
    isa::Space space = isa::Space::global;  // that of a generic access may change
    std::uint32_t wavefronts = 0, ideal = 0;
    bool repeats(const work::AddressPattern& p, std::uint32_t lanes) const;
    bool repeats_passes(const work::AddressPattern& p, std::uint32_t lanes) const;
  };

  std::uint32_t new_operation();
  void free_operation(std::uint32_t id);
  std::uint32_t new_pending();
  void prepare(Operation& operation, const MemoryIssue& issue);
  void prepare_shared(Operation& operation, const MemoryIssue& issue);
  void prepare_global(Operation& operation, const MemoryIssue& issue);
  void count_instruction(const isa::MemoryForm& form);
  void count_shared(const Operation& operation, std::uint32_t ideal);
  void count_global(const Operation& operation, std::uint32_t ideal_sectors);
  void count_hits(const Operation& operation, std::uint32_t sectors);
  bool can_accept(const Operation& operation, Cycle now) const;
  void accept(std::uint32_t id, Cycle now);
  void accept_shared(Operation& operation, std::uint32_t id, Cycle now);
  void run_tags(Cycle now);
  bool load_line(Operation& operation, std::uint32_t id, const rules::LineAccess& access, Cycle now);
  bool store_line(Operation& operation, std::uint32_t id, const rules::LineAccess& access, Cycle now);
  std::uint32_t send(const memory::Request& prototype, bool load, Cycle now);
  void leave_due_stores(Cycle now);
  memory::Request& leave(const memory::Request& request, Cycle now);
  void leave_store(const memory::Request& store, Cycle now);
  static void put_packets(memory::Request& request, const isa::MemoryForm& form,
                          const work::LaneAddresses& addresses, std::uint32_t executed);
  static void put_signal(memory::Request& request, const Operation& operation, bool last);
  void wait_for(std::uint32_t request, std::uint32_t operation, Cycle now);
  bool load_room(std::uint32_t sectors) const;
  void finish_tags(Cycle now);
  void drain_loads(Cycle now);
  void release_loads(std::uint16_t warp, Cycle now);
  void release(const Operation& operation, std::uint8_t scoreboard, Cycle when);
  void tell_release(const Operation& operation, std::uint8_t scoreboard, Cycle when);
  void notify(Event::Kind kind, const Operation& operation, Cycle when);
  Cycle beside_products(Cycle start, Cycle busy);
  std::uint32_t number_of(const Operation& operation) const {
    return static_cast<std::uint32_t>(&operation - operations_.data());
  }
  void want(Cycle when) { next_tick_ = std::min(next_tick_, when); }

  const spec::GpuSpec& spec_;
  const std::uint32_t sm_;
  const StaticProgram& program_;
  Events& events_;
  stats::LaunchCounters& counters_;
  std::vector<memory::Request>& outbox_;
  DataArray array_;
  L1Tags tags_;
  std::array<Queue, kSubCores> queue_{};
  std::vector<Operation> operations_;
  std::deque<Detail> details_;  // by operation
  std::vector<std::uint32_t> free_operations_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<Waiter> waiters_;
  std::int32_t free_waiter_ = -1;
  std::vector<Memo> memo_;  // by address slot
  struct MemoLines {
    rules::Coalesced lines;
    rules::WrittenBytes written;
  };
  std::vector<std::unique_ptr<MemoLines>>
      memo_lines_;  // by address slot; none before its first access to global or local memory
  struct WarpLoads {
    std::int32_t first = -1, last = -1;
  };
  std::vector<WarpLoads> warp_loads_;  // by warp, in order of their tags: they return in that order
  std::vector<std::uint32_t> loaded_;  // loads that may return, in the order in which they came to be
  std::size_t loaded_first_ = 0;
  std::size_t loads_in_flight_ = 0;
  // Loads that hit and that the data stage has not taken yet are few. Those that waited for data are kept elsewhere
  // and hold up no tags: what a returning line releases at once is no part of this queue.
  std::vector<Cycle>
      hit_starts_;  // of each of the last lsu.data_queue that hit, when its turn among them comes
  std::size_t oldest_start_ = 0;
  Cycle hits_done_ = 0;  // when all of them will have been served
  std::uint32_t operations_in_use_ = 0, requests_in_use_ = 0;
  std::uint32_t lines_in_flight_ = 0, sectors_in_flight_ = 0, store_sectors_in_flight_ = 0;
  std::int64_t tag_operation_ = -1;  // in the tag stage
  std::uint32_t tag_line_ = 0;
  int turn_ = 0;
  std::uint32_t queued_ = 0;  // sub-cores whose queues hold something
  Cycle remote_free_ = 0;     // the way to other SMs' shared memory
  Cycle arbiter_free_ = 0, tag_free_ = 0, data_free_ = 0, fill_free_ = 0, next_tick_ = kNever;
  std::array<Cycle, kSubCores> port_free_{};  // by sub-core: its path to the data stage
  Cycle last_out_ = 0;
  StoreBuffer store_buffer_;
  Cycle texture_free_ = 0;       // the texture unit takes another lookup
  bool stores_here_ = false;     // the program stores to global memory
  bool stores_wait_ = false;     // as of the last tick
  std::uint64_t too_early_ = 0;  // warps that were told so
  SharedSwaps swaps_;
  struct Taken {
    Cycle start = 0, end = 0;
    std::uint32_t shared = 0;
  };
  std::deque<Taken> products_;      // when tensor cores read operands, in order of time
  SmTimeline* timeline_ = nullptr;  // null: nobody looks
};

}  // namespace foretrace::sm
