// The memory pipe of an SM: what its units do to a memory instruction, one after the other.
//
// Models:  the sub-cores' queues, address generation and the arbiter (memory_queues.h); the tag stage with its lines and sectors per cycle
//          (l1_tags.h), which stops where there is no room for a miss (misses.h); the data stage (data_stage.h); loads of a warp that
//          return in order where they miss (load_order.h); write-through stores that allocate in L1 and leave with others (outgoing_requests.h);
//          stores and reductions that the way to L2 has no room for (store_way.h);
//          lookups in textures, whose sectors go through L1 (texture_unit.h).
// Ignores: of the texels of a lane those between the first and last.
// Source:  HUE Tables 1 and 2, CIC, NCU (docs/sources.md).
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/rules/coalescing.h"
#include "model/sm/access_shapes.h"
#include "model/sm/data_stage.h"
#include "model/sm/events.h"
#include "model/sm/l1_tags.h"
#include "model/sm/load_order.h"
#include "model/sm/memory_operation.h"
#include "model/sm/memory_queues.h"
#include "model/sm/misses.h"
#include "model/sm/outgoing_requests.h"
#include "model/sm/static_program.h"
#include "model/sm/store_way.h"
#include "model/sm/swaps.h"
#include "model/sm/texture_unit.h"
#include "model/sm/timeline.h"
#include "model/sm/warp_slots.h"
#include "model/sm/write_back.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"

namespace foretrace::sm {

class MemoryPipe {
 public:
  MemoryPipe(const spec::GpuSpec& spec, std::uint32_t sm, std::uint64_t l1_bytes, std::uint64_t block_shared,
             const StaticProgram& program, Events& events, stats::LaunchCounters& counters,
             std::vector<memory::Request>& outbox);

  // What other units use of it.
  DataStage data;
  OutgoingRequests out;
  L1Tags tags;

  /// What becomes of its operations is told there, which must outlive it.
  void observe(SmTimeline& timeline) {
    timeline_ = &timeline;
    write_back_.observe(timeline);
  }
  bool queue_has_room(int sub_core) const { return queues_.has_room(sub_core); }
  /// Entry of an instruction into its sub-core's queue at `now`. Room must have been asked for.
  void issue(int sub_core, const MemoryIssue& issue, Cycle now);
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
  /// Whether a store waits for others to be done: only then acknowledged() has to be told in time.
  bool stores_wait() const { return stores_wait_ || way_.waits() || out.held_wait(); }
  /// Nothing queued, under way or unacknowledged.
  bool idle() const { return operations_.empty() && out.idle(); }

 private:
  using Operation = MemoryOperation;
  Cycle accepted_from(const Operation& operation, Cycle now) const;
  bool has_room(const Operation& operation) const;
  void accept(std::uint32_t id, Cycle now);
  void accept_other(const Operation& operation, std::uint32_t id, Cycle now);
  void accept_shared(const Operation& operation, std::uint32_t id, Cycle now);
  void accept_global(Operation& operation, std::uint32_t id, Cycle now);
  void run_tags(Cycle now);
  bool load_line(Operation& operation, std::uint32_t id, const rules::LineAccess& access, Cycle now);
  void store_line(Operation& operation, const rules::LineAccess& access, Cycle now);
  void wait_for(std::uint32_t request, std::uint32_t operation, Cycle now);
  void finish_tags(Cycle now);
  void drain_loads(Cycle now);
  void return_load(std::uint32_t id, Cycle now);
  void want(Cycle when) { next_tick_ = std::min(next_tick_, when); }

  const spec::GpuSpec& spec_;
  stats::LaunchCounters& counters_;
  MemoryOperations operations_;
  // The units, in an instruction's order.
  MemoryQueues queues_;
  AccessShapes shapes_;
  TextureUnit texture_;
  Misses misses_;
  LoadOrder loads_;
  SharedSwaps swaps_;
  WriteBack write_back_;
  StoreWay way_;
  const WayPieces pieces_;

  std::int64_t tag_operation_ = -1;  // in the tag stage
  std::uint32_t tag_line_ = 0;
  Cycle tag_free_ = 0, fill_free_ = 0, next_tick_ = kNever;
  bool stores_wait_ = false;        // as of the last tick
  std::uint64_t too_early_ = 0;     // warps that were told so
  SmTimeline* timeline_ = nullptr;  // null: nobody looks
};

}  // namespace foretrace::sm
