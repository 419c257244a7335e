// Predictions beside what a real GPU was measured on: one launch with both sides, and what is said of many.
//
// Models:  docs/validation.md: errors by launch, by class of kernel and by metric, over development and held-out
//          kernels apart and together, what each row of the acceptance criteria reached, and two trivial
//          predictors on the same launches.
// Ignores: how the predictions came about (sim/app), and which launches were left out by whom.
// Source:  validate/measurements/README.md for the measured side, sim/report/metrics.h for the predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compare/error_statistics.h"
#include "sim/report/metrics.h"
#include "sim/validate/measurement.h"

namespace foretrace::validate {

inline constexpr const char* kElapsed = "gpc__cycles_elapsed.max";
inline constexpr const char* kActive = "sm__cycles_active.avg";

/// What was predicted of a launch.
struct PredictedLaunch {
  std::string name;
  std::string file;  ///< its launch file, for class and split: only the last two folders matter
  std::string kernel, mangled, code_sha256;
  bool time_dependent = false;  ///< polls or reads a clock: its instruction counts depend on time
  double roofline_cycles = 0;  ///< SM cycles: the tightest lower bound (model/bounds) of the predicted counts
  report::MetricValues metrics;
};

/// A published number's prediction: of each metric that it has, (longer - shorter) / per. What the two launches share,
/// such as start and drain, is not in it.
PredictedLaunch difference(const PredictedLaunch& longer, const PredictedLaunch& shorter,
                           const MeasuredLaunch& published);

/// One launch, both sides.
struct ValidatedLaunch {
  PredictedLaunch predicted;
  MeasuredLaunch measured;
  std::string kernel_class;
  bool held_out = false;

  ValidatedLaunch(PredictedLaunch prediction, MeasuredLaunch measurement);
  report::Value value(const std::string& metric) const { return predicted.metrics.get(metric); }
  /// Mean of the measured runs.
  std::optional<double> reference(const std::string& metric) const;
};

using Launches = std::vector<const ValidatedLaunch*>;

/// Errors of one metric over the launches that both sides have it for and whose measurement is `at_least`.
compare::ErrorStatistics errors_of(const Launches& launches, const std::string& metric, double at_least = 0);

/// Cycle errors of one class of kernel.
struct ClassErrors {
  std::string name;
  std::size_t launches = 0;
  compare::ErrorStatistics elapsed, active;
};
/// By class, in alphabetical order.
std::vector<ClassErrors> errors_by_class(const Launches& launches);

/// A predictor that needs no simulator, on the same launches.
struct TrivialPredictor {
  std::string name;                          ///< "best constant", "roofline"
  std::string how;                           ///< in words, with the constant's value
  compare::ErrorStatistics elapsed, active;  ///< over the launches that the rows of cycles are asked of
};
/// The constant c of least mean |c - m| / m over measurements m > 0: their median, weighted with 1 / m.
double best_constant(std::vector<double> measured);
/// Best constant, and roofline on our own predicted counts.
std::vector<TrivialPredictor> trivial_predictors(const Launches& launches);

/// A measured launch that is not compared.
struct LeftOut {
  std::string name, why;
};

/// Everything that a report of a validation says.
struct Validation {
  std::string foretrace, commit;  ///< of the predictions
  std::string arch, config_sha256;
  Measurement measured;  ///< its head; its launches are not used
  std::string frozen;    ///< when and from which commit the predictions were frozen, empty: made now
  std::vector<ValidatedLaunch> launches;
  std::vector<LeftOut> left_out;  ///< by an option, or because the frozen predictions have no answer
  std::vector<LeftOut> failed;    ///< not left out, but without a prediction
  bool show_held_out = false;     ///< also the numbers of single held-out launches and classes

  Launches development() const;
  Launches held_out() const;
  Launches all() const;
};

/// For eyes. Ends with a newline.
std::string to_text(const Validation& validation);
/// docs/validation_schema.json, ending with a newline.
std::string to_json(const Validation& validation);

}  // namespace foretrace::validate
