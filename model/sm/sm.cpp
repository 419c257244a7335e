#include "model/sm/sm.h"

#include <algorithm>
#include <bit>

#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

Sm::Sm(const spec::GpuSpec& spec, std::uint32_t id, const StaticProgram& program, std::uint64_t l1_bytes,
       std::uint64_t block_shared)
    : spec_(spec), id_(id), program_(program), fetch_(spec.fetch, program.code.size() * kInstructionBytes),
      constants_(spec.constant.l1_bytes, spec.constant.line_bytes),
      memory_(spec, id, l1_bytes, block_shared, program, events_, counters, outbox), cores_{SubCore(spec),
                                                                                            SubCore(spec),
                                                                                            SubCore(spec),
                                                                                            SubCore(spec)},
      warps_(kSubCores * kSlots), blocks_(spec.limits.blocks), copies_(spec, memory_, events_),
      mbarriers_(spec.limits.blocks), products_(spec.limits.blocks, spec.wgmma.latency),
      launch_registers_((program.program->registers + 7) / 8 * 8) {
  FORETRACE_ASSERT(spec.limits.warps <= kSubCores * kSlots, "an SM has at most 64 warps");
  counters.instructions.resize(program.code.size());
  next_tick_.fill(kNever);
  if (!program.shapes.loops.empty()) rounds_.resize(warps_.size());
}

void Sm::place(BlockWork work) {
  FORETRACE_ASSERT(work.start > now_ || now_ == 0, "a block starts after what has been simulated");
  const auto after =
      std::upper_bound(incoming_.begin(), incoming_.end(), work.start,
                       [](Cycle start, const BlockWork& other) { return start < other.start; });
  incoming_.insert(after, std::move(work));
}

void Sm::deliver(const memory::Reply& reply) {
  FORETRACE_ASSERT(reply.time > now_ || now_ == 0, "a reply arrives after what has been simulated");
  const Cycle when = reply.id & kInstructionMark    ? std::max(reply.time, first_code_)
                     : reply.id & CopyEngine::kMark ? copies_.arrive(reply.id, reply.time)
                                                    : memory_.arrive(reply.id, reply.time);
  events_.push(when, {Event::Kind::reply, 0, 0, reply.id, 0});
}

void Sm::acknowledge(const std::vector<memory::Reply>& replies) {
  if (replies.empty()) return;
  FORETRACE_ASSERT(replies.front().time > now_ || now_ == 0, "a reply arrives after what has been simulated");
  acknowledgements_.insert(acknowledgements_.end(), replies.begin(), replies.end());
}

Cycle Sm::next_event() const {
  const Cycle next = next_inside();
  return acknowledgements_.empty() ? next : std::min(next, acknowledgements_[first_acknowledgement_].time);
}

/// As next_event(), less acknowledgements that nothing waits for: those are taken with whatever comes next.
Cycle Sm::next_inside() const {
  Cycle next = std::min(events_.next(), memory_.next_tick());
  if (!incoming_.empty()) next = std::min(next, incoming_.front().start);
  if (memory_.stores_wait() && !acknowledgements_.empty())
    next = std::min(next, acknowledgements_[first_acknowledgement_].time);
  for (const Cycle tick : next_tick_) next = std::min(next, tick);
  return next;
}

void Sm::advance(Cycle until) {
  for (Cycle now = next_inside(); now < until; now = next_inside()) {
    now_ = now;
    while (!incoming_.empty() && incoming_.front().start <= now) {
      BlockWork work = std::move(incoming_.front());
      incoming_.erase(incoming_.begin());
      start_block(work, now);
    }
    if (events_.next() <= now) events_.run(now, [&](const Event& event) { handle(event, now); });
    take_acknowledgements(now);
    if (memory_.next_tick() <= now) {
      memory_.tick(now);
      for (int i = 0; i < kSubCores; ++i) {  // a queue may have room again
        if (cores_[static_cast<std::size_t>(i)].classes_waiting && memory_.queue_has_room(i)) {
          next_tick_[static_cast<std::size_t>(i)] = now;
        }
      }
    }
    for (int i = 0; i < kSubCores; ++i) {
      Cycle& next = next_tick_[static_cast<std::size_t>(i)];
      if (next > now) continue;
      if (cores_[static_cast<std::size_t>(i)].ticked == now) {
        next = now + 1;
      } else {
        tick(i, now);
      }
    }
  }
  take_acknowledgements(until - 1);
}

