// What a launch says between its angle brackets: grid, block, cluster, dynamic shared memory.
//
// Every description of a launch, from the command line and CUDA's calls to the report, begins with it; it is taken over as a whole.
#pragma once

#include <cstdint>

#include "model/units/units.h"

namespace foretrace {

struct LaunchShape {
  Dim3 grid, block;                  ///< blocks; threads per block
  Dim3 cluster;                      ///< blocks per cluster
  std::uint64_t dynamic_shared = 0;  ///< bytes per block

  const LaunchShape& shape() const { return *this; }
  LaunchShape& shape() { return *this; }
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

}  // namespace foretrace
