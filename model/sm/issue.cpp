// The issue stage of a sub-core: which warp goes this cycle, and in which state the others are.
//
// A warp's next instruction goes through: the stall count (wait, branch_resolving), fetch (no_instruction), scoreboards (long_, short_),
// constant operand (imc_miss); then it is a candidate of its issue class, held by its pipe (math_pipe_throttle, mio_throttle,
// lg_throttle) or by the sub-core's dispatch (dispatch_stall), or ready and not selected. States are booked as intervals; what a candidate
// waited for is told by two counters of its class: cycles in which the class could issue, and cycles in which only dispatch held it.
//
// Dispatch is held after an instruction whose operands collide in the register banks (matrix products apart) and after wide multiplications. Nothing issues then,
// and stall counts of all warps of the sub-core stand still (issue_stall, profiled_issue_states on H100).

#include <algorithm>
#include <bit>

#include "model/sm/sm.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

using stats::WarpState;

namespace {
// Idle reasons of stats::LaunchCounters::idle_reason.
constexpr int kNoWarp = 0, kNoneEligible = 1, kPipeBusy = 2, kQueueFull = 3;
}  // namespace

void Sm::book(Warp& warp, WarpState state, Cycle until) {
  if (until <= warp.since) return;
  const Cycle cycles = until - warp.since;
  counters.state[static_cast<std::size_t>(state)] += cycles;
  counters.instructions[warp.blame].stalled[static_cast<std::size_t>(state)] += cycles;
  if (timeline_) timeline_->waited(slot_of(warp), warp.blame, state, warp.since, until);
  warp.since = until;
}

void Sm::enter(Warp& warp, Phase phase, WarpState label, Cycle now) {
  book(warp, warp.label, now);
  warp.phase = phase;
  warp.label = label;
  warp.blame = warp.step.index;
}

void Sm::wait_until(Warp& warp, std::uint16_t id, Cycle when, WarpState label, Cycle now) {
  enter(warp, Phase::timed, label, now);
  warp.ready_at = when;
  look_when_ready(warp, id);
}

void Sm::book_idle(SubCore& core, Cycle now) {
  if (now > core.idle_since) {
    counters.idle_reason[static_cast<std::size_t>(core.idle_reason)] += now - core.idle_since;
    core.idle_since = now;
  }
}

bool Sm::scoreboards_clear(const Warp& warp) const {
  const StaticInstruction& instruction = *warp.instruction;
  for (std::uint32_t m = instruction.wait_mask; m; m &= m - 1) {
    if (warp.scoreboard[static_cast<std::size_t>(std::countr_zero(m))]) return false;
  }
  return instruction.action != Action::depbar ||
         warp.scoreboard[instruction.depbar_scoreboard] <= instruction.depbar_count;
}

void Sm::evaluate(std::uint16_t id, Cycle now) {
  Warp& warp = warps_[id];
  const int sub_core = core_of(id);
  SubCore& core = cores_[static_cast<std::size_t>(sub_core)];
  const StaticInstruction& instruction = *warp.instruction;
  if (!InstructionCache::holds(warp.code, warp.step.index)) {
    const bool fetched = fetch_.ready(warp.step.index, warp.code, fetch_requests_);
    for (const std::uint32_t line : fetch_requests_) {
      code_outbox.push_back(
          {now, id_, kInstructionMark | line, work::kCodeBase + std::uint64_t{line} * kLineBytes, false});
    }
    fetch_requests_.clear();
    if (!fetched) {
      enter(warp, Phase::fetch, WarpState::no_instruction, now);
      return;
    }
  }
  if (!scoreboards_clear(warp)) {
    std::uint32_t blocking = instruction.wait_mask;
    if (instruction.action == Action::depbar) blocking |= 1u << instruction.depbar_scoreboard;
    const bool is_long = (blocking & warp.long_scoreboards) != 0;
    enter(warp, Phase::scoreboard, is_long ? WarpState::long_scoreboard : WarpState::short_scoreboard, now);
    return;
  }
  const bool held_by_constant =
      instruction.constant && (instruction.action != Action::constant_load || instruction.fixed_latency);
  if (held_by_constant && !constant_ready(warp, id, now)) return;
  const std::uint8_t c = instruction.issue_class;
  enter(warp, Phase::candidate, WarpState::not_selected, now);
  warp.free_before = core.free_cycles[c];
  warp.allocate_before = core.allocate_cycles[c];
  core.candidates[c] |= 1u << (id % kSlots);
  core.classes_waiting |= 1u << c;
}

