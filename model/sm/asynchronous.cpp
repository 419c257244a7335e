// What goes on behind a warp's back, and the warps that wait for it: mbarriers, copies, warpgroup products, registers that change hands,
// the barrier of a cluster.
//
// A test of an mbarrier (SYNCS.PHASECHK) stands on record once, when its phase had ended. Here its answer comes when the phase has ended
// in the model's time: at once, at the next round of the loop that asks (StaticInstruction::poll_interval), or some
// cycles after the phase's end where the test is suspended: with a time hint, and without one where the phase lacks bytes of copies (no
// wait in wgmma_product on H100 goes round; waits for arrivals alone do). What waits for the answer is held by its scoreboard, as there.

#include <algorithm>
#include <bit>

#include "model/sm/memory_forms.h"
#include "model/sm/sm.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

using stats::WarpState;

namespace {
constexpr std::uint32_t kRankShift = 24;  // of an address in a cluster's shared memory
constexpr std::uint32_t kOffset = (1u << kRankShift) - 1;
}  // namespace

// --- mbarriers ------------------------------------------------------------------------------------------------------

std::uint32_t Sm::new_barrier_op(const Warp& warp, std::uint16_t id, const work::Step& step) {
  auto number = static_cast<std::uint32_t>(barrier_ops_.size());
  if (free_barrier_ops_.empty()) {
    barrier_ops_.emplace_back();
  } else {
    number = free_barrier_ops_.back();
    free_barrier_ops_.pop_back();
  }
  BarrierOp& op = barrier_ops_[number];
  op.items.clear();
  op.use = program_.code[step.index].barrier_use;
  op.index = step.index;
  op.block = warp.block;
  op.serial = blocks_[warp.block].serial;
  op.warp = id;
  op.generation = generation(warp);
  op.waiting = 0;
  if (timeline_) timeline_->begin_test(number, id);
  work::LaneAddresses barriers{}, operands{};
  const bool stores = op.use == isa::BarrierUse::store;
  if (!stores) warp.cursor.addresses(0, barriers);
  if (program_.shapes.of[step.index].addresses > 1) warp.cursor.addresses(1, stores ? barriers : operands);
  if (stores) operands.fill(program_.code[step.index].form.bytes);
  for (std::uint32_t m = step.executed; m; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const auto address = static_cast<std::uint32_t>(barriers[lane]);
    const auto operand = static_cast<std::uint32_t>(operands[lane]);
    const BarrierOp::Item item{address >> kRankShift, address & kOffset, 0, operand};
    const auto same = std::find_if(op.items.begin(), op.items.end(), [&](const BarrierOp::Item& each) {
      return each.rank == item.rank && each.offset == item.offset && each.operand == item.operand;
    });
    ++(same == op.items.end() ? op.items.emplace_back(item) : *same).times;
  }
  return number;
}

/// Where a block of that rank is: this SM's slot for the block itself; another block: past all slots.
std::uint32_t Sm::own_or_remote(const Block& block, std::uint32_t rank) const {
  const bool own = block.places.size() <= 1 || rank == block.rank;
  return own ? static_cast<std::uint32_t>(&block - blocks_.data())
             : static_cast<std::uint32_t>(blocks_.size());
}

/// Whether an access goes to the shared memory of another block, as its first address tells.
bool Sm::is_remote(const Warp& warp, const StaticInstruction& instruction) const {
  const Block& block = blocks_[warp.block];
  if (block.places.size() <= 1) return false;
  const std::uint64_t address = warp.cursor.pattern(0).base;
  const bool generic = instruction.form.space == isa::Space::generic && work::is_shared_window(address);
  if (instruction.form.space != isa::Space::shared && !generic) return false;
  return (address & (work::kWindowBytes - 1)) >> kRankShift != block.rank;
}

