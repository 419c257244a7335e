// From a chip's outcome to the prediction that the report renders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/engine/machine.h"
#include "sim/report/prediction.h"

namespace foretrace::report {

/// `chip` is the loaded configuration of the outcome's chip; `overrides` what --set changed in it.
Prediction prediction_of(const config::Loaded& chip, const std::vector<std::string>& overrides,
                         std::shared_ptr<const isa::Program> program, const LaunchIdentity& launch,
                         engine::Outcome outcome);

}  // namespace foretrace::report
