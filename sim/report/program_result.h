// A program's launches as a whole: what `run` adds to the result document beside the launches that were simulated.
//
// Source: docs/json.md, keys "program" and "represented".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/units/units.h"

namespace foretrace::report {

/// A launch that another stands for: executed, not simulated.
struct RepresentedLaunch {
  std::uint64_t number = 0;  ///< in the program, from 0
  std::uint64_t by = 0;      ///< number of the simulated launch that is most like it
  std::string kernel;
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;                                   ///< bytes per block
  double duration_ns = 0, duration_low_ns = 0, duration_high_ns = 0;  ///< interval: nine cases of ten
  std::optional<std::uint64_t> stream;
  std::optional<double> start_ns, end_ns;  ///< on the program's time line
};

struct ProgramResult {
  std::uint64_t launches = 0, simulated = 0, faults = 0;
  double duration_ns = 0, duration_low_ns = 0,
         duration_high_ns = 0;  ///< sum of the predicted launches' times
  std::uint64_t budget = 0;     ///< warp instructions; 0: all are simulated
  std::uint64_t warp_instructions = 0, simulated_warp_instructions = 0;  ///< of the predicted launches
  std::vector<RepresentedLaunch> represented;
};

}  // namespace foretrace::report