void Sm::do_arrival(std::uint32_t block, std::uint32_t rank, std::uint32_t offset,
                    const isa::Arrival& arrival, std::uint32_t times, Cycle now) {
  const Block& from = blocks_[block];
  if (own_or_remote(from, rank) == block) {
    mbarriers_.arrive(block, offset, arrival, times, ended_waits_);
    end_waits(arrival.arrivals == 0, now);
  } else if (rank < from.places.size()) {
    cluster_outbox.push_back({now + spec_.cluster.hop_latency, from.places[rank], from.cluster, rank,
                              ClusterMessage::Kind::arrival, offset, times, arrival});
  }
}

/// An operation has come to its barriers; what it answers is usable at `answered`, if a check has not to wait.
void Sm::do_barrier_op(std::uint32_t number, Cycle answered, Cycle now) {
  BarrierOp& op = barrier_ops_[number];
  const bool live = blocks_[op.block].used && blocks_[op.block].serial == op.serial;
  if (op.use == isa::BarrierUse::check) {
    op.asked = now;
    op.answered = answered;
    for (const BarrierOp::Item& item : op.items) {
      if (!live || (item.operand & work::kPhaseEnded) == 0) continue;
      if (!mbarriers_.wait(op.block, item.offset, (item.operand & work::kAskedParity) != 0, number))
        ++op.waiting;
    }
    if (op.waiting == 0) answer(op, false, now);
    return;
  }
  for (std::size_t i = 0; live && i < barrier_ops_[number].items.size(); ++i) {
    const BarrierOp::Item item = barrier_ops_[number].items[i];
    if (op.use == isa::BarrierUse::init) {
      mbarriers_.begin(op.block, item.offset, item.operand);
    } else {
      const isa::Arrival arrival = op.use == isa::BarrierUse::store
                                       ? isa::Arrival{0, -std::int64_t{item.operand}, false}
                                       : isa::arrival_of(program_.program->code[op.index], item.operand);
      do_arrival(op.block, item.rank, item.offset, arrival, item.times, now);
    }
  }
  free_barrier_ops_.push_back(number);
}

void Sm::answer(BarrierOp& op, bool by_bytes, Cycle now) {
  const StaticInstruction& instruction = program_.code[op.index];
  Cycle when = op.answered;
  if (now > op.asked) {
    if (instruction.poll_interval == 0) {
      when = std::max(op.answered, now + spec_.mbarrier.wake_latency);
    } else if (by_bytes && instruction.suspends) {
      when = std::max(op.answered, now);  // tma.write_latency reaches to here
    } else {
      when += (now - op.asked + instruction.poll_interval - 1) / instruction.poll_interval *
              instruction.poll_interval;
    }
  }
  if (instruction.write_barrier < kScoreboards) {
    events_.push(std::max(when, now + 1),
                 {Event::Kind::release, instruction.write_barrier, op.warp, 0, op.generation});
    if (timeline_)
      timeline_->end_test(static_cast<std::uint32_t>(&op - barrier_ops_.data()), std::max(when, now + 1));
  }
  free_barrier_ops_.push_back(static_cast<std::uint32_t>(&op - barrier_ops_.data()));
}

void Sm::end_waits(bool by_bytes, Cycle now) {
  for (const std::uint32_t ticket : ended_waits_) {
    BarrierOp& op = barrier_ops_[ticket];
    if (--op.waiting == 0) answer(op, by_bytes, now);
  }
  ended_waits_.clear();
}

// --- copies ---------------------------------------------------------------------------------------------------------

std::array<Sm::CopyGroup, Sm::kGroups>& Sm::bulk_groups_of(std::uint16_t id) {
  if (bulk_groups_.empty()) bulk_groups_.resize(warps_.size());
  return bulk_groups_[id];
}

