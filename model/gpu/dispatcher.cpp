#include "model/gpu/dispatcher.h"

#include <algorithm>
#include <utility>

#include "model/gpu/gpu.h"
#include "model/memory/topology.h"

namespace foretrace::gpu {

namespace {

/// Appends those of a GPC's `sms` that get one of `count` blocks, TPC by TPC: a TPC gets a second one when all have one.
void take(const std::vector<std::uint32_t>& sms, std::size_t count, std::vector<std::uint32_t>& order) {
  const std::size_t tpcs = (sms.size() + 1) / 2;
  const std::size_t doubles = count > tpcs ? count - tpcs : 0;
  for (std::size_t tpc = 0; tpc < std::min(count, tpcs); ++tpc) {
    order.push_back(sms[2 * tpc]);
    if (tpc < doubles) order.push_back(sms[2 * tpc + 1]);
  }
}

}  // namespace

std::vector<std::uint32_t> order_of_first_blocks(const spec::GpuSpec& spec, std::uint64_t blocks) {
  const std::uint32_t count = spec.sm.count;
  std::vector<std::uint32_t> order;
  if (spec.launch.by_gpc) {
    blocks = std::min<std::uint64_t>(blocks, count);
    std::vector<std::vector<std::uint32_t>> groups(1 + spec.sm.gpcs);  // those that come first, then the GPCs
    for (std::uint32_t sm = 0; sm < count; ++sm) {
      const std::uint32_t gpc = memory::gpc_of_sm(spec.sm, sm);
      const bool first = gpc == 0 && groups[0].size() < spec.launch.first_group;
      groups[first ? 0 : 1 + gpc].push_back(sm);
    }
    std::vector<std::size_t> share(groups.size());
    share[0] = std::min<std::size_t>(blocks, groups[0].size());
    std::size_t left = blocks - share[0];
    while (left > 0) {  // one for each GPC with room, as long as there are any
      for (std::size_t g = 1; g < groups.size() && left > 0; ++g) {
        if (share[g] == groups[g].size()) continue;
        ++share[g];
        --left;
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) take(groups[g], share[g], order);
  }
  std::vector<bool> taken(count);
  for (const std::uint32_t sm : order) taken[sm] = true;
  for (std::uint32_t sm = 0; sm < count; ++sm) {
    if (!taken[sm]) order.push_back(sm);
  }
  return order;
}

Dispatcher::Dispatcher(const spec::GpuSpec& spec, const LaunchSetup& setup)
    : spec_(spec), blocks_(setup.blocks), warps_(setup.warps), limit_(setup.blocks_per_sm),
      most_warps_(setup.most_warps ? setup.most_warps : setup.warps * setup.blocks_per_sm),
      most_blocks_(setup.most_blocks ? setup.most_blocks : setup.blocks_per_sm),
      sm_interval_(std::max<Cycle>(spec.launch.sm_block_interval,
                                   static_cast<Cycle>(setup.warps * spec.launch.warp_interval))),
      sms_(spec.sm.count), first_(spec.sm.count), later_(spec.sm.count), next_dispatch_(spec.launch.start) {
  const auto place = [](const std::vector<std::uint32_t>& order, std::vector<std::uint32_t>& places) {
    for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  };
  place(order_of_first_blocks(spec, setup.blocks), first_);
  place(order_of_first_blocks(spec, spec.sm.count), later_);
}

std::uint32_t Dispatcher::beside(std::uint32_t sm) const { return (sm ^ 1) < sms_.size() ? sm ^ 1 : sm; }

bool Dispatcher::has_room(const State& state) const {
  if (state.resident < limit_) return true;
  const std::uint32_t spare = spec_.launch.spare_warps;
  return spare && state.resident < most_blocks_ && state.warps + std::max(warps_, spare) <= most_warps_;
}

void Dispatcher::ended(std::uint32_t sm, Cycle time, bool block) {
  ++sms_[sm].ended;
  if (!block) return;
  settled_ =
      std::max(settled_ + spec_.launch.block_interval, static_cast<double>(time + spec_.launch.block_end));
  const auto take = [this](std::uint32_t of) { return std::exchange(sms_[of].ended, 0); };
  const std::uint32_t own = take(sm);
  rooms_.push_back({static_cast<Cycle>(settled_), sm, own, take(beside(sm))});
}

bool Dispatcher::next(Cycle until, Placement& placement) {
  while (blocks_) {
    while (!rooms_.empty() && rooms_.front().time <= next_dispatch_) {
      const Room& room = rooms_.front();
      --sms_[room.sm].resident;
      sms_[room.sm].warps -= room.warps;
      sms_[beside(room.sm)].warps -= room.beside;
      rooms_.pop_front();
    }
    std::uint32_t best = 0;
    Cycle when = kNever;
    const auto order = [this](std::uint32_t sm) {
      const std::uint32_t resident = sms_[sm].resident;
      return std::pair(resident, (resident ? later_ : first_)[sm]);
    };
    for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
      const State& state = sms_[sm];
      if (!has_room(state)) continue;
      const Cycle possible = std::max(next_dispatch_, state.ready);
      if (when == kNever || possible < when || (possible == when && order(sm) < order(best))) {
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
    state.warps += warps_;
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
    if (has_room(state)) next = std::min(next, std::max(next_dispatch_, state.ready));
  }
  return next;
}

}  // namespace foretrace::gpu