bool Sm::class_free(const SubCore& core, int sub_core, const IssueClass& c, Cycle now) const {
  if (c.queue) return memory_.queue_has_room(sub_core);
  return core.pipe_free[static_cast<std::size_t>(c.first)] <= now ||
         (c.second != spec::Pipe::none && core.pipe_free[static_cast<std::size_t>(c.second)] <= now);
}

void Sm::tick(int sub_core, Cycle now) {
  SubCore& core = cores_[static_cast<std::size_t>(sub_core)];
  book_idle(core, now);
  core.ticked = now;
  Cycle& next = next_tick_[static_cast<std::size_t>(sub_core)];
  next = kNever;
  for (std::uint32_t m = core.timed; m; m &= m - 1) {
    const int slot = std::countr_zero(m);
    if (core.ready[static_cast<std::size_t>(slot)] > now) continue;
    core.timed &= ~(1u << slot);
    evaluate(static_cast<std::uint16_t>(sub_core * kSlots + slot), now);
  }
  std::uint32_t eligible = 0;
  const bool held = core.dispatch_free > now;
  const IssueClass* const classes = program_.classes.data();
  for (std::uint32_t m = core.classes_waiting; m; m &= m - 1) {
    const auto c = static_cast<std::size_t>(std::countr_zero(m));
    if (!class_free(core, sub_core, classes[c], now)) continue;
    if (held) {
      ++core.allocate_cycles[c];
      continue;
    }
    ++core.free_cycles[c];
    eligible |= core.candidates[c];
  }
  if (eligible) {
    int chosen = core.greedy;
    if (chosen < 0 || !(eligible >> chosen & 1)) {  // not the same warp again: the youngest
      std::uint64_t youngest = 0;
      for (std::uint32_t m = eligible; m; m &= m - 1) {
        const int slot = std::countr_zero(m);
        const std::uint64_t age = warps_[static_cast<std::size_t>(sub_core * kSlots + slot)].age + 1;
        if (age > youngest) {
          youngest = age;
          chosen = slot;
        }
      }
    }
    core.greedy = chosen;
    issue(sub_core, static_cast<std::uint16_t>(sub_core * kSlots + chosen), now);
    ++counters.issue_active;
    core.idle_since = now + 1;
  }
  // When to look again, and what the cycles until then are.
  int reason = core.resident ? kNoneEligible : kNoWarp;
  Cycle soonest = next;
  for (std::uint32_t m = core.classes_waiting; m; m &= m - 1) {
    const IssueClass& issue_class = classes[std::countr_zero(m)];
    Cycle free = now + 1;
    if (issue_class.queue) {
      reason = kQueueFull;
      if (!memory_.queue_has_room(sub_core)) continue;  // the memory pipe's tick comes back here
    } else {
      if (reason < kPipeBusy) reason = kPipeBusy;
      free = core.pipe_free[static_cast<std::size_t>(issue_class.first)];
      if (issue_class.second != spec::Pipe::none) {
        free = std::min(free, core.pipe_free[static_cast<std::size_t>(issue_class.second)]);
      }
    }
    soonest = std::min(soonest, std::max(now + 1, free));
  }
  for (std::uint32_t m = core.timed; m; m &= m - 1) {
    soonest = std::min(soonest, core.ready[static_cast<std::size_t>(std::countr_zero(m))]);
  }
  core.idle_reason = reason;
  next = soonest;
}

void Sm::book_candidate(SubCore& core, Warp& warp, Cycle now) {
  const std::uint8_t c = warp.instruction->issue_class;
  const Cycle waited = now - warp.since;
  const std::uint64_t ready = core.free_cycles[c] - warp.free_before - 1;  // this cycle is the selected one
  const std::uint64_t allocation = core.allocate_cycles[c] - warp.allocate_before;
  FORETRACE_ASSERT(ready + allocation <= waited, "a candidate cannot have waited longer than it was one");
  const std::uint64_t throttled = waited - ready - allocation;
  stats::StateCycles& stalled = counters.instructions[warp.blame].stalled;
  const auto add = [&](WarpState state, std::uint64_t cycles) {
    counters.state[static_cast<std::size_t>(state)] += cycles;
    stalled[static_cast<std::size_t>(state)] += cycles;
  };
  add(WarpState::not_selected, ready);
  add(WarpState::dispatch_stall, allocation);
  add(program_.classes[c].throttle, throttled);
  add(WarpState::selected, 1);
  warp.since = now + 1;
}

