// The issue stage of a sub-core: which warp goes this cycle, and in which state the others are.
//
// A warp's next instruction goes through: the stall count (wait, branch_resolving), a barrier that it came to and that holds all but arithmetic
// (barrier), fetch (no_instruction), scoreboards (long_, short_), constant operand (imc_miss); then it is a candidate of its issue class, held by its pipe (math_pipe_throttle, mio_throttle,
// lg_throttle) or by the sub-core's dispatch (dispatch_stall), or ready and not selected. States are accounted for as intervals; what a candidate
// waited for is told by two counters of its class: cycles in which the class could issue, and cycles in which only dispatch held it.
//
// Dispatch is held after an instruction whose operands collide in the register banks (matrix products apart), after wide multiplications, and
// where a warpgroup's product has the registers' ports. Nothing issues then, and stall counts of all warps of the sub-core stand still
// (issue_stall, profiled_issue_states on H100; arithmetic_beside on H200).

#include <algorithm>
#include <bit>

#include "model/rules/branches.h"
#include "model/sm/memory_forms.h"
#include "model/sm/request_marks.h"
#include "model/sm/sm.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

using stats::WarpState;

namespace {

/// The timeline's row of the instruction that issues: what its pipe and its operands take. A memory instruction's way is told by the pipe.
[[gnu::cold]] void tell_issue(const SmContext& context, const Scheduler& scheduler, const Warp& warp,
                              std::uint16_t id, Cycle served, Cycle now) {
  SmTimeline& timeline = *context.timeline;
  const StaticInstruction& instruction = *warp.instruction;
  const IssueClass& issue_class = context.program.classes[instruction.issue_class];
  timeline.issued(id, warp.step.index, warp.step.active, warp.step.executed, now);
  if (issue_class.queue || issue_class.first == spec::Pipe::none) return;
  if (issue_class.first == spec::Pipe::adu) {
    timeline.stage(id, Stage::queue, now + 1, served);
    timeline.stage(id, Stage::execute, std::max(now + 1, served),
                   std::max(now + 1, served) + instruction.interval);
    return;
  }
  const Cycle held = scheduler.dispatch_free > now + 1 ? scheduler.dispatch_free - now - 1 : 0;
  const spec::RegisterFileSpec& registers = context.spec.register_file;
  const Cycle read =
      !instruction.reads.empty() ? now + registers.allocate_latency + 1 + registers.window + held : now + 1;
  timeline.stage(id, Stage::operands, now + 1, read);
  timeline.stage(id, Stage::execute, read,
                 std::max(read + instruction.interval, served + instruction.latency));
}

/// The warp that has issued `done` comes to its block's barrier. True: it was the last; `released` are those that waited.
bool come_to_barrier(Block& block, const StaticInstruction& instruction, const work::Step& done,
                     std::uint64_t waits, std::uint64_t& released) {
  const bool named = instruction.barrier >= 0;
  const auto number = static_cast<std::size_t>(named ? instruction.barrier : done.value & 15);
  const std::uint32_t warps = named ? instruction.barrier_warps : (done.value >> 16) / kWarpSize;
  block.barriers.arrive(number, warps, waits);
  return block.barriers.complete(number, block.live_warps, released);
}

/// After a branch or another instruction that parts or joins lanes, whose stall count has run down at `counted`: when the warp can issue
/// its next instruction. What it waits for until then goes to its states and to `label`.
Cycle go_where(const SmContext& context, WarpTable& table, Warp& warp, const work::Step& done, Cycle counted,
               Cycle now, WarpState& label) {
  const StaticInstruction& instruction = context.program.code[done.index];
  const spec::FetchSpec& fetch = context.spec.fetch;
  stats::LaunchCounters& counters = context.counters;
  ++counters.branches;
  if (instruction.through_adu) ++counters.pipe_inst[static_cast<std::size_t>(spec::Pipe::adu)];
  const rules::Branch branch = rules::branch_between(done, warp.step);
  if (branch.divergent()) ++counters.divergent_branches;
  if (instruction.converges) {
    if (!done.executed) return counted;
    table.account(warp, WarpState::wait, counted);
    label = WarpState::branch_resolving;
    return std::max(counted, now + fetch.converge_latency);
  }
  if (branch.jumps || branch.other_lanes) {
    const Cycle looked_up = instruction.register_target ? fetch.target_latency : 0;
    const Cycle ready = std::max(counted, now + fetch.branch_latency) + looked_up;
    table.account(warp, WarpState::wait, counted);
    table.account(warp, WarpState::branch_resolving,
                  std::min(ready, counted + fetch.resolve_latency + looked_up));
    label = WarpState::no_instruction;
    return ready;
  }
  if (!instruction.compares_lanes || !done.executed) return counted;
  table.account(warp, WarpState::wait, counted);
  label = WarpState::branch_resolving;
  const Cycle further = std::clamp(done.value, 1u, std::uint32_t{kWarpSize}) - 1;
  return counted + fetch.mask_latency + further * fetch.mask_interval;
}

}  // namespace

