// The resident warps of an SM: what each waits for, and the cycles that it has waited.
//
// Models:  every warp is in exactly one of Nsight Compute's states at any cycle; a state's cycles are counted as an interval when it ends,
//          for the instruction that the warp waits with.
// Note:    the units of an SM look their warps up here, move them from state to state and have them looked at again.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/memory/gpc_cache.h"
#include "model/sm/adu.h"
#include "model/sm/blocks.h"
#include "model/sm/constant_cache.h"
#include "model/sm/instruction_cache.h"
#include "model/sm/memory_pipe.h"
#include "model/sm/register_file.h"
#include "model/sm/scheduler.h"
#include "model/sm/scoreboards.h"
#include "model/sm/static_program.h"
#include "model/sm/timeline.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// Where a warp stands.
enum class Phase : std::uint8_t {
  free,        ///< no warp
  timed,       ///< waits for a known cycle
  scoreboard,  ///< for its scoreboards
  candidate,   ///< for its sub-core's scheduler
  barrier,     ///< for other warps
  fetch,       ///< for its code or a constant operand
  drain        ///< has issued its last instruction
};
/// What a warp that is held waits for.
enum class Hold : std::uint8_t { none, groups, begun, registers, cluster, fence };

struct Warp {
  work::WarpCursor cursor;
  work::Step step;
  const StaticInstruction* instruction = nullptr;
  Cycle ready_at = 0, since = 0, started = 0;
  std::uint64_t age = 0, free_before = 0, allocate_before = 0;
  std::uint32_t block = 0;
  std::uint32_t in_block = 0;  ///< its number in the block
  std::uint32_t part = 0;      ///< of its record, that `cursor` reads
  InstructionCache::Buffer code;
  Cycle constant_at = kNever;  ///< when the constant operand that its instruction waits for is there for it
  std::uint32_t stores = 0;    ///< instructions whose data have not left the memory pipe, and atomics
  std::array<std::uint8_t, kScoreboards> fences{};  ///< MEMBARs that wait for these stores, by scoreboard
  Cycle fenced_from = 0;                            ///< when the last of them is over, whatever it waits for
  std::uint64_t fence =
      0;  ///< StoreFences::fence() of the MEMBAR that holds it; 0: its own stores come first
  std::uint32_t attributed_to = 0;  ///< instruction that the warp's present state is counted for
  Scoreboards scoreboards;
  std::uint32_t registers = 0;         ///< a thread
  std::uint64_t cluster_arrivals = 0;  ///< at the cluster's barrier
  std::uint32_t barrier = 0;           ///< the instruction that it came to a barrier by
  Cycle barrier_until = 0;  ///< what passes no barrier waits until then; kNever: others have not come
  Hold hold = Hold::none;
  Phase phase = Phase::free;
  stats::WarpState label = stats::WarpState::wait;
};

/// A sub-core (Nsight Compute's SMSP).
struct SubCore {
  Scheduler scheduler;
  AduQueue adu;
  RegisterFile registers;
  ConstantCache constants;
  explicit SubCore(const spec::GpuSpec& spec)
      : registers(spec.register_file), constants(spec.constant.l0_bytes, spec.constant.line_bytes) {}
};

/// What all units of an SM see.
struct SmContext {
  const spec::GpuSpec& spec;
  const std::uint32_t sm;
  const StaticProgram& program;
  Events& events;
  stats::LaunchCounters& counters;
  SmTimeline* timeline = nullptr;  ///< null: nobody looks
};

class WarpTable {
 public:
  explicit WarpTable(const SmContext& context);

  std::vector<Warp> warps;  ///< by id: sub-core * kWarpSlots + slot
  std::array<SubCore, kSubCores> cores;
  std::array<Cycle, kSubCores> next_tick;  ///< by sub-core: when it is looked at next

  static int core_of(std::uint16_t id) { return id / kWarpSlots; }
  static std::uint32_t generation(const Warp& warp) { return static_cast<std::uint32_t>(warp.age); }
  std::uint16_t id_of(const Warp& warp) const { return static_cast<std::uint16_t>(&warp - warps.data()); }
  SubCore& core(std::uint16_t id) { return cores[static_cast<std::size_t>(core_of(id))]; }