void Sm::take_pipe(int sub_core, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  SubCore& core = cores_[static_cast<std::size_t>(sub_core)];
  const IssueClass& issue_class = program_.classes[instruction.issue_class];
  spec::Pipe pipe = issue_class.first;
  if (!issue_class.queue && core.pipe_free[static_cast<std::size_t>(pipe)] > now) pipe = issue_class.second;
  const auto p = static_cast<std::size_t>(pipe);
  const bool either = instruction.counted == issue_class.first && issue_class.second != spec::Pipe::none;
  ++counters.pipe_inst[either ? p : static_cast<std::size_t>(instruction.counted)];
  served_ = now;
  if (pipe == spec::Pipe::adu) {
    take_adu(core, instruction, now);
  } else if (!issue_class.queue && pipe != spec::Pipe::none) {
    core.pipe_free[p] = now + instruction.interval;
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
  if (hold) hold_back(core, sub_core, hold, now);
}

/// The ADU is one for the SM: it takes instructions in the order of their issue, and each sub-core has a few places to wait.
void Sm::take_adu(SubCore& core, const StaticInstruction& instruction, Cycle now) {
  constexpr auto kAdu = static_cast<std::size_t>(spec::Pipe::adu);
  const bool barrier =
      instruction.action == Action::barrier_sync || instruction.action == Action::barrier_arrive;
  const Cycle interval = barrier ? spec_.barrier.warp_interval : instruction.interval;
  if (replay_cycles_ && replays_from_ <= now) {
    adu_free_ = std::max(adu_free_, replays_from_) + replay_cycles_;
    replay_cycles_ = 0;
  }
  served_ = std::max(now, adu_free_);
  adu_free_ = served_ + interval;
  counters.pipe_busy[kAdu] += interval;
  core.adu[core.adu_next] = served_;
  core.adu_next = (core.adu_next + 1) % spec_.sm.adu_queue;
  core.pipe_free[kAdu] = core.adu[core.adu_next] + 1;  // when the oldest has left
}

/// Nothing issues in the `cycles` after `now`; other warps' stall counts stand still.
void Sm::hold_back(SubCore& core, int sub_core, Cycle cycles, Cycle now) {
  core.dispatch_free = now + 1 + cycles;
  for (std::uint32_t m = core.timed; m; m &= m - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(m));
    Warp& warp = warps_[static_cast<std::size_t>(sub_core) * kSlots + slot];
    if (warp.label == WarpState::wait && warp.ready_at > now + 1) core.ready[slot] = warp.ready_at += cycles;
  }
}

void Sm::issue(int sub_core, std::uint16_t id, Cycle now) {
  SubCore& core = cores_[static_cast<std::size_t>(sub_core)];
  Warp& warp = warps_[id];
  const StaticInstruction& instruction = *warp.instruction;
  const std::uint8_t c = instruction.issue_class;
  if (timeline_) tell_candidate(core, warp, now);
  book_candidate(core, warp, now);
  core.candidates[c] &= ~(1u << (id % kSlots));
  if (core.candidates[c] == 0) core.classes_waiting &= ~(1u << c);

  const auto active = static_cast<std::uint64_t>(std::popcount(warp.step.active));
  const auto on = static_cast<std::uint64_t>(std::popcount(warp.step.executed));
  stats::InstructionCounters& counted = counters.instructions[warp.step.index];
  ++counted.executed;
  counted.thread_executed += active;
  counted.pred_on += on;
  ++counters.inst_executed;
  counters.thread_inst_executed += active;
  counters.thread_inst_pred_on += on;
  take_pipe(sub_core, id, instruction, now);
  if (timeline_) tell_issue(core, id, now);
  act(sub_core, warp, id, now);
}

void Sm::raise(Warp& warp, std::uint8_t scoreboard, bool is_long) {
  if (scoreboard >= kScoreboards) return;
  ++warp.scoreboard[scoreboard];
  if (is_long) warp.long_scoreboards = static_cast<std::uint8_t>(warp.long_scoreboards | 1u << scoreboard);
}

/// Scoreboards of an instruction whose latency is known at issue.
void Sm::set_scoreboards(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  if (instruction.write_barrier < kScoreboards) {
    raise(warp, instruction.write_barrier, false);
    const Cycle written = served_ + std::max<Cycle>(2, instruction.latency);
    events_.push(written, {Event::Kind::release, instruction.write_barrier, id, 0, generation(warp)});
    if (timeline_) timeline_->written(id, written);
  }
  if (instruction.read_barrier < kScoreboards) {
    raise(warp, instruction.read_barrier, false);
    Cycle read = 2 + spec_.register_file.window + instruction.interval - 1;  // control, allocate, operands
    if (instruction.action == Action::transfer) read = spec_.tma.source_latency;
    events_.push(now + read, {Event::Kind::release, instruction.read_barrier, id, 0, generation(warp)});
    if (timeline_) timeline_->sources_read(id, now + read);
  }
}