void Sm::evaluate(std::uint16_t id, Cycle now) {
  Warp& warp = table_.warps[id];
  const StaticInstruction& instruction = *warp.instruction;
  if (warp.barrier_until > now && !(instruction.passes_barrier && context_.program.code[warp.barrier].defers))
    return table_.wait_at_barrier(warp, id, now);
  if (!InstructionCache::holds(warp.code, warp.step.index)) {
    const bool fetched = fetch_.ready(warp.step.index, warp.code, fetch_requests_);
    for (const std::uint32_t line : fetch_requests_) {
      code_outbox.push_back(
          {now, context_.sm, kInstructionMark | line, work::kCodeBase + std::uint64_t{line} * kLineBytes});
    }
    fetch_requests_.clear();
    if (!fetched) {
      table_.enter(warp, Phase::fetch, WarpState::no_instruction, now);
      return;
    }
  }
  if (!warp.scoreboards.clear_for(instruction)) {
    const bool is_long = warp.scoreboards.waits_long(instruction);
    table_.enter(warp, Phase::scoreboard, is_long ? WarpState::long_scoreboard : WarpState::short_scoreboard,
                 now);
    return;
  }
  const bool held_by_constant =
      instruction.constant && (instruction.action != Action::constant_load || instruction.fixed_latency);
  if (held_by_constant && !constants_.operand_ready(warp, id, now)) return;
  Scheduler& scheduler = table_.core(id).scheduler;
  const std::uint8_t c = instruction.issue_class;
  table_.enter(warp, Phase::candidate, WarpState::not_selected, now);
  warp.free_before = scheduler.free_cycles[c];
  warp.allocate_before = scheduler.allocate_cycles[c];
  scheduler.add_candidate(id % kWarpSlots, c);
}

void Sm::tick(int sub_core, Cycle now) {
  SubCore& core = table_.cores[static_cast<std::size_t>(sub_core)];
  Scheduler& scheduler = core.scheduler;
  table_.account_idle(core, now);
  scheduler.ticked = now;
  Cycle& next = table_.next_tick[static_cast<std::size_t>(sub_core)];
  next = kNever;
  for (std::uint32_t m = scheduler.timed; m; m &= m - 1) {
    const int slot = std::countr_zero(m);
    if (scheduler.ready[static_cast<std::size_t>(slot)] > now) continue;
    scheduler.timed &= ~(1u << slot);
    evaluate(static_cast<std::uint16_t>(sub_core * kWarpSlots + slot), now);
  }
  const IssueClass* const classes = context_.program.classes.data();
  const std::uint32_t eligible = scheduler.eligible(classes, memory_.queue_has_room(sub_core), now);
  if (eligible) {
    const Warp* const warps = table_.warps.data() + sub_core * kWarpSlots;
    const int chosen = scheduler.choose(eligible, now, [warps](int slot) { return warps[slot].age; });
    issue(sub_core, static_cast<std::uint16_t>(sub_core * kWarpSlots + chosen), now);
    ++counters.issue_active;
    scheduler.idle_since = now + 1;
  }
  next = scheduler.next_look(classes, memory_.queue_has_room(sub_core), now, next);
}

