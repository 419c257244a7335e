#include "sim/app/make_prediction.h"

namespace foretrace::app {

report::Prediction make_prediction(const Variant& variant, std::shared_ptr<const isa::Program> program,
                                   const LaunchIdentity& launch, engine::Outcome outcome) {
  return report::prediction_of(variant.chip, variant.overrides, std::move(program), launch,
                               std::move(outcome));
}

}  // namespace foretrace::app
