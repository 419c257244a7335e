#include "model/gpu/dispatcher.h"

#include <algorithm>

#include "model/memory/topology.h"

namespace foretrace::gpu {

namespace {

/// `sms` of a GPC, TPC by TPC, of which `count` get a block: a TPC gets a second one when all have one.
void take(const std::vector<std::uint32_t>& sms, std::uint64_t count, std::vector<std::uint32_t>& order, std::vector<bool>& taken) {
  const std::uint64_t tpcs = (sms.size() + 1) / 2;
  const std::uint64_t doubles = count > tpcs ? count - tpcs : 0;
  for (std::uint64_t tpc = 0; tpc < tpcs && count > 0; ++tpc) {
    for (std::uint64_t i = 2 * tpc; i < std::min<std::uint64_t>(2 * tpc + (tpc < doubles ? 2 : 1), sms.size()) && count > 0; ++i, --count) {
      order.push_back(sms[i]);
      taken[sms[i]] = true;
    }
  }
}

}  // namespace

std::vector<std::uint32_t> order_of_first_blocks(const spec::GpuSpec& spec, std::uint64_t blocks) {
  const std::uint32_t count = spec.sm.count;
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(count);
  if (spec.launch.by_gpc) {
    blocks = std::min<std::uint64_t>(blocks, count);
    std::vector<std::vector<std::uint32_t>> groups(1 + spec.sm.gpcs);  // those that come first, then the GPCs
    for (std::uint32_t sm = 0; sm < count; ++sm) {
      const std::uint32_t gpc = memory::gpc_of_sm(spec.sm, sm);
      const bool first = gpc == 0 && groups[0].size() < spec.launch.first_group;
      groups[first ? 0 : 1 + gpc].push_back(sm);
    }
    std::vector<std::uint64_t> share(groups.size());
    share[0] = std::min<std::uint64_t>(blocks, groups[0].size());
    std::uint64_t left = blocks - share[0];
    while (left > 0) {  // one for each GPC with room, as long as there are any
      for (std::size_t g = 1; g < groups.size() && left > 0; ++g) {
        if (share[g] == groups[g].size()) continue;
        ++share[g];
        --left;
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) take(groups[g], share[g], order, taken);
  }
  for (std::uint32_t sm = 0; sm < count; ++sm) {
    if (!taken[sm]) order.push_back(sm);
  }
  return order;
}

Dispatcher::Dispatcher(const spec::GpuSpec& spec, std::uint64_t blocks, std::uint32_t blocks_per_sm,
                       std::uint32_t warps)
    : spec_(spec), blocks_(blocks), limit_(blocks_per_sm),
      sm_interval_(std::max<Cycle>(spec.launch.sm_block_interval, static_cast<Cycle>(warps * spec.launch.warp_interval))), sms_(spec.sm.count), first_(spec.sm.count), later_(spec.sm.count), next_dispatch_(spec.launch.start) {
  const auto place = [](const std::vector<std::uint32_t>& order, std::vector<std::uint32_t>& places) {
    for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  };
  place(order_of_first_blocks(spec, blocks), first_);
  place(order_of_first_blocks(spec, spec.sm.count), later_);
}

void Dispatcher::ended(std::uint32_t sm, Cycle time) {
  settled_ = std::max(settled_ + spec_.launch.block_interval, static_cast<double>(time + spec_.launch.block_end));
  rooms_.push_back({static_cast<Cycle>(settled_), sm});
}

bool Dispatcher::next(Cycle until, Placement& placement) {
  while (blocks_) {
    while (!rooms_.empty() && rooms_.front().time <= next_dispatch_) {
      --sms_[rooms_.front().sm].resident;
      rooms_.pop_front();
    }
    std::uint32_t best = 0;
    Cycle when = kNever;
    for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
      const State& state = sms_[sm];
      if (state.resident >= limit_) continue;
      const Cycle possible = std::max(next_dispatch_, state.ready);
      if (when == kNever || possible < when || (possible == when && (state.resident < sms_[best].resident ||
                                 (state.resident == sms_[best].resident &&
                                  place_in_order(sm, state.resident) < place_in_order(best, state.resident))))) {
        best = sm;
        when = possible;
      }
    }
    if (!rooms_.empty() && rooms_.front().time <= when) {  // another SM has room by then: look again with it
      next_dispatch_ = std::max(next_dispatch_, rooms_.front().time);
      if (next_dispatch_ >= until) return false;
      continue;
    }
    if (when >= until) return false;  // also when no SM has room
    State& state = sms_[best];
    ++state.resident;
    state.ready = when + sm_interval_;
    pace_ += spec_.launch.fill_interval;
    const auto whole = static_cast<Cycle>(pace_);
    pace_ -= static_cast<double>(whole);
    next_dispatch_ = when + whole;
    --blocks_;
    placement = {best, when + spec_.launch.block_start};
    return true;
  }
  return false;
}

Cycle Dispatcher::next_event() const {
  if (blocks_ == 0) return kNever;
  Cycle next = rooms_.empty() ? kNever : std::max(next_dispatch_, rooms_.front().time);
  for (const State& state : sms_) {
    if (state.resident < limit_) next = std::min(next, std::max(next_dispatch_, state.ready));
  }
  return next;
}

}  // namespace foretrace::gpu