void Sm::start_transfer(Warp& warp, std::uint16_t id, Cycle now) {
  CopyEngine::Job job;
  job.transfer = warp.cursor.transfer();
  const work::TransferKind kind = job.transfer.kind;
  if (kind == work::TransferKind::none) return;
  const Block& block = blocks_[warp.block];
  job.block = warp.block;
  job.serial = block.serial;
  job.warp = id;
  job.generation = generation(warp);
  job.group = warp.bulk_now;
  if (kind == work::TransferKind::load && block.places.size() > 1) {
    job.to_self = (job.transfer.blocks >> block.rank & 1) != 0;
    job.to_others = (job.transfer.blocks & ~(1u << block.rank)) != 0;
  }
  if (kind == work::TransferKind::store || kind == work::TransferKind::reduce)
    ++bulk_groups_of(id)[warp.bulk_now].pending;
  const std::uint32_t number = copies_.start(std::move(job), now);
  if (timeline_) timeline_->begin_copy(number, id, now);
}

/// A copy is done: its bytes are told to the mbarrier, or its group goes on.
void Sm::transfer_told(std::uint32_t number, Cycle now) {
  const CopyEngine::Job job = copies_.job(number);
  copies_.finish(number);
  if (timeline_) timeline_->end_copy(number, now);
  const work::TransferKind kind = job.transfer.kind;
  const bool live = blocks_[job.block].used && blocks_[job.block].serial == job.serial;
  if (kind == work::TransferKind::store || kind == work::TransferKind::reduce) {
    Warp& warp = warps_[job.warp];
    if (warp.phase == Phase::free || generation(warp) != job.generation) return;
    --bulk_groups_of(job.warp)[job.group].pending;
    settle_transfers(warp, job.warp, now);
    return;
  }
  if (!live || job.transfer.barrier == work::Transfer::kNoBarrier) return;
  const isa::Arrival arrival{0, -std::int64_t{job.transfer.bytes}, false};
  const Block& block = blocks_[job.block];
  if (kind == work::TransferKind::load) {
    if (!job.to_self) return;
    do_arrival(job.block, block.rank, job.transfer.barrier, arrival, 1, now);
  } else if (kind == work::TransferKind::shared) {
    do_arrival(job.block, static_cast<std::uint32_t>(std::countr_zero(job.transfer.blocks)),
               job.transfer.barrier, arrival, 1, now);
  }
}

void Sm::commit_transfers(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  auto& groups = bulk_groups_of(id);
  CopyGroup& group = groups[warp.bulk_now];
  group.closed = true;
  group.scoreboard = instruction.read_barrier;
  raise(warp, group.scoreboard, true);
  warp.bulk_now = static_cast<std::uint8_t>((warp.bulk_now + 1) % kGroups);
  groups[warp.bulk_now] = CopyGroup{};
  FORETRACE_ASSERT(warp.bulk_now != warp.bulk_first, "a warp has fewer than 64 open groups of bulk copies");
  settle_transfers(warp, id, now);
}

void Sm::settle_transfers(Warp& warp, std::uint16_t id, Cycle now) {
  while (warp.bulk_first != warp.bulk_now) {
    const CopyGroup& group = bulk_groups_of(id)[warp.bulk_first];
    if (group.pending) break;
    if (group.scoreboard < kScoreboards)
      events_.push(now + 1, {Event::Kind::release, group.scoreboard, id, 0, generation(warp)});
    warp.bulk_first = static_cast<std::uint8_t>((warp.bulk_first + 1) % kGroups);
  }
}

// --- warps that are held --------------------------------------------------------------------------------------------

void Sm::issue_product(Warp& warp, const StaticInstruction& instruction, Cycle now) {
  auto& busy = counters.pipe_busy[static_cast<std::size_t>(spec::Pipe::tensor)];
  busy += instruction.product.cycles > instruction.interval
              ? instruction.product.cycles - instruction.interval
              : 0u;
  const auto warps = static_cast<std::uint32_t>(blocks_[warp.block].record->warps.size());
  Products::Use use;
  if (!products_.issue(warp.block, warp.in_block, warps, instruction.product, now, use)) return;
  memory_.take_for_products(use.start, use.end, use.shared);
  if (timeline_) timeline_->stage(slot_of(warp), Stage::execute, use.start, use.end);
  look_at_held(warp.block, now);
}

