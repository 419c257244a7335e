// From the counters of a simulation that was stopped part way to those of the whole launch.
//
// Models:  sums that code and addresses decide come from the survey. What depends on time or caches grows as it did in the steady state,
//          by the work that is left. Conservation holds as in a simulated launch: each scheduler cycle either issues or has one reason
//          why not, each resident warp is in one state.
// Ignores: what the part that was not simulated might do differently: that is what the interval of the estimate is for.
#pragma once

#include "model/sm/static_program.h"
#include "model/stats/launch_counters.h"
#include "sim/sampling/steady_rate.h"
#include "sim/sampling/survey.h"

namespace foretrace::sampling {

/// `simulated`: counters when it was stopped. `dirty_sectors`: that L2 keeps before it writes back. `elapsed`: cycles of the whole launch, the last `idle_at_end` of them (of the mean SM)
/// without a block.
stats::LaunchCounters extrapolate(const stats::LaunchCounters& simulated, const Survey& survey,
                                  const SteadyRate& rate, const sm::StaticProgram& program,
                                  double dirty_sectors, Cycle elapsed, Cycle idle_at_end);

}  // namespace foretrace::sampling
