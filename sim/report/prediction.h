// One prediction: what was asked (program, launch, chip) and what the simulation of it counted.
//
// Models:  the hand-over from the engine to the report. Nothing here is computed; metrics.h says what the
//          numbers mean.
// Ignores: how the counters came about (sim/engine), and how they are printed (json.h, text.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "sim/engine/ideal.h"
#include "sim/report/launch_identity.h"
#include "sim/sampling/estimate.h"

namespace foretrace::report {

/// How many blocks an SM can hold, and what holds it back. Arithmetic (model/rules), not a prediction.
struct Occupancy {
  // Blocks per SM by each resource alone: launch__occupancy_limit_*
  std::uint32_t limit_registers = 0;
  std::uint32_t limit_shared_mem = 0;
  std::uint32_t limit_warps = 0;
  std::uint32_t limit_blocks = 0;
  std::uint32_t limit_barriers = 0;
  std::uint32_t blocks = 0;  ///< blocks an SM holds: the least of the limits
  std::uint32_t warps = 0;   ///< warps of those blocks
  std::uint32_t shared_config =
      0;                  ///< bytes of L1 set aside as shared memory: launch__shared_mem_config_size
  std::string next_step;  ///< one sentence: what the next better step would need; empty: none
};

struct Prediction : LaunchIdentity {
  std::shared_ptr<const spec::GpuSpec> gpu;     ///< the chip with its clocks as chosen
  std::shared_ptr<const isa::Program> program;  ///< the machine code
  std::string config_sha256;                    ///< of the chip's effective configuration
  std::uint32_t assumed_values = 0;             ///< configuration values of kind `assumed`
  std::uint32_t transferred_values = 0;         ///< of kind `transferred`: found on another chip
  std::vector<std::string> overrides;           ///< what --set changed, "sm.count=144", in the order given
  bool time_dependent = false;  ///< the instruction count depends on time (polling loops, clock reads)
  sampling::Estimate estimate;  ///< how the counters came about
  Occupancy occupancy;
  std::vector<engine::Gain> gains;  ///< empty: not asked for
  stats::LaunchCounters counters;
};

}  // namespace foretrace::report
