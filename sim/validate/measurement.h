// What a real GPU answered: the documents of validate/measurements, read back.
//
// Models:  one launch after another with its counters under Nsight Compute's names, each read in two separate runs;
//          and published anchors (validate/published): numbers that others printed, of kernels rebuilt here.
// Ignores: times by events and what the harness checked; they are for people.
// Source:  validate/measurements/README.md, validate/harness/measure, validate/published/README.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::validate {

struct MeasuredLaunch {
  std::string name;  ///< in its launch file
  std::string mangled;
  std::string cubin;        ///< file name of its machine code; empty: published, compiled here
  std::string code_sha256;  ///< of the measured code; empty: published
  Dim3 grid, block;
  /// Published numbers only: the metrics are of this launch less those of the launch `less`, divided by `per`.
  std::string less;
  double per = 1;
  std::map<std::string, std::vector<double>> metrics;  ///< values of the separate runs

  /// Mean of the runs; false when it was not measured.
  bool mean(const std::string& metric, double& value) const;
  /// Measured at least twice, always the same.
  bool repeats_agree(const std::string& metric) const;
  /// The clocks that ncu saw while this launch ran, Hz; 0: not measured.
  spec::ClockSet clocks() const;
};

struct Measurement {
  std::string device, driver, date;
  std::string arch;  ///< the chip's name; empty: the document's file name says it
  std::string
      source;  ///< of a published document: the key in docs/sources.md; empty: measured by the harness
  std::vector<MeasuredLaunch> launches;
};

/// Throws InputError in one line when the text is no measurement; `name` is the file's in errors.
Measurement read_measurement(std::string_view text, const std::string& name);

}  // namespace foretrace::validate
