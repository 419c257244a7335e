// From a chip's outcome to the prediction that the report renders.
#pragma once

#include "sim/app/options.h"
#include "sim/engine/machine.h"
#include "sim/report/prediction.h"

namespace foretrace::app {

struct LaunchIdentity {
  std::string name;  ///< in a launch file; empty: none
  Dim3 grid, block, cluster;
  std::uint64_t dynamic_shared = 0;
  bool warm = false;
};

report::Prediction make_prediction(const Variant& variant, std::shared_ptr<const spec::GpuSpec> spec,
                                   std::shared_ptr<const isa::Program> program, const LaunchIdentity& launch,
                                   engine::Outcome outcome);

}  // namespace foretrace::app
