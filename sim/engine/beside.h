// Launches that share a chip: each alone, then all in one simulation of the machine.
//
// Models:  blocks of several grids on the same SMs by the leftover rule (model/gpu/dispatcher.h); schedulers, pipes, caches, L2 and DRAM
//          shared as they are. L1 is what the largest carve-out that one of them would have alone leaves, on every SM.
// Ignores: launches with clusters, and of which blocks wait for each other.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/gpu/gpu.h"
#include "sim/engine/machine.h"

namespace foretrace::engine {

/// One of them.
struct BesideLaunch {
  Launch shape;
  Cycle begin = 0;  ///< it is launched so long after the first one
  /// Gives its records from the first block on, as often as it is called.
  std::function<std::unique_ptr<work::BlockSource>()> open;
};

struct BesideOutcome {
  struct Each {
    gpu::GridTime time;
    Outcome alone;
    std::uint64_t instructions = 0;  ///< warp instructions, beside the others
    /// Its time beside the others by its time alone, launch to end: 1: they did not slow it.
    double slowed() const {
      return static_cast<double>(time.end - time.begin) / static_cast<double>(alone.counters.elapsed);
    }
  };
  std::vector<Each> each;  ///< in the order given
  stats::LaunchCounters together;
  /// The time that they would take one after the other, as launched: each begins when those before it have ended.
  Cycle one_by_one() const;
};

/// Whether the launch can be among them. Throws nothing.
bool can_be_beside(const spec::GpuSpec& spec, const Launch& shape);

/// All in one simulation, as run_beside() has them: when each ran. L2 holds `l2` before; null: it is cold.
std::vector<gpu::GridTime> run_together(const spec::GpuSpec& spec, const std::vector<BesideLaunch>& launches,
                                        bool apart, int threads,
                                        std::shared_ptr<const memory::L2Contents> l2);

/// `apart`: each launch has memory of its own, whatever its addresses; else equal addresses are the same memory. `launches` in order of
/// their begins, the first of which is 0. Throws InputError.
BesideOutcome run_beside(std::shared_ptr<const spec::GpuSpec> spec, const std::vector<BesideLaunch>& launches,
                         bool apart, int threads);

}  // namespace foretrace::engine
