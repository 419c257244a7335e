// A validation made by hand: two development classes and two held-out launches, with round numbers.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/validate/validation.h"

namespace foretrace::validate::testing {

using Numbers = std::map<std::string, std::pair<double, double>>;  ///< metric: predicted, measured

/// A launch with these numbers, measured twice alike.
inline ValidatedLaunch launch(const std::string& name, const std::string& file, const Numbers& numbers) {
  PredictedLaunch predicted;
  predicted.name = name;
  predicted.file = file;
  predicted.kernel = name + "_kernel";
  predicted.mangled = "_Z" + name;
  predicted.code_sha256 = std::string(64, 'a');
  MeasuredLaunch measured;
  measured.name = name;
  for (const auto& [metric, sides] : numbers) {
    predicted.metrics.set(metric, sides.first);
    measured.metrics[metric] = {sides.second, sides.second};
  }
  predicted.roofline_cycles = numbers.contains(kElapsed) ? numbers.at(kElapsed).first / 2 : 1;
  return {std::move(predicted), std::move(measured)};
}

/// Elapsed cycles predicted and measured; active cycles are 5,000 fewer on both sides.
inline ValidatedLaunch cycles(const std::string& name, const std::string& file, double predicted,
                              double measured) {
  return launch(name, file,
                {{kElapsed, {predicted, measured}}, {kActive, {predicted - 5000, measured - 5000}}});
}

/// "abc" and "b" are held out by their hashes, "prefix" is not.
inline Validation sample_validation() {
  Validation validation;
  validation.foretrace = "0.1.0";
  validation.arch = "chip";
  validation.config_sha256 = std::string(64, 'b');
  validation.measured.device = "Device";
  validation.measured.date = "2026-01-01";
  validation.measured.driver = "1";
  validation.launches.push_back(cycles("copy_small", "kernels/copy.toml", 11'000, 10'000));
  validation.launches.push_back(cycles("copy_large", "kernels/copy.toml", 105'000, 100'000));
  validation.launches.push_back(cycles("scan_large", "suite/scan/prefix.toml", 180'000, 200'000));
  validation.launches.push_back(cycles("hidden_one", "suite/sort/abc.toml", 130'000, 100'000));
  validation.launches.push_back(cycles("hidden_two", "suite/scan/b.toml", 50'000, 40'000));
  validation.left_out = {{"huge", "--largest 100"}};
  return validation;
}

}  // namespace foretrace::validate::testing
