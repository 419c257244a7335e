#include "model/sm/products.h"

#include <algorithm>

namespace foretrace::sm {

const Products::Warpgroup* Products::find(std::uint32_t block, std::uint32_t warp) const {
  const auto& groups = of_[block];
  return warp / kWarps < groups.size() ? &groups[warp / kWarps] : nullptr;
}

bool Products::issue(std::uint32_t block, std::uint32_t warp, std::uint32_t warps, const Product& product,
                     Cycle now, Use& use) {
  auto& groups = of_[block];
  if (groups.size() <= warp / kWarps) groups.resize(warp / kWarps + 1);
  Warpgroup& group = groups[warp / kWarps];
  const std::uint64_t number = group.next[warp % kWarps]++;
  while (group.first + group.ops.size() <= number) group.ops.emplace_back();
  Op& op = group.ops[number - group.first];
  op.ends_group = product.ends_group;
  if (++op.came < std::min(kWarps, warps - warp / kWarps * kWarps)) return false;
  const std::uint32_t cycles = std::max(product.cycles, product.shared);
  op.start = std::max(now, free_);
  free_ = op.start + cycles;
  op.end = op.start + product.cycles + latency_;
  const std::size_t at = number - group.first;
  if (at > 0 && group.ops[at - 1].end != kNever) op.end = std::max(op.end, group.ops[at - 1].end);
  use = {op.start, free_, product.shared};
  // What has ended and was issued by all is not asked for any more but by a wait for everything.
  constexpr std::size_t kKept = 64;
  while (group.ops.size() > kKept && group.ops.front().end <= now) {
    group.ops.pop_front();
    ++group.first;
  }
  return true;
}

Cycle Products::groups_ended(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const {
  const Warpgroup* group = find(block, warp);
  if (!group) return 0;
  std::uint32_t groups = 0;
  for (std::uint64_t number = group->next[warp % kWarps]; number > group->first; --number) {
    const Op& op = group->ops[number - 1 - group->first];
    if (op.ends_group && groups++ == most) return op.end;
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