  /// Counts the warp's cycles up to `until` as `state`.
  void account(Warp& warp, stats::WarpState state, Cycle until) {
    if (until <= warp.since) return;
    const Cycle cycles = until - warp.since;
    context_.counters.state[static_cast<std::size_t>(state)] += cycles;
    context_.counters.instructions[warp.attributed_to].stalled[static_cast<std::size_t>(state)] += cycles;
    if (context_.timeline)
      context_.timeline->waited(id_of(warp), warp.attributed_to, state, warp.since, until);
    warp.since = until;
  }
  /// The same of a candidate that goes at `now`: what it waited for, and the cycle of its issue.
  void account_candidate(const SubCore& core, Warp& warp, Cycle now);
  /// The scheduler's cycles without an issue up to `now`.
  void account_idle(SubCore& core, Cycle now) {
    Scheduler& scheduler = core.scheduler;
    if (now <= scheduler.idle_since) return;
    context_.counters.idle_reason[static_cast<std::size_t>(scheduler.idle_reason)] +=
        now - scheduler.idle_since;
    scheduler.idle_since = now;
  }
  /// The warp's state from `now` on.
  void enter(Warp& warp, Phase phase, stats::WarpState label, Cycle now) {
    account(warp, warp.label, now);
    warp.phase = phase;
    warp.label = label;
    warp.attributed_to = warp.step.index;
  }
  void wait_until(Warp& warp, std::uint16_t id, Cycle when, stats::WarpState label, Cycle now) {
    enter(warp, Phase::timed, label, now);
    warp.ready_at = when;
    look_when_ready(warp, id);
  }
  /// Looks at the warp again when it is ready.
  void look_when_ready(const Warp& warp, std::uint16_t id) {
    Scheduler& scheduler = core(id).scheduler;
    scheduler.timed |= 1u << (id % kWarpSlots);
    scheduler.ready[id % kWarpSlots] = warp.ready_at;
    look_at(core_of(id), warp.ready_at);
  }
  void look_at(int sub_core, Cycle when) {
    Cycle& next = next_tick[static_cast<std::size_t>(sub_core)];
    next = std::min(next, when);
  }
  /// The warp came to a barrier that is not over at `now`, and its next instruction waits for that.
  void wait_at_barrier(Warp& warp, std::uint16_t id, Cycle now);
  /// Warps that a barrier of their block holds, by bit, go on at `when`.
  void leave_barrier(std::uint64_t ids, Cycle when);
  /// A held warp goes on at `when`.
  void leave_hold(Warp& warp, std::uint16_t id, Cycle when);
  /// Nothing of the sub-core issues in the `cycles` after `now`; its warps' stall counts stand still.
  void hold_dispatch(int sub_core, Cycle cycles, Cycle now);
  /// The release of a scoreboard of the warp at `when`.
  void release_at(std::uint16_t id, std::uint8_t scoreboard, Cycle when) {
    context_.events.push(when, {Event::Kind::release, scoreboard, id, 0, generation(warps[id])});
  }
  /// MEMBAR.CTA at `now`: its scoreboard is released when the warp's stores have been made.
  void fence(std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  /// The last store of the warp has been made at `now`.
  void release_fences(std::uint16_t id, Cycle now);
  /// Scoreboards of an instruction that is issued at `now`, served at `served`, and whose latency is known then.
  void set_scoreboards(std::uint16_t id, const StaticInstruction& instruction, Cycle served, Cycle now);

 private:
  const SmContext& context_;
};

/// Reads the warp's next instruction; false: it has executed its last.
inline bool next_step(Warp& warp, const Blocks& blocks) {
  while (!warp.cursor.next(warp.step)) {
    work::RecordStream* rest = blocks[warp.block].record->rest.get();
    const work::WarpRecord* more = rest ? rest->next(warp.in_block) : nullptr;
    if (more == nullptr) return false;
    warp.cursor.go_on_with(*more);
    ++warp.part;
  }
  return true;
}

}  // namespace foretrace::sm
