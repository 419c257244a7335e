#include "model/sm/warp_table.h"

#include "model/units/error.h"

namespace foretrace::sm {

using stats::WarpState;

WarpTable::WarpTable(const SmContext& context)
    : warps(kSubCores * kWarpSlots), cores{SubCore(context.spec), SubCore(context.spec),
                                           SubCore(context.spec), SubCore(context.spec)},
      context_(context) {
  next_tick.fill(kNever);
}

void WarpTable::account_candidate(const SubCore& core, Warp& warp, Cycle now) {
  const std::uint8_t c = warp.instruction->issue_class;
  const WarpState throttle = context_.program.classes[c].throttle;
  const Cycle waited = now - warp.since;
  const std::uint64_t ready =
      core.scheduler.free_cycles[c] - warp.free_before - 1;  // this cycle is the selected one
  const std::uint64_t allocation = core.scheduler.allocate_cycles[c] - warp.allocate_before;
  FORETRACE_ASSERT(ready + allocation <= waited, "a candidate cannot have waited longer than it was one");
  const std::uint64_t throttled = waited - ready - allocation;
  if (context_.timeline) {  // in which order it was is not known
    const std::uint16_t id = id_of(warp);
    const Cycle selectable = now - ready, held = selectable - allocation;
    context_.timeline->waited(id, warp.attributed_to, throttle, warp.since, held);
    context_.timeline->waited(id, warp.attributed_to, WarpState::dispatch_stall, held, selectable);
    context_.timeline->waited(id, warp.attributed_to, WarpState::not_selected, selectable, now);
  }
  stats::LaunchCounters& counters = context_.counters;
  stats::StateCycles& stalled = counters.instructions[warp.attributed_to].stalled;
  const auto add = [&](WarpState state, std::uint64_t cycles) {
    counters.state[static_cast<std::size_t>(state)] += cycles;
    stalled[static_cast<std::size_t>(state)] += cycles;
  };
  add(WarpState::not_selected, ready);
  add(WarpState::dispatch_stall, allocation);
  add(throttle, throttled);
  add(WarpState::selected, 1);
  warp.since = now + 1;
}

void WarpTable::wait_at_barrier(Warp& warp, std::uint16_t id, Cycle now) {
  enter(warp, Phase::barrier, WarpState::barrier, now);
  warp.attributed_to = warp.barrier;
  if (warp.barrier_until == kNever) return;
  warp.phase = Phase::timed;
  warp.ready_at = warp.barrier_until;
  look_when_ready(warp, id);
}

void WarpTable::leave_barrier(std::uint64_t ids, Cycle when) {
  for (std::uint64_t m = ids; m; m &= m - 1) {
    const auto id = static_cast<std::uint16_t>(std::countr_zero(m));
    Warp& warp = warps[id];
    warp.barrier_until = when;
    if (warp.phase != Phase::barrier) continue;
    warp.ready_at = std::max(warp.ready_at, when);
    warp.phase = Phase::timed;  // the wait until then still is the barrier's
    look_when_ready(warp, id);
  }
}

void WarpTable::leave_hold(Warp& warp, std::uint16_t id, Cycle when) {
  warp.hold = Hold::none;
  warp.ready_at = std::max(warp.ready_at, when);
  warp.phase = Phase::timed;  // the wait until then still is what it was
  look_when_ready(warp, id);
}

void WarpTable::hold_dispatch(int sub_core, Cycle cycles, Cycle now) {
  Scheduler& scheduler = cores[static_cast<std::size_t>(sub_core)].scheduler;
  scheduler.dispatch_free = now + 1 + cycles;
  for (std::uint32_t m = scheduler.timed; m; m &= m - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(m));
    Warp& warp = warps[static_cast<std::size_t>(sub_core) * kWarpSlots + slot];
    if (warp.label == WarpState::wait && warp.ready_at > now + 1)
      scheduler.ready[slot] = warp.ready_at += cycles;
  }
}

void WarpTable::fence(std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  Warp& warp = warps[id];
  warp.scoreboards.raise(instruction.read_barrier, true);
  warp.fenced_from = now + instruction.fixed_wait - 1;
  ++warp.fences[instruction.read_barrier];
  if (warp.stores == 0) release_fences(id, now);
}

void WarpTable::release_fences(std::uint16_t id, Cycle now) {
  Warp& warp = warps[id];
  for (std::uint8_t scoreboard = 0; scoreboard < kScoreboards; ++scoreboard) {
    for (; warp.fences[scoreboard] != 0; --warp.fences[scoreboard]) {
      const Cycle when = std::max(now + 1, warp.fenced_from);
      release_at(id, scoreboard, when);
      if (context_.timeline) context_.timeline->sources_read(id, when);
    }
  }
}

void WarpTable::set_scoreboards(std::uint16_t id, const StaticInstruction& instruction, Cycle served,
                                Cycle now) {
  Warp& warp = warps[id];
  if (instruction.write_barrier < kScoreboards) {
    warp.scoreboards.raise(instruction.write_barrier, false);
    const Cycle written = served + std::max<Cycle>(2, instruction.latency);
    release_at(id, instruction.write_barrier, written);
    if (context_.timeline) context_.timeline->written(id, written);
  }
  if (instruction.read_barrier < kScoreboards) {
    warp.scoreboards.raise(instruction.read_barrier, false);
    const spec::RegisterFileSpec& registers = context_.spec.register_file;
    Cycle read = registers.allocate_latency + registers.window + instruction.interval - 1;
    if (instruction.action == Action::transfer) read = context_.spec.tma.source_latency;
    release_at(id, instruction.read_barrier, now + read);
    if (context_.timeline) context_.timeline->sources_read(id, now + read);
  }
}

}  // namespace foretrace::sm
