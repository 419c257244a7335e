#include "model/sm/held_warps.h"

#include <algorithm>

namespace foretrace::sm {

using stats::WarpState;

namespace {

/// What an instruction waits for, and the state that it waits in.
struct Wait {
  Hold hold = Hold::none;
  WarpState label = WarpState::wait;
};
Wait wait_of(Action action) {
  switch (action) {
    case Action::product_begin: return {Hold::begun, WarpState::barrier};
    case Action::product_wait: return {Hold::groups, WarpState::gmma};
    case Action::registers: return {Hold::registers, WarpState::misc};
    case Action::cluster_wait: return {Hold::cluster, WarpState::barrier};
    case Action::membar: return {Hold::fence, WarpState::membar};
    default: return {};
  }
}

}  // namespace

void HeldWarps::issue_product(const Warp& warp, const StaticInstruction& instruction, Cycle now) {
  auto& busy = context_.counters.pipe_busy[static_cast<std::size_t>(spec::Pipe::tensor)];
  busy += instruction.product.cycles > instruction.interval
              ? instruction.product.cycles - instruction.interval
              : 0u;
  const auto warps = static_cast<std::uint32_t>(blocks_[warp.block].record->warps.size());
  const std::int64_t row = context_.timeline ? context_.timeline->row_of(table_.id_of(warp)) : -1;
  if (products_.issue(warp.block, warp.in_block, warps, instruction.product, row)) begin_products(now);
}

void HeldWarps::begin_products(Cycle now) {
  if (products_.next() <= now) {
    const Products::Begun begun = products_.begin(now);
    memory_.data.take_for_products(now, begun.end, begun.shared);
    if (context_.timeline) context_.timeline->row_stage(begun.row, Stage::execute, now, begun.end);
    look(begun.block, now);
  }
  const Cycle next = products_.next();
  if (next == kNever || next == asked_) return;
  asked_ = next;
  context_.events.push(next, {Event::Kind::product});
}

/// When the warp's MEMBAR is over, as far as stores make it longer.
Cycle HeldWarps::fenced_from(Warp& warp, Cycle now) {
  if (warp.stores != 0) return kNever;
  const bool waits = warp.fence != 0;
  if (!waits) {
    memory_.out.leave_all(now);
    warp.fence = memory_.out.fences().fence();
  }
  if (!memory_.out.fences().over(warp.fence)) {
    if (!waits) ++fences_;
    return kNever;
  }
  warp.fence = 0;
  if (!waits) return now;
  --fences_;
  return now + context_.spec.barrier.membar_return;
}

void HeldWarps::stores_left(Warp& warp, std::uint16_t id, Cycle now) {
  if (warp.phase != Phase::barrier || warp.hold != Hold::fence) return;
  const Cycle until = fenced_from(warp, now);
  if (until != kNever) table_.leave_hold(warp, id, until);
}

void HeldWarps::acknowledged(Cycle now) {
  for (std::uint16_t id = 0; id < table_.warps.size() && fences_ != 0; ++id) {
    Warp& warp = table_.warps[id];
    if (warp.hold == Hold::fence && warp.fence != 0) stores_left(warp, id, now);
  }
}

/// When the warp may go on after `instruction`, which it has issued; kNever: something else has to happen first.
Cycle HeldWarps::held_until(Warp& warp, const StaticInstruction& instruction, Hold hold, Cycle now) {
  Block& block = blocks_[warp.block];
  switch (hold) {
    case Hold::groups: return products_.groups_ended(warp.block, warp.in_block, instruction.depbar_count);
    case Hold::begun: return products_.begun(warp.block, warp.in_block, context_.spec.wgmma.queue);
    case Hold::registers: {
      const std::uint64_t needs = std::uint64_t{instruction.registers} * kWarpSize;
      const std::uint64_t has = std::uint64_t{warp.registers} * kWarpSize;
      if (instruction.takes_registers && needs > has + block.pool) return kNever;
      block.pool = std::max(block.pool + has, needs) - needs;
      warp.registers = instruction.registers;
      return now + context_.spec.wgmma.registers_latency;
    }
    case Hold::cluster: return block.cluster_phase >= warp.cluster_arrivals ? now : kNever;
    case Hold::fence: return fenced_from(warp, now);
    case Hold::none: break;
  }
  return now;
}

void HeldWarps::hold(Warp& warp, std::uint16_t id, const work::Step& done, Cycle ready, Cycle counted,
                     Cycle now) {
  const StaticInstruction& instruction = context_.program.code[done.index];
  const Wait wait = wait_of(instruction.action);
  const Cycle until = held_until(warp, instruction, wait.hold, now);
  if (instruction.action == Action::registers) look(warp.block, now);
  warp.instruction = &context_.program.code[warp.step.index];
  if (until != kNever) {
    const Cycle when = std::max(ready, until);
    table_.account(warp, WarpState::wait, std::min(counted, when));
    table_.wait_until(warp, id, when, wait.label, std::min(counted, when));
    warp.attributed_to = done.index;
    return;
  }
  table_.account(warp, WarpState::wait, counted);
  warp.phase = Phase::barrier;
  warp.label = wait.label;
  warp.attributed_to = done.index;
  warp.ready_at = ready;
  warp.hold = wait.hold;
}

void HeldWarps::look(std::uint32_t block, Cycle now) {
  for (std::uint16_t id = 0; id < table_.warps.size(); ++id) {
    Warp& warp = table_.warps[id];
    if (warp.phase != Phase::barrier || warp.hold == Hold::none || warp.block != block) continue;
    const Cycle until = held_until(warp, context_.program.code[warp.attributed_to], warp.hold, now);
    if (until != kNever) table_.leave_hold(warp, id, std::max(until, now + 1));
  }
}

bool HeldWarps::let_go(Cycle now) {
  bool some = false;
  for (std::uint16_t id = 0; id < table_.warps.size(); ++id) {
    Warp& warp = table_.warps[id];
    if (warp.phase != Phase::barrier || warp.hold == Hold::none) continue;
    some = true;
    if (warp.fence != 0) --fences_;
    warp.fence = 0;
    table_.leave_hold(warp, id, now + 1);
  }
  return some;
}

}  // namespace foretrace::sm
