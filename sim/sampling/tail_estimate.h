// From a simulation that left blocks out, or was stopped, to the time of the whole launch and its interval.
//
// Models:  after_gap: whole waves of blocks were left out in the steady state, and everything before and after them was simulated: the
//          time of the launch is the simulated time and that of the blocks left out at the steady rate.
//          within_wave: a wave is too long to be simulated several times: the work that is left goes on at the rate seen within the
//          first, and the end is played through with blocks as amounts of work (block_queue.h).
//          first_and_later: the same, where a second simulation says what rate the waves after the first have.
//          The interval is for 9 cases of 10.
// Ignores: that what was left out might be work of another kind than what was seen.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "sim/sampling/block_queue.h"
#include "sim/sampling/steady_rate.h"
#include "sim/sampling/survey.h"

namespace foretrace::sampling {

struct TailEstimate {
  double cycles = 0;  ///< of the whole launch
  double low = 0, high = 0;
  double idle = 0;  ///< cycles at the end in which the mean SM has no block, beyond those that were simulated
};

/// Blocks that were not simulated.
struct Gap {
  std::uint64_t blocks = 0;            ///< of the launch
  std::uint64_t first = 0, count = 0;  ///< left out
};

/// Work of blocks along the grid, relative to their mean, where they differ; else empty.
std::vector<double> work_along_grid(const Survey& survey, std::uint64_t blocks);

/// Work of the blocks from..to, in units of the mean block's. `along`: as above.
double work_between(const std::vector<double>& along, double blocks, double from, double to);

/// `simulated`: elapsed cycles of the simulation without the gap. `wave`: blocks that the chip holds.
TailEstimate after_gap(const Survey& survey, const SteadyRate& rate, const Gap& gap, Cycle simulated,
                       std::uint64_t wave);

/// `now`: when the simulation was stopped. `queue`: all but its sharing. Where all blocks run at once there are no later waves, and the
/// interval is narrower.
TailEstimate within_wave(const Survey& survey, const SteadyRate& rate, Cycle now, BlockQueue queue,
                         const spec::LaunchSpec& launch);

/// `first`: the rate within the first wave, whose blocks are in step and find caches cold. `later`: that of blocks which are each somewhere
/// on their way. The first wave goes at the one, all others at the other.
TailEstimate first_and_later(const Survey& survey, const SteadyRate& first, const SteadyRate& later,
                             BlockQueue queue, const spec::LaunchSpec& launch);

}  // namespace foretrace::sampling
