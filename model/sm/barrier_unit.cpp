#include "model/sm/barrier_unit.h"

#include <algorithm>
#include <bit>

#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

namespace {
constexpr std::uint32_t kRankShift = 24;  // of an address in a cluster's shared memory
constexpr std::uint32_t kOffset = (1u << kRankShift) - 1;
}  // namespace

bool accesses_other_block(const Block& block, const Warp& warp) {
  if (block.places.size() <= 1) return false;
  const StaticInstruction& instruction = *warp.instruction;
  const std::uint64_t address = warp.cursor.pattern(0).base;
  const bool generic = instruction.form.space == isa::Space::generic && work::is_shared_window(address);
  if (instruction.form.space != isa::Space::shared && !generic) return false;
  return (address & (work::kWindowBytes - 1)) >> kRankShift != block.rank;
}

std::uint32_t BarrierUnit::add(const Warp& warp, std::uint16_t id) {
  auto number = static_cast<std::uint32_t>(operations_.size());
  if (free_operations_.empty()) {
    operations_.emplace_back();
  } else {
    number = free_operations_.back();
    free_operations_.pop_back();
  }
  const work::Step& step = warp.step;
  const StaticInstruction& instruction = context_.program.code[step.index];
  Operation& op = operations_[number];
  op.items.clear();
  op.use = instruction.barrier_use;
  op.index = step.index;
  op.block = warp.block;
  op.serial = blocks_[warp.block].serial;
  op.warp = id;
  op.generation = WarpTable::generation(warp);
  op.waiting = 0;
  if (context_.timeline) context_.timeline->begin_test(number, id);
  work::LaneAddresses barriers{}, operands{};
  const bool stores = op.use == isa::BarrierUse::store;
  if (!stores) warp.cursor.addresses(0, barriers);
  if (context_.program.shapes.of[step.index].addresses > 1)
    warp.cursor.addresses(1, stores ? barriers : operands);
  if (stores) operands.fill(instruction.form.bytes);
  for (std::uint32_t m = step.executed; m; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    const auto address = static_cast<std::uint32_t>(barriers[lane]);
    const auto operand = static_cast<std::uint32_t>(operands[lane]);
    const Operation::Item item{address >> kRankShift, address & kOffset, 0, operand};
    const auto same = std::find_if(op.items.begin(), op.items.end(), [&](const Operation::Item& each) {
      return each.rank == item.rank && each.offset == item.offset && each.operand == item.operand;
    });
    ++(same == op.items.end() ? op.items.emplace_back(item) : *same).times;
  }
  return number;
}

void BarrierUnit::arrive(std::uint32_t block, std::uint32_t rank, std::uint32_t offset,
                         const isa::Arrival& arrival, std::uint32_t times, Cycle now) {
  const Block& from = blocks_[block];
  if (from.is_own(rank)) {
    arrive_here(block, offset, arrival, times, arrival.arrivals == 0, now);
  } else if (rank < from.places.size()) {
    outbox_.push_back({now + context_.spec.cluster.hop_latency, from.places[rank], from.cluster, rank,
                       ClusterMessage::Kind::arrival, offset, times, arrival});
  }
}

void BarrierUnit::arrive_here(std::uint32_t block, std::uint32_t offset, const isa::Arrival& arrival,
                              std::uint32_t times, bool by_bytes, Cycle now) {
  mbarriers_.arrive(block, offset, arrival, times, ended_waits_);
  end_waits(by_bytes, now);
}

void BarrierUnit::execute(std::uint32_t number, Cycle answered, Cycle now) {
  Operation& op = operations_[number];
  const bool live = blocks_[op.block].used && blocks_[op.block].serial == op.serial;
  if (op.use == isa::BarrierUse::check) {
    op.asked = now;
    op.answered = answered;
    for (const Operation::Item& item : op.items) {
      if (!live || (item.operand & work::kPhaseEnded) == 0) continue;
      if (!mbarriers_.wait(op.block, item.offset, (item.operand & work::kAskedParity) != 0, number))
        ++op.waiting;
    }
    if (op.waiting == 0) answer(number, false, now);
    return;
  }
  for (const Operation::Item& item : op.items) {
    if (!live) break;
    if (op.use == isa::BarrierUse::init) {
      mbarriers_.begin(op.block, item.offset, item.operand);
    } else {
      const isa::Arrival arrival =
          op.use == isa::BarrierUse::store
              ? isa::Arrival{0, -std::int64_t{item.operand}, false}
              : isa::arrival_of(context_.program.program->code[op.index], item.operand);
      arrive(op.block, item.rank, item.offset, arrival, item.times, now);
    }
  }
  free_operations_.push_back(number);
}

/// A test's answer, with the end of the phase that it waited for at `now`.
void BarrierUnit::answer(std::uint32_t number, bool by_bytes, Cycle now) {
  const Operation& op = operations_[number];
  const StaticInstruction& instruction = context_.program.code[op.index];
  Cycle when = op.answered;
  if (now > op.asked) {
    if (instruction.poll_interval == 0) {
      when = std::max(op.answered, now + context_.spec.mbarrier.wake_latency);
    } else if (by_bytes && instruction.suspends) {
      when = std::max(op.answered, now);  // tma.write_latency reaches to here
    } else {
      when += (now - op.asked + instruction.poll_interval - 1) / instruction.poll_interval *
              instruction.poll_interval;
    }
  }
  if (instruction.write_barrier < kScoreboards) {
    when = std::max(when, now + 1);
    context_.events.push(when, {Event::Kind::release, instruction.write_barrier, op.warp, 0, op.generation});
    if (context_.timeline) context_.timeline->end_test(number, when);
  }
  free_operations_.push_back(number);
}

void BarrierUnit::end_waits(bool by_bytes, Cycle now) {
  for (const std::uint32_t number : ended_waits_) {
    if (--operations_[number].waiting == 0) answer(number, by_bytes, now);
  }
  ended_waits_.clear();
}

bool BarrierUnit::let_go(Cycle now) {
  mbarriers_.let_go(ended_waits_);
  const bool some = !ended_waits_.empty();
  end_waits(false, now);
  return some;
}

}  // namespace foretrace::sm
