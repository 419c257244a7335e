#include "model/memory/shared.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {

Shared::Shared(const spec::GpuSpec& chip)
    : spec(chip), map(chip), sm_to_l2(chip.clock.sm, chip.clock.l2), l2_to_sm(chip.clock.l2, chip.clock.sm),
      l2_to_dram(chip.clock.l2, chip.clock.dram), dram_to_l2(chip.clock.dram, chip.clock.l2) {
  FORETRACE_ASSERT(chip.sm.count < 65536 && chip.l2.slices < 65536,
                   "more SMs or slices than 16 bits can number");
  FORETRACE_ASSERT(map.sets() < 65536, "more sets of a slice than 16 bits can number");
  const std::vector<Ways> ways = ways_of_sms(chip);
  for (std::uint32_t sm = 0; sm < chip.sm.count; ++sm)
    sm_place.push_back({gpc_of_sm(chip.sm, sm), cpc_of_sm(chip.sm, sm), partition_of_sm(chip, sm), ways[sm]});
  shortest = ways.front();
  for (const Ways& way : ways)
    shortest = {std::min(shortest.request, way.request), std::min(shortest.reply, way.reply)};
}

void Shared::restart(bool warm) {
  FORETRACE_ASSERT(pool.live() == 0 && writes.live() == 0, "a memory request got lost");
  signals.restart();
  events.restart();
  now = 0;
  const std::uint64_t dirty = counters.dirty_sectors_left;
  counters = {};
  if (warm) counters.dirty_sectors_left = dirty;
}

}  // namespace foretrace::memory
