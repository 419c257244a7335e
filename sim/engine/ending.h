// What a launch whose simulation was stopped in its steady state takes to its end, and how sure that is.
//
// Models:  the launch goes on as in its last chip-fulls until its last block is placed; then the chip empties (tail.h). Where blocks
//          differ, or only instructions were seen to settle: the work that is left at the steady rate, then the tail.
//          The interval is for 9 cases of 10: the rate's doubt over what is left, the scatter of chip-fulls, the survey's error, and how
//          far the end's model was off where it could be checked.
// Ignores: that what is left might be work of another kind than what was seen.
#pragma once

#include "model/spec/gpu_spec.h"
#include "sim/engine/progress.h"
#include "sim/engine/survey.h"
#include "sim/engine/tail.h"

namespace foretrace::engine {

struct Ending {
  double cycles = 0;  ///< of the whole launch
  double low = 0, high = 0;
  double idle = 0;  ///< cycles at the end in which the mean SM has no block
};

/// Work of blocks along the grid, relative to their mean, where they differ; else empty.
std::vector<double> work_along_grid(const Survey& survey, std::uint64_t blocks);

/// `progress`: what it was stopped with. `tail`: all but its spread.
Ending ending(const Survey& survey, const Progress& progress, const Pace& pace, TailSetup tail,
              const spec::LaunchSpec& launch);

}  // namespace foretrace::engine
