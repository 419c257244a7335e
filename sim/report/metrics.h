// The metrics: each declared once, with its name, unit, meaning and formula.
//
// Models:  Nsight Compute's metrics in its base units (ns, byte, cycle, %) where ours mean the same, and
//          numbers that it does not have under the prefix foretrace__.
// Ignores: metrics of units that Foretrace does not model (textures, graphics, NVLink, PCIe).
// Source:  names as `ncu --query-metrics --chip gh100` lists them (tests/report checks each), meanings as in
//          the Nsight Compute documentation's metric reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/prediction.h"

namespace foretrace::report {

/// A metric's value; no value where Nsight Compute would print n/a: a share of nothing, or a unit the chip
/// does not have.
using Value = std::optional<double>;

/// One metric's declaration.
struct Metric {
  std::string name;         ///< "dram__bytes_read.sum"
  std::string unit;         ///< base unit, "%" for shares, "" for a plain number
  std::string description;  ///< one sentence, no full stop
  Value (*value)(const Prediction& prediction);
};

/// All metrics in the order in which documents list them. Names are unique.
const std::vector<Metric>& metrics();
/// The declaration of a name; nullptr when there is none.
const Metric* find_metric(std::string_view name);

/// Names with values, as a document holds them.
class MetricValues {
 public:
  void set(std::string name, Value value) { values_.emplace_back(std::move(name), value); }
  /// The value of a name; none when it is null or not there.
  Value get(std::string_view name) const;
  /// The same, with a number for none.
  double get(std::string_view name, double otherwise) const { return get(name).value_or(otherwise); }
  bool has(std::string_view name) const;
  const std::vector<std::pair<std::string, Value>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

/// Every metric of a prediction.
MetricValues evaluate(const Prediction& prediction);

}  // namespace foretrace::report
