// From a chip's outcome to the prediction that the report renders.
#pragma once

#include "sim/app/options.h"
#include "sim/report/from_outcome.h"

namespace foretrace::app {

using report::LaunchIdentity;

report::Prediction make_prediction(const Variant& variant, std::shared_ptr<const isa::Program> program,
                                   const LaunchIdentity& launch, engine::Outcome outcome);

}  // namespace foretrace::app
