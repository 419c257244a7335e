#include "sim/validate/validation.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/table.h"
#include "sim/validate/accuracy.h"
#include "sim/validate/launch_class.h"

namespace foretrace::validate {
namespace {

/// Errors of a prediction that is no metric of ours.
template <typename Predict>
compare::ErrorStatistics errors_of_predictor(const Launches& launches, const char* metric, double at_least,
                                             const Predict& predict) {
  std::vector<compare::ValuePair> pairs;
  for (const auto* launch : launches) {
    const auto reference = launch->reference(metric);
    if (reference && *reference >= at_least) pairs.push_back({predict(*launch), *reference});
  }
  return compare::error_statistics(pairs);
}

std::vector<double> measured_at_least(const Launches& launches, const char* metric, double at_least) {
  std::vector<double> values;
  for (const auto* launch : launches) {
    const auto reference = launch->reference(metric);
    if (reference && *reference >= at_least) values.push_back(*reference);
  }
  return values;
}

}  // namespace

PredictedLaunch difference(const PredictedLaunch& longer, const PredictedLaunch& shorter,
                           const MeasuredLaunch& published) {
  PredictedLaunch both = longer;
  both.metrics = {};
  for (const auto& [metric, values] : published.metrics) {
    const auto more = longer.metrics.get(metric), less = shorter.metrics.get(metric);
    if (more && less) both.metrics.set(metric, (*more - *less) / published.per);
  }
  return both;
}

ValidatedLaunch::ValidatedLaunch(PredictedLaunch prediction, MeasuredLaunch measurement)
    : predicted(std::move(prediction)), measured(std::move(measurement)),
      kernel_class(class_of(predicted.file)), held_out(is_held_out(predicted.file)) {}

std::optional<double> ValidatedLaunch::reference(const std::string& metric) const {
  double value = 0;
  return measured.mean(metric, value) ? std::optional(value) : std::nullopt;
}

compare::ErrorStatistics errors_of(const Launches& launches, const std::string& metric, double at_least) {
  std::vector<compare::ValuePair> pairs;
  for (const auto* launch : launches) {
    const auto value = launch->value(metric);
    const auto reference = launch->reference(metric);
    if (value && reference && *reference >= at_least) pairs.push_back({*value, *reference});
  }
  return compare::error_statistics(pairs);
}

std::vector<ClassErrors> errors_by_class(const Launches& launches) {
  std::map<std::string, Launches> classes;
  for (const auto* launch : launches) classes[launch->kernel_class].push_back(launch);
  std::vector<ClassErrors> errors;
  for (const auto& [name, members] : classes) {
    errors.push_back({name, members.size(), errors_of(members, kElapsed), errors_of(members, kActive)});
  }
  return errors;
}

double best_constant(std::vector<double> measured) {
  // sum |c - m| / m is convex and piecewise linear in c, with a kink of weight 1 / m at each m: its least value
  // stands where half of the weight has been passed.
  std::sort(measured.begin(), measured.end());
  double all = 0;
  for (const double each : measured) all += 1 / each;
  double passed = 0;
  for (const double each : measured) {
    passed += 1 / each;
    if (passed >= all / 2) return each;
  }
  return 0;
}

std::vector<TrivialPredictor> trivial_predictors(const Launches& launches) {
  const double elapsed = best_constant(measured_at_least(launches, kElapsed, kLeastElapsed));
  const double active = best_constant(measured_at_least(launches, kActive, kLeastActive));
  const auto always = [](double value) { return [value](const ValidatedLaunch&) { return value; }; };
  const auto roofline = [](const ValidatedLaunch& launch) { return launch.predicted.roofline_cycles; };
  return {{"best constant",
           fmt::format("{} elapsed and {} active cycles for every launch, chosen to minimise the mean error",
                       report::grouped(elapsed, 0), report::grouped(active, 0)),
           errors_of_predictor(launches, kElapsed, kLeastElapsed, always(elapsed)),
           errors_of_predictor(launches, kActive, kLeastActive, always(active))},
          {"roofline", "the tightest lower bound on our own predicted counts (model/bounds)",
           errors_of_predictor(launches, kElapsed, kLeastElapsed, roofline),
           errors_of_predictor(launches, kActive, kLeastActive, roofline)}};
}

Launches Validation::development() const {
  Launches some;
  for (const auto& launch : launches) {
    if (!launch.held_out) some.push_back(&launch);
  }
  return some;
}

Launches Validation::held_out() const {
  Launches some;
  for (const auto& launch : launches) {
    if (launch.held_out) some.push_back(&launch);
  }
  return some;
}

Launches Validation::all() const {
  Launches every;
  for (const auto& launch : launches) every.push_back(&launch);
  return every;
}

}  // namespace foretrace::validate
