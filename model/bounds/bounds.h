// Closed forms that no simulation may beat: the least time a launch's work can take on a chip, resource by
// resource.
//
// Models:  each resource busy without a gap from the launch's first cycle to its last (roofline), the fixed
//          latencies one after the other, and Little's law for the sectors an SM may have outstanding. All
//          from counts; nothing is simulated.
// Ignores: everything that makes a real launch slower than its tightest bound: dependences, imbalance
//          between SMs, conflicts of timing. A launch that reads memory is taken to wait for at least one
//          of its reads.
// Source:  the chip's configuration; the work, as counted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"

namespace foretrace::bounds {

/// Work of one launch, summed over the chip.
struct Work {
  std::uint64_t blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::array<std::uint64_t, spec::kPipes>
      pipe_cycles{};                     ///< cycles the pipes' inputs were taken, all sub-cores
  std::uint64_t l1_tag_cycles = 0;       ///< of the SMs' tag stages
  std::uint64_t l1_data_wavefronts = 0;  ///< of the SMs' data stages, shared memory's included
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t l2_read_sectors = 0;    ///< loads' data that L2 sent to SMs
  std::uint64_t l2_write_sectors = 0;   ///< data that SMs sent to L2
  std::uint64_t l2_atomic_sectors = 0;  ///< both ways
  std::uint64_t partition_sectors = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  bool reads_memory = false;  ///< a load or an atomic with a result went beyond L1
};

/// The work that a simulated launch counted.
Work work_of(const stats::LaunchCounters& counters);

struct Bound {
  std::string name;   ///< "dram", "issue", "pipe_fmaheavy", ...
  std::string what;   ///< the formula in words
  double cycles = 0;  ///< SM cycles
};

/// Every bound that applies to the work on this chip, in a fixed order. No launch with this work takes
/// fewer SM cycles than any.
std::vector<Bound> lower_bounds(const spec::GpuSpec& spec, const Work& work);
/// The largest; the first of equals. `bounds` must not be empty.
const Bound& tightest(const std::vector<Bound>& bounds);

/// The chip's ceilings, per SM cycle.
struct Ceilings {
  double warp_instructions = 0;  ///< issued
  double fp32_operations = 0;    ///< a multiply-add is two
  double fp64_operations = 0;
  double l2_bytes = 0;  ///< delivered by L2's slices
  double dram_bytes = 0;
};
Ceilings ceilings(const spec::GpuSpec& spec);
/// Operations per SM cycle that work of `intensity` operations a DRAM byte can reach under a ceiling of
/// `operations` a cycle.
double roofline(const Ceilings& ceilings, double operations, double intensity);

/// SM cycles from a load's issue to its result: at least this long when it goes to L2, in its own
/// partition, and hits.
double l2_latency(const spec::GpuSpec& spec);

}  // namespace foretrace::bounds
