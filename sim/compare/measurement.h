// What a real GPU answered: the documents of validate/measurements, read back.
//
// Models:  one launch after another with its counters under Nsight Compute's names, each read in two separate runs.
// Ignores: times by events and what the harness checked; they are for people.
// Source:  validate/measurements/README.md, validate/harness/measure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::compare {

struct MeasuredLaunch {
  std::string name;         ///< in its launch file
  std::string mangled;
  std::string cubin;        ///< file name of its machine code
  std::string code_sha256;
  Dim3 grid, block;
  std::map<std::string, std::vector<double>> metrics;  ///< values of the separate runs

  /// Mean of the runs; false when it was not measured.
  bool mean(const std::string& metric, double& value) const;
  /// The clocks that ncu saw while this launch ran, Hz.
  spec::ClockSet clocks() const;
};

struct Measurement {
  std::string device, driver, date;
  std::vector<MeasuredLaunch> launches;
};

/// Throws InputError in one line when the text is no measurement; `name` is the file's in errors.
Measurement read_measurement(std::string_view text, const std::string& name);

}  // namespace foretrace::compare
