// How fast the waves after the first go, of a launch whose waves are too long for one of them to be simulated whole.
//
// Models:  blocks of the first wave begin together and find caches cold; with time they come apart. Here as many blocks as the chip holds
//          begin each somewhere on its way, spread evenly over its work (what is before is executed, not simulated), and the chip runs
//          until its rate has settled with L2 as it then is.
// Ignores: that blocks may still be partly in step in the second wave and the third; what blocks of a barrier's or a lock's loops do.
#pragma once

#include <optional>

#include "sim/emulate/emulator.h"
#include "sim/engine/machine.h"
#include "sim/sampling/steady_rate.h"
#include "sim/sampling/survey.h"

namespace foretrace::engine {

struct LaterWaves {
  sampling::SteadyRate rate;
  stats::LaunchCounters counters;  ///< of what was simulated for it
};

/// Nothing where a wave is short enough to be simulated, where there is no second, where blocks may wait for somebody, where blocks use more
/// than L2 holds (what they find there then depends on how far apart they come), or where the rate does not settle. Memory stays as it was; L2 is left as later waves have it.
std::optional<LaterWaves> later_waves(const emulate::LaunchContext& context, const Launch& shape,
                                      Machine& machine, int threads, const sampling::Survey& survey);

}  // namespace foretrace::engine
