// How a launch's counters came about when it was not simulated to its end (docs/accuracy.md).
#pragma once

#include <string>

namespace foretrace::sampling {

struct Estimate {
  bool sampled = false;    ///< false: every instruction was simulated, and the interval is the one value
  double cycles_low = 0;   ///< of elapsed cycles: the interval is meant to hold the exact simulation's
  double cycles_high = 0;  ///< answer in 9 cases of 10
  double simulated = 1;    ///< share of the launch's warp instructions
  std::string note;  ///< one sentence: why a sampled run was asked for and not made; empty: nothing to say
};

}  // namespace foretrace::sampling
