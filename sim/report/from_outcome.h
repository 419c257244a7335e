// From a chip's outcome to the prediction that the report renders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/engine/machine.h"
#include "sim/report/prediction.h"

namespace foretrace::report {

struct LaunchIdentity {
  std::string name;  ///< in a launch file; empty: none
  Dim3 grid, block, cluster;
  std::uint64_t dynamic_shared = 0;  ///< bytes per block
  bool warm = false;
};

/// `chip` is the loaded configuration that `spec` is of; `overrides` what --set changed in it.
Prediction prediction_of(const config::Loaded& chip, const std::vector<std::string>& overrides,
                         std::shared_ptr<const spec::GpuSpec> spec,
                         std::shared_ptr<const isa::Program> program, const LaunchIdentity& launch,
                         engine::Outcome outcome);

}  // namespace foretrace::report