void Sm::take_pipe(int sub_core, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  SubCore& core = table_.cores[static_cast<std::size_t>(sub_core)];
  Scheduler& scheduler = core.scheduler;
  const IssueClass& issue_class = context_.program.classes[instruction.issue_class];
  spec::Pipe pipe = issue_class.first;
  if (!issue_class.queue && scheduler.pipe_free[static_cast<std::size_t>(pipe)] > now)
    pipe = issue_class.second;
  const auto p = static_cast<std::size_t>(pipe);
  const bool either = instruction.counted == issue_class.first && issue_class.second != spec::Pipe::none;
  ++counters.pipe_inst[either ? p : static_cast<std::size_t>(instruction.counted)];
  served_ = now;
  if (pipe == spec::Pipe::adu) {
    const bool barrier =
        instruction.action == Action::barrier_sync || instruction.action == Action::barrier_arrive;
    const Cycle interval = barrier ? context_.spec.barrier.warp_interval : instruction.interval;
    served_ = adu_.take(interval, now);
    scheduler.pipe_free[p] = core.adu.push(served_, context_.spec.sm.adu_queue);
    counters.pipe_busy[p] += interval;
  } else if (!issue_class.queue && pipe != spec::Pipe::none) {
    scheduler.pipe_free[p] = now + instruction.interval;
    counters.pipe_busy[p] += instruction.interval;
  } else if (pipe == spec::Pipe::tex) {
    counters.pipe_busy[p] += instruction.interval;  // the way into the queue; the unit's passes come after it
  }
  Cycle hold = instruction.hold;
  if (issue_class.allocate) {
    const Cycle conflicts = core.registers.allocate(instruction.reads, id, now);
    counters.register_bank_conflict_cycles += conflicts;
    // A tensor core takes its operands over several cycles: no dispatch_stall to speak of in the matrix products of an H100.
    if (issue_class.first != spec::Pipe::tensor) hold = std::max(hold, conflicts);
  } else {
    core.registers.read(instruction.reads, now);
  }
  if (!instruction.reads.empty()) {
    if (const Cycle late = held_.dispatch_delay(instruction.passes + hold, now)) {
      core.registers.delay(late, now);
      hold += late;
    }
  }
  if (hold) table_.hold_dispatch(sub_core, hold, now);
}

void Sm::issue(int sub_core, std::uint16_t id, Cycle now) {
  SubCore& core = table_.cores[static_cast<std::size_t>(sub_core)];
  Warp& warp = table_.warps[id];
  const StaticInstruction& instruction = *warp.instruction;
  table_.account_candidate(core, warp, now);
  core.scheduler.remove_candidate(id % kWarpSlots, instruction.issue_class);

  const auto active = static_cast<std::uint64_t>(std::popcount(warp.step.active));
  const auto on = static_cast<std::uint64_t>(std::popcount(warp.step.executed));
  stats::InstructionCounters& counted = counters.instructions[warp.step.index];
  ++counted.executed;
  counted.thread_executed += active;
  counted.pred_on += on;
  ++counters.inst_executed;
  if (retries_.any() && retries_.repeats(id)) ++repeated;
  counters.thread_inst_executed += active;
  counters.thread_inst_pred_on += on;
  take_pipe(sub_core, id, instruction, now);
  if (context_.timeline) tell_issue(context_, core.scheduler, warp, id, served_, now);
  execute(sub_core, warp, id, now);
}

