// What limits a kernel, in one sentence.
//
// Models:  the order in which an engineer would ask: is it long enough to matter, is a unit busy, do all SMs
//          have work to the end, and if none of these, what do the warps wait for.
//          Where the launch was simulated again without its limits, the sentence ends with what that saved for the limit that it names
//          and for what it advises, or says that no such simulation was made.
// Ignores: limits that follow each other in time; the figures are means over the launch.
// Source:  our own; the thresholds are named constants in limiter.cpp and stand in docs/json.md.
#pragma once

#include "sim/report/document.h"

namespace foretrace::report {

/// The limiter of a result, from its metrics, instructions and gains alone (result.limiter is not read).
Limiter find_limiter(const LaunchResult& result);

/// What a warp in this state waits for: "data from L2 or DRAM".
const char* meaning_of(stats::WarpState state);

}  // namespace foretrace::report
