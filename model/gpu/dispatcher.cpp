#include "model/gpu/dispatcher.h"

#include <algorithm>

namespace foretrace::gpu {

Dispatcher::Dispatcher(const spec::GpuSpec& spec, std::uint64_t blocks, std::uint32_t blocks_per_sm,
                       std::uint32_t warps)
    : spec_(spec), blocks_(blocks), limit_(blocks_per_sm),
      sm_interval_(std::max<Cycle>(spec.launch.sm_block_interval, static_cast<Cycle>(warps * spec.launch.warp_interval))), sms_(spec.sm.count), next_dispatch_(spec.launch.start) {}

void Dispatcher::ended(std::uint32_t sm, Cycle time) { rooms_.push_back({time + spec_.launch.block_end, sm}); }

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
      if (when == kNever || possible < when || (possible == when && state.resident < sms_[best].resident)) {
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
    pace_ += spec_.launch.block_interval;
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