/// An instruction that goes through the memory pipe.
void Sm::issue_access(int sub_core, Warp& warp, std::uint16_t id, Cycle now) {
  const StaticInstruction& instruction = *warp.instruction;
  const work::Step& step = warp.step;
  warp.scoreboards.raise(instruction.write_barrier, instruction.long_scoreboard);
  warp.scoreboards.raise(instruction.read_barrier, instruction.long_scoreboard);
  const isa::Access access = instruction.form.access;
  if (instruction.action == Action::memory) {
    if (holds_warp(instruction)) ++warp.stores;
    if (access == isa::Access::async_copy) copies_.groups.add(id);
  }
  MemoryIssue issued{&instruction,
                     step.index,
                     id,
                     copies_.groups.open(id),
                     static_cast<std::uint16_t>(warp.block),
                     WarpTable::generation(warp),
                     step.executed,
                     0,
                     &warp.cursor};
  issued.remote = instruction.action == Action::memory && step.executed &&
                  accesses_other_block(blocks_[warp.block], warp);
  issued.local_base =
      work::kLocalBase + (std::uint64_t{context_.sm} * table_.warps.size() + id) * work::kLocalWarpBytes;
  if (instruction.form.texture) issued.passes = step.value;
  if (instruction.compares_lanes) issued.passes = std::clamp(step.value, 1u, std::uint32_t{kWarpSize});
  if (loops_.any()) loops_.tell_and_wait(warp, id, issued);
  if (retries_.any()) retries_.tell(warp, issued);
  if (instruction.barrier_use == isa::BarrierUse::copy_arrive && step.executed) {
    copies_.commit_to_barrier(id, mbarriers_.add(warp, id), now);
  } else if (instruction.barrier_use != isa::BarrierUse::none && step.executed) {
    issued.barrier_op = 1 + mbarriers_.add(warp, id);
  }
  memory_.issue(sub_core, issued, now);
}

/// What an instruction does beyond occupying its pipe, and what its warp does next.
void Sm::execute(int sub_core, Warp& warp, std::uint16_t id, Cycle now) {
  const StaticInstruction& instruction = *warp.instruction;
  const work::Step step = warp.step;
  switch (instruction.action) {
    case Action::memory:
    case Action::memory_other: issue_access(sub_core, warp, id, now); break;
    case Action::constant_load:
      if (instruction.fixed_latency) {
        table_.set_scoreboards(id, instruction, served_, now);
      } else {
        constants_.load(warp, id, step.executed, served_, now);
        warp.scoreboards.raise(instruction.read_barrier, false);
        if (instruction.read_barrier < kScoreboards) {
          const Cycle read = served_ + context_.spec.lsu.source_latency;
          table_.release_at(id, instruction.read_barrier, read);
          if (context_.timeline) context_.timeline->sources_read(id, read);
        }
      }
      break;
    case Action::store_fence: table_.fence(id, instruction, now); break;
    case Action::commit_copies: copies_.commit(warp, id, instruction.write_barrier, now); break;
    case Action::unknown:
      if (step.executed != 0) context_.program.stop_at(step.index);
      break;
    case Action::transfer:
      table_.set_scoreboards(id, instruction, served_, now);
      if (step.executed) bulk_.start(warp, id, now);
      break;
    case Action::commit_transfers:
      if (step.executed) bulk_.commit(warp, id, instruction, now);
      break;
    case Action::product:
      table_.set_scoreboards(id, instruction, served_, now);
      if (step.executed) held_.issue_product(warp, instruction, now);
      break;
    default:
      if (instruction.write_barrier < kScoreboards || instruction.read_barrier < kScoreboards)
        table_.set_scoreboards(id, instruction, served_, now);
      if (instruction.barrier_use == isa::BarrierUse::init && step.executed)
        mbarriers_.execute(mbarriers_.add(warp, id), now, now);
      break;
  }
  go_on(warp, id, step, now);
}