/// What a candidate that issues waited for, as book_candidate() books it; in which order it was is not known.
[[gnu::cold]] void Sm::tell_candidate(const SubCore& core, const Warp& warp, Cycle now) {
  const std::uint8_t c = warp.instruction->issue_class;
  const Cycle selectable = now - (core.free_cycles[c] - warp.free_before - 1);
  const Cycle held = selectable - (core.allocate_cycles[c] - warp.allocate_before);
  const std::uint16_t slot = slot_of(warp);
  timeline_->waited(slot, warp.blame, program_.classes[c].throttle, warp.since, held);
  timeline_->waited(slot, warp.blame, WarpState::dispatch_stall, held, selectable);
  timeline_->waited(slot, warp.blame, WarpState::not_selected, selectable, now);
}

/// The timeline's row of the instruction that issues: what its pipe and its operands take. A memory instruction's way is told by the pipe.
[[gnu::cold]] void Sm::tell_issue(const SubCore& core, std::uint16_t id, Cycle now) {
  const Warp& warp = warps_[id];
  const StaticInstruction& instruction = *warp.instruction;
  const IssueClass& issue_class = program_.classes[instruction.issue_class];
  timeline_->issued(id, warp.step.index, warp.step.active, warp.step.executed, now);
  if (issue_class.queue || issue_class.first == spec::Pipe::none) return;
  if (issue_class.first == spec::Pipe::adu) {
    timeline_->stage(id, Stage::queue, now + 1, served_);
    timeline_->stage(id, Stage::execute, std::max(now + 1, served_),
                     std::max(now + 1, served_) + instruction.interval);
    return;
  }
  const Cycle held = core.dispatch_free > now + 1 ? core.dispatch_free - now - 1 : 0;
  const Cycle read = !instruction.reads.empty() ? now + 3 + spec_.register_file.window + held
                                                : now + 1;  // control, allocate, operands
  timeline_->stage(id, Stage::operands, now + 1, read);
  timeline_->stage(id, Stage::execute, read,
                   std::max(read + instruction.interval, served_ + instruction.latency));
}

void Sm::act(int sub_core, Warp& warp, std::uint16_t id, Cycle now) {
  const StaticInstruction& instruction = *warp.instruction;
  const work::Step step = warp.step;
  switch (instruction.action) {
    case Action::memory:
    case Action::memory_other: {
      raise(warp, instruction.write_barrier, instruction.long_scoreboard);
      raise(warp, instruction.read_barrier, instruction.long_scoreboard);
      const isa::Access access = instruction.form.access;
      if (instruction.action == Action::memory) {
        if (access == isa::Access::store || access == isa::Access::reduction) ++warp.stores;
        if (access == isa::Access::async_copy) ++groups_of(id)[warp.group_now].pending;
      }
      MemoryIssue issued{
          &instruction,     step.index,    id, warp.group_now, static_cast<std::uint16_t>(warp.block),
          generation(warp), step.executed, 0,  &warp.cursor};
      issued.remote = instruction.action == Action::memory && step.executed && is_remote(warp, instruction);
      issued.local_base = work::kLocalBase + ((std::uint64_t{id_} * warps_.size() + id)
                                              << 26);  // a window for each warp that can be resident
      if (instruction.form.texture) issued.passes = step.value;
      if (!rounds_.empty()) tell_and_wait(warp, id, step, issued);
      if (instruction.barrier_use == isa::BarrierUse::copy_arrive && step.executed) {
        CopyGroup& group = groups_of(id)[warp.group_now];
        group.barrier_op = 1 + new_barrier_op(warp, id, step);
        commit_copies(warp, id, {}, now);
      } else if (instruction.barrier_use != isa::BarrierUse::none && step.executed) {
        issued.barrier_op = 1 + new_barrier_op(warp, id, step);
      }
      memory_.issue(sub_core, issued, now);
      break;
    }
    case Action::constant_load:
      if (instruction.fixed_latency) {
        set_scoreboards(warp, id, instruction, now);
      } else {
        load_constant(warp, id, instruction, step.executed, served_);
        raise(warp, instruction.read_barrier, false);
        if (instruction.read_barrier < kScoreboards) {
          events_.push(served_ + spec_.lsu.source_latency,
                       {Event::Kind::release, instruction.read_barrier, id, 0, generation(warp)});
          if (timeline_) timeline_->sources_read(id, served_ + spec_.lsu.source_latency);
        }
      }
      break;
    case Action::commit_copies: commit_copies(warp, id, instruction, now); break;
    case Action::unknown:
      if (step.executed != 0) program_.stop_at(step.index);
      break;
    case Action::transfer:
      set_scoreboards(warp, id, instruction, now);
      if (step.executed) start_transfer(warp, id, now);
      break;
    case Action::commit_transfers:
      if (step.executed) commit_transfers(warp, id, instruction, now);
      break;
    case Action::product:
      set_scoreboards(warp, id, instruction, now);
      if (step.executed) issue_product(warp, instruction, now);
      break;
    default:
      if (instruction.write_barrier < kScoreboards || instruction.read_barrier < kScoreboards)
        set_scoreboards(warp, id, instruction, now);
      if (instruction.barrier_use == isa::BarrierUse::init && step.executed)
        do_barrier_op(new_barrier_op(warp, id, step), now, now);
      break;
  }
  go_on(warp, id, step, now);
}

