// Rows of numbers for charts: a launch over its time, and over its SMs.
//
// Models:  what was counted between two instants (stats::Instant), and by each SM. Nothing is rounded; rows of zeros are left out.
// Ignores: sampled launches, which have no time of their own.
// Source:  docs/json.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/stats/launch_counters.h"

namespace foretrace::report {

struct Series {
  std::string name;
  std::vector<std::uint64_t> values;
};

/// "over_time": by slice of the launch its `end` (SM cycle), the blocks then resident, and what was counted in it: instructions, L1's
/// cycles, sectors of L2, bytes of DRAM, "warps.STATE" warp-cycles and "pipe.NAME" cycles summed over sub-cores. Empty: not known.
std::vector<Series> over_time(const stats::LaunchCounters& counters);
/// "sms": by SM its active cycles, warp instructions and blocks. Empty: not known.
std::vector<Series> over_sms(const stats::LaunchCounters& counters);

}  // namespace foretrace::report