/// After the issue of `done`: what holds the warp until it can issue its next instruction.
void Sm::go_on(Warp& warp, std::uint16_t id, const work::Step& done, Cycle now) {
  const StaticInstruction& instruction = context_.program.code[done.index];
  const Cycle dispatched = std::max(now + 1, table_.core(id).scheduler.dispatch_free);
  Cycle ready = dispatched + std::max<Cycle>(1, instruction.stall) - 1;
  if (instruction.yield && instruction.stall <= 1) ready = dispatched + 1;
  const Cycle counted = ready;  // its stall count has run down
  warp.constant_at = kNever;
  const bool more = loops_.any() ? loops_.next_step(warp, id, done) : next_step(warp, blocks_);
  if (more && retries_.any()) retries_.next_step(warp, id);
  if (!more) {
    ready = std::max(counted, now + context_.spec.fetch.converge_latency);
    table_.account(warp, WarpState::dispatch_stall, dispatched);
    table_.account(warp, WarpState::wait, counted);
    table_.account(warp, WarpState::branch_resolving, ready);
    warp.label = WarpState::drain;
    warp.phase = Phase::drain;
    warp.ready_at = ready;
    if (warp.stores == 0) events_.push(ready, {Event::Kind::end, 0, id, 0, WarpTable::generation(warp)});
    return;
  }
  warp.attributed_to = warp.step.index;
  table_.account(warp, WarpState::dispatch_stall, dispatched);
  WarpState label = WarpState::wait;
  bool attribute_to_done = false;
  switch (instruction.action) {
    case Action::control: ready = go_where(context_, table_, warp, done, ready, now, label); break;
    case Action::block_fence:
      ready = std::max(ready, now + instruction.fixed_wait);
      label = WarpState::membar;
      attribute_to_done = true;
      break;
    case Action::announce:
      if (done.executed && !std::exchange(blocks_[warp.block].announced, true))
        ended.push_back({now, context_.sm, false, blocks_[warp.block].grid, true});
      break;
    case Action::invalidate:
      if (done.executed) memory_.tags.invalidate();
      break;
    case Action::membar:
      return held_.hold(warp, id, done, std::max(ready, now + instruction.fixed_wait), counted, now);
    case Action::sleep:
      if (done.executed == 0) break;
      ready = std::max<Cycle>(
          ready, now + instruction.fixed_wait + Cycle{done.value} * context_.spec.clock.sm / 1'000'000'000);
      label = WarpState::sleeping;
      attribute_to_done = true;
      break;
    case Action::yield: ready = std::max(ready, now + context_.spec.sm.yield_latency); break;
    case Action::barrier_sync:
    case Action::barrier_arrive: {
      if (!done.executed) break;
      const bool waits = instruction.action == Action::barrier_sync;
      if (waits) {
        warp.barrier = done.index;
        warp.barrier_until = kNever;
        ++counters.barriers_waited;
      }
      std::uint64_t released = 0;
      if (come_to_barrier(blocks_[warp.block], instruction, done, waits ? std::uint64_t{1} << id : 0,
                          released)) {
        const Cycle complete =
            std::max(std::max(now, served_) + context_.spec.barrier.warp_interval, now + 1);
        table_.leave_barrier(released, complete + context_.spec.barrier.latency);
      }
      break;
    }
    case Action::product_begin:
    case Action::product_wait:
    case Action::registers:
    case Action::cluster_wait:
      if (done.executed) return held_.hold(warp, id, done, ready, counted, now);
      break;
    case Action::cluster_arrive:
      if (done.executed) cluster_.arrive(blocks_[warp.block], warp, now);
      break;
    default: break;
  }
  warp.instruction = &context_.program.code[warp.step.index];
  table_.wait_until(warp, id, ready, label, now + 1);
  if (attribute_to_done) warp.attributed_to = done.index;
}

}  // namespace foretrace::sm