/// When the warp may go on after `instruction`, which it has issued; kNever: something else has to happen first.
Cycle Sm::held_until(Warp& warp, const StaticInstruction& instruction, Hold hold, Cycle now) {
  Block& block = blocks_[warp.block];
  switch (hold) {
    case Hold::groups: return products_.groups_ended(warp.block, warp.in_block, instruction.depbar_count);
    case Hold::begun: return products_.begun(warp.block, warp.in_block, spec_.wgmma.queue);
    case Hold::registers: {
      const std::uint64_t needs = std::uint64_t{instruction.registers} * kWarpSize;
      const std::uint64_t has = std::uint64_t{warp.registers} * kWarpSize;
      if (instruction.takes_registers && needs > has + block.pool) return kNever;
      block.pool = std::max(block.pool + has, needs) - needs;
      warp.registers = instruction.registers;
      return now + spec_.wgmma.registers_latency;
    }
    case Hold::cluster: return block.cluster_phase >= warp.cluster_arrivals ? now : kNever;
    case Hold::none: break;
  }
  return now;
}

/// After the issue of `done`, whose stall count runs until `counted`. True: the warp is held or waits, and all of it is booked.
bool Sm::hold_or_wait(Warp& warp, std::uint16_t id, const work::Step& done, Cycle ready, Cycle counted,
                      Cycle now) {
  const StaticInstruction& instruction = program_.code[done.index];
  Block& block = blocks_[warp.block];
  Hold hold = Hold::none;
  WarpState label = WarpState::wait;
  switch (instruction.action) {
    case Action::product_begin:
      hold = Hold::begun;
      label = WarpState::barrier;
      break;
    case Action::product_wait:
      hold = Hold::groups;
      label = WarpState::gmma;
      break;
    case Action::registers:
      hold = Hold::registers;
      label = WarpState::misc;
      break;
    case Action::cluster_wait:
      hold = Hold::cluster;
      label = WarpState::barrier;
      break;
    case Action::cluster_arrive:
      ++warp.cluster_arrivals;
      ++block.cluster_warps;
      arrive_at_cluster(block, now);
      return false;
    default: return false;
  }
  const Cycle until = held_until(warp, instruction, hold, now);
  if (instruction.action == Action::registers) look_at_held(warp.block, now);
  warp.instruction = &program_.code[warp.step.index];
  if (until != kNever) {
    book(warp, WarpState::wait, std::min(counted, std::max(ready, until)));
    wait_until(warp, id, std::max(ready, until), label, std::min(counted, std::max(ready, until)));
    warp.blame = done.index;
    return true;
  }
  book(warp, WarpState::wait, counted);
  warp.phase = Phase::barrier;
  warp.label = label;
  warp.blame = done.index;
  warp.ready_at = ready;
  warp.hold = hold;
  return true;
}

/// Something of the block has changed that its held warps may wait for.
void Sm::look_at_held(std::uint32_t block, Cycle now) {
  for (std::uint16_t id = 0; id < warps_.size(); ++id) {
    Warp& warp = warps_[id];
    if (warp.phase != Phase::barrier || warp.hold == Hold::none || warp.block != block) continue;
    const Cycle until = held_until(warp, program_.code[warp.blame], warp.hold, now);
    if (until == kNever) continue;
    warp.hold = Hold::none;
    warp.ready_at = std::max({warp.ready_at, until, now + 1});
    warp.phase = Phase::timed;  // the wait until then still is what it was
    look_when_ready(warp, id);
  }
}

// --- clusters -------------------------------------------------------------------------------------------------------

/// All warps of the block that live have come to the cluster's barrier: its other blocks are told.
void Sm::arrive_at_cluster(Block& block, Cycle now) {
  if (block.live_warps == 0 || block.cluster_warps < block.live_warps) return;
  block.cluster_warps = 0;
  ++block.cluster_told;
  tell_cluster(block, ClusterMessage::Kind::barrier, now);
}

