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
#include <vector>

#include "model/memory/memory_system.h"
#include "model/rules/coalescing.h"
#include "model/sm/access_shapes.h"
#include "model/sm/data_array.h"
#include "model/sm/event_wheel.h"
#include "model/sm/l1_tags.h"
#include "model/sm/memory_operation.h"
#include "model/sm/misses.h"
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
  bool idle() const { return operations_.empty() && requests_in_use_ == 0 && store_buffer_.due() == kNever; }

 private:
  static constexpr Cycle kTagToData = 1;  // the data stage follows the tag stage
  static constexpr std::uint32_t kStoreMark =
      0x4000'0000;  // ids of stores: with it their sectors, and nothing is kept of them
  using Operation = MemoryOperation;
  struct Queue {
    std::array<std::uint32_t, 16> operation{};
    std::uint32_t first = 0, size = 0;
    Cycle generator_free = 0;
  };
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
  void wait_for(std::uint32_t request, std::uint32_t operation, Cycle now);
  void finish_tags(Cycle now);
  void drain_loads(Cycle now);
  void release_loads(std::uint16_t warp, Cycle now);
  void release(const Operation& operation, std::uint8_t scoreboard, Cycle when);
  void tell_release(const Operation& operation, std::uint8_t scoreboard, Cycle when);
  void notify(Event::Kind kind, const Operation& operation, Cycle when);
  Cycle beside_products(Cycle start, Cycle busy);
  void want(Cycle when) { next_tick_ = std::min(next_tick_, when); }

  const spec::GpuSpec& spec_;
  const std::uint32_t sm_;
  const StaticProgram& program_;
  Events& events_;
  stats::LaunchCounters& counters_;
  std::vector<memory::Request>& outbox_;
  DataArray array_;
  L1Tags tags_;
  AccessShapes shapes_;
  Misses misses_;
  std::array<Queue, kSubCores> queue_{};
  MemoryOperations operations_;
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
  std::uint32_t requests_in_use_ = 0, store_sectors_in_flight_ = 0;
  std::int64_t tag_operation_ = -1;  // in the tag stage
  std::uint32_t tag_line_ = 0;
  int turn_ = 0;
  std::uint32_t queued_ = 0;  // sub-cores whose queues hold something
  Cycle copied_free_ = 0;     // the way of asynchronous copies into shared memory
  Cycle remote_free_ = 0;     // the way to other SMs' shared memory
  Cycle arbiter_free_ = 0, tag_free_ = 0, data_free_ = 0, fill_free_ = 0, next_tick_ = kNever;
  std::array<Cycle, kSubCores> port_free_{};  // by sub-core: its path to the data stage
  Cycle last_out_ = 0;
  StoreBuffer store_buffer_;
  Cycle texture_free_ = 0;       // the texture unit takes another lookup
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