void Sm::take_acknowledgements(Cycle now) {
  if (acknowledgements_.empty()) return;
  while (first_acknowledgement_ < acknowledgements_.size() &&
         acknowledgements_[first_acknowledgement_].time <= now) {
    memory_.acknowledged(acknowledgements_[first_acknowledgement_++].id, now);
  }
  if (first_acknowledgement_ == acknowledgements_.size()) {
    acknowledgements_.clear();
    first_acknowledgement_ = 0;
  }
}

void Sm::finish(Cycle now) {
  if (resident_warps_ != 0) {
    for (Warp& warp : warps_) {
      if (warp.phase == Phase::free) continue;
      book(warp, warp.label, now);
      counters.warp_cycles +=
          std::max(now, warp.since) - warp.started;  // an instruction may be booked to the end of its cycle
    }
    for (SubCore& core : cores_) book_idle(core, now);
    counters.sm_active += now - active_since_;
    counters.scheduler_cycles += kSubCores * (now - active_since_);
  }
  counters.l1i_misses = fetch_.misses;
}

void Sm::count_waiting(Cycle now, stats::StateCycles& into) const {
  if (resident_warps_ == 0) return;
  for (const Warp& warp : warps_) {
    if (warp.phase != Phase::free && now > warp.since)
      into[static_cast<std::size_t>(warp.label)] += now - warp.since;
  }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

void Sm::start_block(BlockWork& work, Cycle now) {
  const auto free =
      std::find_if(blocks_.begin(), blocks_.end(), [](const Block& block) { return !block.used; });
  FORETRACE_ASSERT(free != blocks_.end(), "the dispatcher places a block only where a block slot is free");
  if (resident_warps_ == 0) {
    active_since_ = now;
    for (SubCore& core : cores_) {
      core.idle_since = now;
      core.idle_reason = 0;
    }
  }
  *free = Block{};
  free->used = true;
  free->record = std::move(work.record);
  free->live_warps = static_cast<std::uint32_t>(free->record->warps.size());
  free->serial = ++next_serial_;
  free->cluster = work.cluster;
  free->rank = work.rank;
  free->places = std::move(work.places);
  ++counters.blocks;
  if (counters.blocks == 1) first_code_ = now + spec_.fetch.first_latency;
  const auto block = static_cast<std::uint32_t>(free - blocks_.begin());
  double later = 0;
  for (std::uint32_t warp = 0; warp < free->live_warps; ++warp) {
    start_warp(block, warp, now + static_cast<Cycle>(later));
    later += spec_.launch.warp_interval;
  }
}

/// Reads the warp's next instruction; false: it has executed its last.
bool Sm::next_step(Warp& warp) {
  while (!warp.cursor.next(warp.step)) {
    work::RecordStream* rest = blocks_[warp.block].record->rest.get();
    const work::WarpRecord* more = rest ? rest->next(warp.in_block) : nullptr;
    if (more == nullptr) return false;
    warp.cursor.go_on_with(*more);
  }
  return true;
}

void Sm::start_warp(std::uint32_t block, std::uint32_t in_block, Cycle now) {
  const auto emptiest =
      std::min_element(cores_.begin(), cores_.end(), [](const SubCore& a, const SubCore& b) {
        return std::popcount(a.resident) < std::popcount(b.resident);
      });
  SubCore& core = *emptiest;
  const int slot = std::countr_one(core.resident);
  FORETRACE_ASSERT(slot < kSlots, "the dispatcher places a block only where its warps fit");
  const auto id = static_cast<std::uint16_t>((emptiest - cores_.begin()) * kSlots + slot);
  Warp& warp = warps_[id];
  warp = Warp{};
  if (!groups_.empty()) groups_[id] = {};
  if (!rounds_.empty()) rounds_[id] = {};
  if (!bulk_groups_.empty()) bulk_groups_[id] = {};
  warp.registers = launch_registers_;
  warp.block = block;
  warp.in_block = in_block;
  warp.cursor = work::WarpCursor(program_.shapes, blocks_[block].record->warps[in_block]);
  const bool any = next_step(warp);
  FORETRACE_ASSERT(any, "a warp executes at least one instruction");
  memory_.start_warp(now);
  if (!rounds_.empty()) begin_round(warp, id);
  warp.instruction = &program_.code[warp.step.index];
  warp.age = next_age_++;
  if (timeline_) timeline_->start_warp(id, blocks_[block].record->block, in_block, now);
  warp.since = warp.started = now;
  warp.blame = warp.step.index;
  warp.label = stats::WarpState::no_instruction;
  book_idle(core, now_);
  core.resident |= 1u << slot;
  ++resident_warps_;
  wait_until(warp, id, now, stats::WarpState::no_instruction, now);
}

void Sm::end_warp(Warp& warp, std::uint16_t id, Cycle now) {
  book(warp, warp.label, now);
  counters.warp_cycles += now - warp.started;
  SubCore& core = cores_[static_cast<std::size_t>(core_of(id))];
  book_idle(core, now);
  core.resident &= ~(1u << (id % kSlots));
  if (core.greedy == id % kSlots) core.greedy = -1;
  warp.phase = Phase::free;
  if (timeline_) timeline_->end_warp(id);
  Block& block = blocks_[warp.block];
  --block.live_warps;
  --resident_warps_;
  ended.push_back({now, id_, block.live_warps == 0});
  if (block.cluster_told != 0 || block.cluster_warps != 0) arrive_at_cluster(block, now);
  if (block.live_warps == 0) {
    if (block.places.size() > 1) tell_cluster(block, ClusterMessage::Kind::left, now);
    block.used = false;
    block.record.reset();
    mbarriers_.forget(static_cast<std::uint32_t>(&block - blocks_.data()));
    products_.forget(static_cast<std::uint32_t>(&block - blocks_.data()));
    memory_.leave_stores(now);
  } else {
    for (Barrier& barrier : block.barriers) {
      if (barrier.arrived) check_barrier(block, barrier, now);
    }
  }
  if (resident_warps_ == 0) {
    counters.sm_active += now - active_since_;
    counters.scheduler_cycles += kSubCores * (now - active_since_);
    for (SubCore& other : cores_) book_idle(other, now);
  }
}

// --- what arrives ---------------------------------------------------------------------------------------------------

/// Looks again at a warp that an event may have set free.
void Sm::wake(std::uint16_t id, Cycle now) {
  evaluate(id, now);
  look_at(core_of(id), now);
}

void Sm::handle(const Event& event, Cycle now) {
  Warp& warp = warps_[event.warp];
  switch (event.kind) {  // those that outlive warps
    case Event::Kind::barrier: return do_barrier_op(event.id, now + event.scoreboard, now);
    case Event::Kind::copy_step: return copies_.step(now);
    case Event::Kind::copy_told: return transfer_told(event.id, now);
    case Event::Kind::constant_pass: return advance_lookup(event.id, now);
    case Event::Kind::message:
      free_messages_.push_back(event.id);
      return take_message(messages_[event.id], now);
    default: break;
  }
  if (event.kind != Event::Kind::reply && (warp.phase == Phase::free || event.generation != generation(warp)))
    return;
  switch (event.kind) {
    case Event::Kind::release:
      --warp.scoreboard[event.scoreboard];
      if (warp.scoreboard[event.scoreboard] == 0) {
        warp.long_scoreboards = static_cast<std::uint8_t>(warp.long_scoreboards & ~(1u << event.scoreboard));
      }
      if (warp.phase == Phase::scoreboard && scoreboards_clear(warp)) wake(event.warp, now);
      break;
    case Event::Kind::store_done:
      if (--warp.stores == 0 && warp.phase == Phase::drain) {
        if (warp.ready_at <= now) {
          end_warp(warp, event.warp, now);
        } else {
          events_.push(warp.ready_at, {Event::Kind::end, 0, event.warp, 0, generation(warp)});
        }
      }
      break;
    case Event::Kind::copy_done:
      --groups_of(event.warp)[event.id].pending;
      settle_groups(warp, event.warp, now);
      break;
    case Event::Kind::reply:
      if (event.id & kInstructionMark) {
        if (event.id & kIndexedMark) {
          constant_line_arrived(event.id & ~(kInstructionMark | kConstantMark | kIndexedMark), now);
          break;
        }
        if (event.id & kConstantMark) {
          constants_arrived(event.id & ~(kInstructionMark | kConstantMark), now);
        } else {
          fetch_.fill(event.id & ~kInstructionMark);
        }
        for (std::uint16_t id = 0; id < warps_.size(); ++id) {
          if (warps_[id].phase == Phase::fetch) wake(id, now);
        }
      } else if (event.id & CopyEngine::kMark) {
        copies_.filled(event.id, now);
      } else {
        memory_.filled(event.id, now);
      }
      break;
    case Event::Kind::end: end_warp(warp, event.warp, now); break;
    default: break;
  }
}

// --- barriers -------------------------------------------------------------------------------------------------------

void Sm::arrive(Warp& warp, std::uint16_t id, const work::Step& step, bool waits, Cycle now) {
  const StaticInstruction& instruction = program_.code[step.index];
  Block& block = blocks_[warp.block];
  const auto number =
      static_cast<std::size_t>(instruction.barrier >= 0 ? instruction.barrier : step.value & 15);
  const std::uint32_t warps =
      instruction.barrier >= 0 ? instruction.barrier_warps : (step.value >> 16) / kWarpSize;
  Barrier& barrier = block.barriers[number];
  barrier.expected = warps;
  ++barrier.arrived;
  if (waits) {
    barrier.waiting |= std::uint64_t{1} << id;
    ++counters.barriers_waited;
  }
  check_barrier(block, barrier, std::max(now, served_) + spec_.barrier.warp_interval);
}

void Sm::check_barrier(Block& block, Barrier& barrier, Cycle now) {
  const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_warps;
  if (barrier.arrived < expected) return;
  const std::uint64_t waiting = barrier.waiting;
  barrier = Barrier{};
  const Cycle release = std::max(now, now_ + 1) + spec_.barrier.latency;
  for (std::uint64_t m = waiting; m; m &= m - 1) {
    const auto id = static_cast<std::uint16_t>(std::countr_zero(m));
    Warp& warp = warps_[id];
    warp.ready_at = std::max(warp.ready_at, release);
    if (warp.phase == Phase::barrier) {
      warp.phase = Phase::timed;  // the wait until the release still is the barrier's
      look_when_ready(warp, id);
    }
  }
}

// --- asynchronous copies --------------------------------------------------------------------------------------------

std::array<Sm::CopyGroup, Sm::kGroups>& Sm::groups_of(std::uint16_t id) {
  if (groups_.empty()) groups_.resize(warps_.size());
  return groups_[id];
}

void Sm::commit_copies(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  auto& groups = groups_of(id);
  CopyGroup& group = groups[warp.group_now];
  group.closed = true;
  group.scoreboard = instruction.write_barrier;
  raise(warp, group.scoreboard, true);
  warp.group_now = static_cast<std::uint8_t>((warp.group_now + 1) % kGroups);
  groups[warp.group_now] = CopyGroup{};
  FORETRACE_ASSERT(warp.group_now != warp.group_first,
                   "a warp has fewer than 64 open groups of asynchronous copies");
  settle_groups(warp, id, now);
}

void Sm::settle_groups(Warp& warp, std::uint16_t id, Cycle now) {
  while (warp.group_first != warp.group_now) {
    const CopyGroup& group = groups_of(id)[warp.group_first];
    if (group.pending) break;
    if (group.scoreboard < kScoreboards)
      events_.push(now + 1, {Event::Kind::release, group.scoreboard, id, 0, generation(warp)});
    if (group.barrier_op) do_barrier_op(group.barrier_op - 1, now, now);
    warp.group_first = static_cast<std::uint8_t>((warp.group_first + 1) % kGroups);
  }
}

}  // namespace foretrace::sm
