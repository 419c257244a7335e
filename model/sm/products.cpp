#include "model/sm/products.h"

#include <algorithm>

namespace foretrace::sm {

const Products::Warpgroup* Products::find(std::uint32_t block, std::uint32_t warp) const {
  const auto& groups = of_[block];
  return warp / kWarps < groups.size() ? &groups[warp / kWarps] : nullptr;
}

bool Products::issue(std::uint32_t block, std::uint32_t warp, std::uint32_t warps, const Product& product,
                     std::int64_t row) {
  auto& groups = of_[block];
  const std::uint32_t of = warp / kWarps;
  if (groups.size() <= of) groups.resize(of + 1);
  Warpgroup& group = groups[of];
  const std::uint64_t number = group.next[warp % kWarps]++;
  while (group.first + group.ops.size() <= number) group.ops.emplace_back();
  Op& op = group.ops[number - group.first];
  op.product = product;
  op.row = row;
  if (++op.came < std::min(kWarps, warps - of * kWarps)) return false;
  if (group.begun == group.issued++) turns_.push_back({block, of});
  return true;
}

Products::Begun Products::begin(Cycle now) {
  const auto next = turns_.begin() + (turns_.size() > 1 && turns_.front() == last_ ? 1 : 0);
  const Turn turn = *next;
  turns_.erase(next);
  last_ = turn;
  Warpgroup& group = of_[turn.block][turn.warpgroup];
  const std::size_t at = group.begun - group.first;
  Op& op = group.ops[at];
  op.start = now;
  free_ = now + std::max(op.product.cycles, op.product.shared);
  op.end = now + op.product.cycles + latency_;
  running_ = {now, now + op.product.first, now + op.product.cycles, std::max<Cycle>(1, op.product.period),
              op.product.period ? port_cycles_ : 0};
  if (at > 0) op.end = std::max(op.end, group.ops[at - 1].end);
  const Begun begun = {turn.block, op.row, free_, op.product.shared};
  if (++group.begun < group.issued) turns_.push_back(turn);
  // What has ended and was issued by all is not asked for any more but by a wait for everything.
  constexpr std::size_t kKept = 64;
  while (group.ops.size() > kKept && group.ops.front().end <= now) {
    group.ops.pop_front();
    ++group.first;
  }
  return begun;
}

void Products::forget(std::uint32_t block) {
  of_[block].clear();
  std::erase_if(turns_, [block](const Turn& turn) { return turn.block == block; });
}

Cycle Products::groups_ended(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const {
  const Warpgroup* group = find(block, warp);
  if (!group) return 0;
  std::uint32_t groups = 0;
  for (std::uint64_t number = group->next[warp % kWarps]; number > group->first; --number) {
    const Op& op = group->ops[number - 1 - group->first];
    if (op.product.ends_group && groups++ == most) return op.end;
  }
  return 0;
}

Cycle Products::begun(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const {
  const Warpgroup* group = find(block, warp);
  if (!group) return 0;
  const std::uint64_t next = group->next[warp % kWarps];
  return next > group->first + most ? group->ops[next - 1 - most - group->first].start : 0;
}

}  // namespace foretrace::sm
