// What a trace says about the launch that it recorded.
#pragma once

#include <cstdint>
#include <string>

#include "model/units/launch_shape.h"

namespace foretrace::trace {

struct LaunchInfo : LaunchShape {
  std::string name;  ///< in a launch file; empty: given on the command line
  friend bool operator==(const LaunchInfo&, const LaunchInfo&) = default;
};

/// Sums over the recorded blocks.
struct TraceTotals {
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t instructions = 0;         ///< warp instructions
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes
  friend bool operator==(const TraceTotals&, const TraceTotals&) = default;
};

}  // namespace foretrace::trace