void Sm::tell_cluster(Block& block, ClusterMessage::Kind kind, Cycle now) {
  ClusterMessage message;
  message.time = std::max(now, now_) + spec_.cluster.barrier_latency;
  message.cluster = block.cluster;
  message.kind = kind;
  message.offset = static_cast<std::uint32_t>(block.cluster_told & 1);
  message.sm = id_;
  message.rank = block.rank;
  if (kind != ClusterMessage::Kind::left) receive(message);
  for (std::uint32_t rank = 0; rank < block.places.size(); ++rank) {
    if (rank == block.rank) continue;
    message.rank = rank;
    message.sm = block.places[rank];
    cluster_outbox.push_back(message);
  }
}

void Sm::receive(const ClusterMessage& message) {
  auto number = static_cast<std::uint32_t>(messages_.size());
  if (free_messages_.empty()) {
    messages_.emplace_back();
  } else {
    number = free_messages_.back();
    free_messages_.pop_back();
  }
  messages_[number] = message;
  Cycle when = message.time;
  if (message.kind == ClusterMessage::Kind::copied) {
    when = copies_.bring(message.times, when);
    if (message.arrival.transactions != 0) when += spec_.tma.write_latency;
  }
  events_.push(when, {Event::Kind::message, 0, 0, number, 0});
}

void Sm::take_message(const ClusterMessage& message, Cycle now) {
  const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& each) {
    return each.used && each.cluster == message.cluster && each.rank == message.rank;
  });
  if (block == blocks_.end()) return;  // it has ended
  const auto slot = static_cast<std::uint32_t>(block - blocks_.begin());
  switch (message.kind) {
    case ClusterMessage::Kind::copied:
      if (message.arrival.transactions == 0) return;
      mbarriers_.arrive(slot, message.offset, message.arrival, 1, ended_waits_);
      end_waits(true, now);
      return;
    case ClusterMessage::Kind::arrival:
      mbarriers_.arrive(slot, message.offset, message.arrival, message.times, ended_waits_);
      end_waits(message.arrival.arrivals == 0, now);
      return;
    case ClusterMessage::Kind::left: ++block->cluster_left; break;
    case ClusterMessage::Kind::barrier: ++block->cluster_blocks[message.offset]; break;
  }
  const std::size_t blocks = std::max<std::size_t>(1, block->places.size());
  std::uint32_t& came = block->cluster_blocks[(block->cluster_phase + 1) & 1];
  if (came == 0 || came + block->cluster_left < blocks) return;
  came = 0;
  ++block->cluster_phase;
  look_at_held(slot, now);
}

void Sm::spread(const memory::Reply& reply, std::vector<ClusterMessage>& out) const {
  const CopyEngine::Piece& piece = copies_.piece(reply.id);
  const CopyEngine::Job& job = copies_.job(piece.job);
  const Block& block = blocks_[job.block];
  if (!block.used || block.serial != job.serial) return;
  for (std::uint32_t rank = 0; rank < block.places.size(); ++rank) {
    if (rank == block.rank || (job.transfer.blocks >> rank & 1) == 0) continue;
    // Each piece is told by itself: the phase ends when all have come, in whatever order.
    out.push_back({reply.time, block.places[rank], block.cluster, rank, ClusterMessage::Kind::copied,
                   job.transfer.barrier, piece.bytes, isa::Arrival{0, -std::int64_t{piece.bytes}, false}});
  }
}

bool Sm::let_go(Cycle now) {
  mbarriers_.let_go(ended_waits_);
  bool some = !ended_waits_.empty();
  now_ = std::max(now_, now);
  end_waits(false, now_);
  for (std::uint16_t id = 0; id < warps_.size(); ++id) {
    Warp& warp = warps_[id];
    if (warp.phase != Phase::barrier || warp.hold == Hold::none) continue;
    some = true;
    warp.hold = Hold::none;
    warp.ready_at = std::max(warp.ready_at, now_ + 1);
    warp.phase = Phase::timed;
    look_when_ready(warp, id);
  }
  return some;
}

}  // namespace foretrace::sm
