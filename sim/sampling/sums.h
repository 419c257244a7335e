// Counters of a launch that are plain sums over its blocks: what the machine code and the addresses decide, whatever the time.
#pragma once

#include "model/stats/launch_counters.h"

namespace foretrace::sampling {

/// into += weight * from, for the sums alone; rounded to whole numbers. `into` has as many instructions as `from`.
void add_sums(stats::LaunchCounters& into, const stats::LaunchCounters& from, double weight);

}  // namespace foretrace::sampling
