// Two sets of launches side by side: result beside result, or result beside measurement.
//
// Models:  which launch answers which, every metric of both, and error statistics over the launches.
// Ignores: whether a difference matters: that is the reader's judgement.
// Source:  docs/json.md, docs/comparison_schema.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compare/error_statistics.h"
#include "sim/compare/time_lines.h"
#include "sim/report/document.h"

namespace foretrace::compare {

enum class Against {
  result,      ///< value: the second result, reference: the first
  measurement  ///< value: predicted, reference: measured
};

struct MetricPair {
  std::string name;
  report::Value value, reference;
};

/// One launch on both sides.
struct LaunchPair {
  std::string kernel;
  std::string arch;  ///< the predicted chip; "a -> b" where two results are of different chips
  Dim3 grid, block;  ///< of the reference
  std::string
      note;  ///< how the sides differ beyond the numbers ("grid (8, 1, 1) -> (16, 1, 1)"), empty: not at all
  std::string limiter;              ///< of the value's side
  std::string limiter_before;       ///< of the reference's side; empty for a measurement
  std::vector<MetricPair> metrics;  ///< those that both sides have
};

struct Comparison {
  Against against = Against::result;
  std::string value_name, reference_name;  ///< the files
  std::vector<LaunchPair> launches;
  std::vector<std::string> left_out;      ///< launches that have no answer on the other side, in words
  std::optional<TimeLinePair> time_line;  ///< of two results that have one
};

/// Reads launch by launch: same kernel, grid, block and chip first; then the same on any chip; then the same
/// kernel name; a lone launch on each side always. Repeats pair in order. Throws InputError when nothing
/// pairs.
Comparison compare_results(const report::Document& before, const std::string& before_name,
                           const report::Document& after, const std::string& after_name);

/// Prediction beside ncu's CSV: same kernel (as written, mangled, or without template arguments where that is
/// unambiguous), grid, block and compute capability. One prediction answers all repeats of its launch. `arch`
/// chooses among predictions of the same compute capability; empty: there must be only one chip of it. Throws
/// InputError when nothing pairs or the choice is open.
Comparison compare_with_ncu(const report::Document& predicted, const std::string& predicted_name,
                            std::string_view csv, const std::string& csv_name, const std::string& arch = {});

/// A metric's error statistics over all launches, in the order in which metrics first appear.
struct MetricErrors {
  std::string name;
  ErrorStatistics errors;
};
std::vector<MetricErrors> errors_of(const Comparison& comparison);

/// For eyes: main metrics of each launch, then the errors where there is more than one launch. Ends with a
/// newline.
std::string to_text(const Comparison& comparison);
/// docs/comparison_schema.json, ending with a newline. `version`: of foretrace.
std::string to_json(const Comparison& comparison, const std::string& version);

}  // namespace foretrace::compare
