#include "model/sm/mbarriers.h"

#include <algorithm>

namespace foretrace::sm {

Mbarriers::Barrier* Mbarriers::find(std::uint32_t block, std::uint32_t offset) {
  auto& barriers = of_[block];
  const auto found = std::find_if(barriers.begin(), barriers.end(),
                                  [offset](const Barrier& barrier) { return barrier.offset == offset; });
  return found == barriers.end() ? nullptr : &*found;
}

void Mbarriers::begin(std::uint32_t block, std::uint32_t offset, std::uint32_t expected) {
  Barrier* barrier = find(block, offset);
  if (expected == 0) {
    if (barrier) std::erase_if(of_[block], [offset](const Barrier& each) { return each.offset == offset; });
    return;
  }
  if (!barrier) barrier = &of_[block].emplace_back();
  *barrier = {offset, expected, expected, 0, false, {}};
}

void Mbarriers::arrive(std::uint32_t block, std::uint32_t offset, const isa::Arrival& arrival,
                       std::uint32_t times, std::vector<std::uint32_t>& ended) {
  Barrier* barrier = find(block, offset);
  if (!barrier) return;
  barrier->pending -= std::int64_t{arrival.arrivals} * times;
  barrier->transactions += arrival.transactions * times;
  if (arrival.drops) barrier->expected -= std::int64_t{arrival.arrivals} * times;
  if (barrier->pending > 0 || barrier->transactions != 0) return;
  barrier->pending += barrier->expected;
  std::erase_if(barrier->waiting, [&](const Waiting& each) {
    if (each.parity != barrier->parity) return false;
    ended.push_back(each.ticket);
    return true;
  });
  barrier->parity = !barrier->parity;
}

bool Mbarriers::wait(std::uint32_t block, std::uint32_t offset, bool parity, std::uint32_t ticket) {
  Barrier* barrier = find(block, offset);
  if (!barrier || barrier->parity != parity) return true;
  barrier->waiting.push_back({ticket, parity});
  return false;
}

void Mbarriers::let_go(std::vector<std::uint32_t>& ended) {
  for (auto& barriers : of_) {
    for (Barrier& barrier : barriers) {
      for (const Waiting& each : barrier.waiting) ended.push_back(each.ticket);
      barrier.waiting.clear();
    }
  }
}

}  // namespace foretrace::sm