/// After the issue of `done`: what holds the warp until it can issue its next instruction.
void Sm::go_on(Warp& warp, std::uint16_t id, const work::Step& done, Cycle now) {
  const StaticInstruction& instruction = program_.code[done.index];
  const Cycle dispatched = std::max(now + 1, cores_[static_cast<std::size_t>(core_of(id))].dispatch_free);
  Cycle ready = dispatched + std::max<Cycle>(1, instruction.stall) - 1;
  if (instruction.yield && instruction.stall <= 1) ready = dispatched + 1;
  const Cycle counted = ready;  // its stall count has run down
  warp.constant_at = kNever;
  if (!(rounds_.empty() ? next_step(warp) : next_step_or_round(warp, id, done))) {
    ready = std::max(counted, now + spec_.fetch.converge_latency);
    book(warp, WarpState::dispatch_stall, dispatched);
    book(warp, WarpState::wait, counted);
    book(warp, WarpState::branch_resolving, ready);
    warp.label = WarpState::drain;
    warp.phase = Phase::drain;
    warp.ready_at = ready;
    if (warp.stores == 0) events_.push(ready, {Event::Kind::end, 0, id, 0, generation(warp)});
    return;
  }
  warp.blame = warp.step.index;
  book(warp, WarpState::dispatch_stall, dispatched);
  WarpState label = WarpState::wait;
  bool blame_done = false;
  switch (instruction.action) {
    case Action::control: {
      ++counters.branches;
      const bool jumps = warp.step.index != done.index + 1, other_lanes = warp.step.active != done.active;
      if (jumps && other_lanes) ++counters.divergent_branches;
      if (instruction.converges) {
        if (!done.executed) break;
        ready = std::max(ready, now + spec_.fetch.converge_latency);
        book(warp, WarpState::wait, counted);
        label = WarpState::branch_resolving;
      } else if (jumps || other_lanes) {
        ready = std::max(ready, now + spec_.fetch.branch_latency);
        book(warp, WarpState::wait, counted);
        book(warp, WarpState::branch_resolving, std::min(ready, counted + spec_.fetch.resolve_latency));
        label = WarpState::no_instruction;
      }
      break;
    }
    case Action::membar:
      ready = std::max(ready, now + instruction.fixed_wait);
      label = WarpState::membar;
      blame_done = true;
      break;
    case Action::sleep:
      if (done.executed == 0) break;
      ready = std::max<Cycle>(
          ready, now + instruction.fixed_wait + Cycle{done.value} * spec_.clock.sm / 1'000'000'000);
      label = WarpState::sleeping;
      blame_done = true;
      break;
    case Action::yield: ready = std::max(ready, now + spec_.sm.yield_latency); break;
    case Action::barrier_sync:
      if (done.executed) {
        book(warp, WarpState::wait, counted);
        warp.phase = Phase::barrier;
        warp.label = WarpState::barrier;
        warp.blame = done.index;
        warp.instruction = &program_.code[warp.step.index];
        warp.ready_at = ready;
        arrive(warp, id, done, true, now);
        return;
      }
      break;
    case Action::barrier_arrive:
      if (done.executed) arrive(warp, id, done, false, now);
      break;
    case Action::product_begin:
    case Action::product_wait:
    case Action::registers:
    case Action::cluster_arrive:
    case Action::cluster_wait:
      if (done.executed && hold_or_wait(warp, id, done, ready, counted, now)) return;
      break;
    default: break;
  }
  warp.instruction = &program_.code[warp.step.index];
  wait_until(warp, id, ready, label, now + 1);
  if (blame_done) warp.blame = done.index;
}

}  // namespace foretrace::sm
