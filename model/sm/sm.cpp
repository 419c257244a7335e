#include "model/sm/sm.h"

#include <algorithm>
#include <bit>

#include "model/sm/request_marks.h"
#include "model/units/error.h"

namespace foretrace::sm {

Sm::Sm(const spec::GpuSpec& spec, std::uint32_t id, const StaticProgram& program, std::uint64_t l1_bytes,
       std::uint64_t block_shared)
    : context_{spec, id, program, events_, counters}, blocks_(spec.limits.blocks), table_(context_),
      fetch_(spec.fetch, program.code.size() * kInstructionBytes),
      memory_(spec, id, l1_bytes, block_shared, program, events_, counters, outbox),
      constants_(context_, table_, adu_, code_outbox), mbarriers_(context_, blocks_, cluster_outbox),
      copies_(table_, mbarriers_), bulk_(context_, table_, blocks_, memory_, mbarriers_),
      held_(context_, table_, blocks_, memory_),
      cluster_(context_, blocks_, mbarriers_, bulk_, held_, cluster_outbox),
      loops_(context_, blocks_, memory_), retries_(program.shapes, memory_),
      launch_registers_(divide_up(program.program->registers, spec.limits.register_unit / kWarpSize) *
                        (spec.limits.register_unit / kWarpSize)) {
  FORETRACE_ASSERT(spec.limits.warps <= kSubCores * kWarpSlots, "an SM has at most 64 warps");
  counters.instructions.resize(program.code.size());
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
                     : reply.id & CopyEngine::kMark ? bulk_.engine.arrive(reply.id, reply.time)
                                                    : memory_.arrive(reply.id, reply.time);
  events_.push(when, {Event::Kind::reply, 0, 0, reply.id, 0});
}

void Sm::acknowledge(const std::vector<memory::Reply>& replies) {
  if (replies.empty()) return;
  FORETRACE_ASSERT(replies.front().time > now_ || now_ == 0, "a reply arrives after what has been simulated");
  acknowledgements_.add(replies);
}

Cycle Sm::next_event(bool every) const {
  Cycle next = std::min(events_.next(), memory_.next_tick());
  if (!incoming_.empty()) next = std::min(next, incoming_.front().start);
  if (every || memory_.stores_wait() || held_.fences_wait()) next = std::min(next, acknowledgements_.next());
  for (const Cycle tick : table_.next_tick) next = std::min(next, tick);
  return next;
}

void Sm::advance(Cycle until) {
  const auto acknowledge_until = [this](Cycle now) {
    acknowledgements_.take(now, [&](std::uint32_t id) { memory_.acknowledged(id, now); });
    if (held_.fences_wait()) held_.acknowledged(now);
  };
  for (Cycle now = next_event(false); now < until; now = next_event(false)) {
    now_ = now;
    while (!incoming_.empty() && incoming_.front().start <= now) {
      BlockWork work = std::move(incoming_.front());
      incoming_.erase(incoming_.begin());
      start_block(work, now);
    }
    if (events_.next() <= now) events_.run(now, [&](const Event& event) { handle(event, now); });
    acknowledge_until(now);
    if (memory_.next_tick() <= now) {
      memory_.tick(now);
      for (int i = 0; i < kSubCores; ++i) {  // a queue may have room again
        const auto core = static_cast<std::size_t>(i);
        if (table_.cores[core].scheduler.classes_waiting && memory_.queue_has_room(i))
          table_.next_tick[core] = now;
      }
    }
    for (int i = 0; i < kSubCores; ++i) {
      Cycle& next = table_.next_tick[static_cast<std::size_t>(i)];
      if (next > now) continue;
      if (table_.cores[static_cast<std::size_t>(i)].scheduler.ticked == now) {
        next = now + 1;
      } else {
        tick(i, now);
      }
    }
  }
  acknowledge_until(until - 1);
}

void Sm::finish(Cycle now) {
  if (resident_warps_ != 0) {
    for (Warp& warp : table_.warps) {
      if (warp.phase == Phase::free) continue;
      table_.account(warp, warp.label, now);
      counters.warp_cycles += std::max(now, warp.since) -
                              warp.started;  // an instruction may be accounted for up to the end of its cycle
    }
    for (SubCore& core : table_.cores) table_.account_idle(core, now);
    counters.sm_active += now - active_since_;
    counters.scheduler_cycles += kSubCores * (now - active_since_);
  }
  counters.l1i_misses = fetch_.misses;
}

void Sm::count_waiting(Cycle now, stats::StateCycles& into) const {
  if (resident_warps_ == 0) return;
  for (const Warp& warp : table_.warps) {
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
    for (SubCore& core : table_.cores) {
      core.scheduler.idle_since = now;
      core.scheduler.idle_reason = Scheduler::no_warp;
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
  free->grid = work.grid;
  ++counters.blocks;
  if (counters.blocks == 1) first_code_ = now + context_.spec.fetch.first_latency;
  const auto block = static_cast<std::uint32_t>(free - blocks_.begin());
  double later = 0;
  for (std::uint32_t warp = 0; warp < free->live_warps; ++warp) {
    start_warp(block, warp, now + static_cast<Cycle>(later));
    later += context_.spec.launch.warp_interval;
  }
}

/// Who goes first of warps that can (Scheduler::choose): of the grids the one launched first, of its blocks the one that began first, of
/// its warps the last. The lower 32 bits tell a warp from all others that its slot will have had (WarpTable::generation).
std::uint64_t age_of(const Block& block, std::uint32_t in_block) {
  constexpr std::uint64_t kMostGrids = 1u << 16, kMostBlocks = std::uint64_t{1} << 35,
                          kMostWarps = 1u << kWarpBitsOfAge;
  return (kMostGrids - block.grid) << 40 | ((kMostBlocks - block.serial) * kMostWarps + in_block);
}

void Sm::start_warp(std::uint32_t block, std::uint32_t in_block, Cycle now) {
  const auto emptiest =
      std::min_element(table_.cores.begin(), table_.cores.end(), [](const SubCore& a, const SubCore& b) {
        return std::popcount(a.scheduler.resident) < std::popcount(b.scheduler.resident);
      });
  Scheduler& scheduler = emptiest->scheduler;
  const int slot = std::countr_one(scheduler.resident);
  FORETRACE_ASSERT(slot < kWarpSlots, "the dispatcher places a block only where its warps fit");
  const auto id = static_cast<std::uint16_t>((emptiest - table_.cores.begin()) * kWarpSlots + slot);
  Warp& warp = table_.warps[id];
  warp = Warp{};
  copies_.groups.start_warp(id);
  bulk_.groups.start_warp(id);
  warp.registers = launch_registers_;
  warp.block = block;
  warp.in_block = in_block;
  warp.cursor = work::WarpCursor(context_.program.shapes, blocks_[block].record->warps[in_block]);
  const bool any = next_step(warp, blocks_);
  FORETRACE_ASSERT(any, "a warp executes at least one instruction");
  memory_.data.array.start_warp(now);
  if (loops_.any()) loops_.start_warp(warp, id);
  if (retries_.any()) retries_.start_warp(warp, id);
  warp.instruction = &context_.program.code[warp.step.index];
  warp.age = age_of(blocks_[block], in_block);
  if (context_.timeline) context_.timeline->start_warp(id, blocks_[block].record->block, in_block, now);
  warp.since = warp.started = now;
  warp.attributed_to = warp.step.index;
  warp.label = stats::WarpState::no_instruction;
  table_.account_idle(*emptiest, now_);
  scheduler.add_warp(slot);
  ++resident_warps_;
  table_.wait_until(warp, id, now, stats::WarpState::no_instruction, now);
}

void Sm::end_warp(Warp& warp, std::uint16_t id, Cycle now) {
  table_.account(warp, warp.label, now);
  counters.warp_cycles += now - warp.started;
  SubCore& core = table_.core(id);
  table_.account_idle(core, now);
  core.scheduler.remove_warp(id % kWarpSlots);
  warp.phase = Phase::free;
  if (context_.timeline) context_.timeline->end_warp(id);
  Block& block = blocks_[warp.block];
  --block.live_warps;
  --resident_warps_;
  ended.push_back({now, context_.sm, block.live_warps == 0, block.grid});
  cluster_.leave(block, now);
  if (block.live_warps == 0) {
    block.used = false;
    block.record.reset();
    mbarriers_.forget(warp.block);
    held_.forget(warp.block);
    memory_.out.leave_all(now);
  } else {
    std::uint64_t released = 0;
    for (std::size_t number = 0; number < BlockBarriers::kBarriers; ++number) {
      if (block.barriers.complete(number, block.live_warps, released))
        table_.leave_barrier(released, now + 1 + context_.spec.barrier.latency);
    }
  }
  if (resident_warps_ == 0) {
    counters.sm_active += now - active_since_;
    counters.scheduler_cycles += kSubCores * (now - active_since_);
    for (SubCore& other : table_.cores) table_.account_idle(other, now);
  }
}

// --- what arrives ---------------------------------------------------------------------------------------------------

void Sm::handle(const Event& event, Cycle now) {
  switch (event.kind) {  // those that outlive warps
    case Event::Kind::barrier: return mbarriers_.execute(event.id, now + event.scoreboard, now);
    case Event::Kind::copy_step: return bulk_.engine.step(now);
    case Event::Kind::copy_told: return bulk_.told(event.id, now);
    case Event::Kind::constant_pass: return constants_.advance(event.id, now);
    case Event::Kind::product: return held_.begin_products(now);
    case Event::Kind::message: return cluster_.take(event.id, now);
    case Event::Kind::reply: return replied(event.id, now);
    default: break;
  }
  Warp& warp = table_.warps[event.warp];
  if (warp.phase == Phase::free || event.generation != WarpTable::generation(warp)) return;
  switch (event.kind) {
    case Event::Kind::release:
      warp.scoreboards.release(event.scoreboard);
      if (warp.phase == Phase::scoreboard && warp.scoreboards.clear_for(*warp.instruction)) {
        evaluate(event.warp, now);
        table_.look_at(WarpTable::core_of(event.warp), now);
      }
      break;
    case Event::Kind::store_done:
      if (--warp.stores != 0) break;
      table_.release_fences(event.warp, now);
      held_.stores_left(warp, event.warp, now);
      if (warp.phase == Phase::drain) {
        if (warp.ready_at <= now) {
          end_warp(warp, event.warp, now);
        } else {
          events_.push(warp.ready_at, {Event::Kind::end, 0, event.warp, 0, event.generation});
        }
      }
      break;
    case Event::Kind::copy_done: copies_.done(event.warp, event.id, now); break;
    case Event::Kind::end: end_warp(warp, event.warp, now); break;
    default: break;
  }
}

/// The data, code or constants of a request are there.
void Sm::replied(std::uint32_t id, Cycle now) {
  if (!(id & kInstructionMark)) {
    return id & CopyEngine::kMark ? bulk_.engine.filled(id, now) : memory_.filled(id, now);
  }
  if (id & kConstantMark) {
    constants_.arrived(id, now);
    if (id & kIndexedMark) return;
  } else {
    fetch_.fill(id & ~kInstructionMark);
  }
  for (std::uint16_t warp = 0; warp < table_.warps.size(); ++warp) {
    if (table_.warps[warp].phase != Phase::fetch) continue;
    evaluate(warp, now);
    table_.look_at(WarpTable::core_of(warp), now);
  }
}

bool Sm::let_go(Cycle now) {
  now_ = std::max(now_, now);
  const bool waits = mbarriers_.let_go(now_);
  return held_.let_go(now_) || waits;
}

}  // namespace foretrace::sm
