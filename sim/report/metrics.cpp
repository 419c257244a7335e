#include "sim/report/metrics.h"

#include <unordered_map>

#include "model/units/error.h"
#include "sim/report/metric_tables.h"

namespace foretrace::report {
namespace {

std::vector<Metric> joined() {
  std::vector<Metric> all;
  for (auto table : {launch_metrics(), compute_metrics(), memory_metrics()}) {
    for (auto& metric : table) all.push_back(std::move(metric));
  }
  return all;
}

std::unordered_map<std::string_view, const Metric*> by_name() {
  std::unordered_map<std::string_view, const Metric*> index;
  for (const Metric& metric : metrics()) {
    FORETRACE_ASSERT(index.emplace(metric.name, &metric).second, "A metric is declared once.");
  }
  return index;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> kAll = joined();
  return kAll;
}

const Metric* find_metric(std::string_view name) {
  static const auto kIndex = by_name();
  const auto found = kIndex.find(name);
  return found == kIndex.end() ? nullptr : found->second;
}

Value MetricValues::get(std::string_view name) const {
  for (const auto& [each, value] : values_) {
    if (each == name) return value;
  }
  return {};
}

bool MetricValues::has(std::string_view name) const {
  for (const auto& entry : values_) {
    if (entry.first == name) return true;
  }
  return false;
}

MetricValues evaluate(const Prediction& prediction) {
  FORETRACE_ASSERT(prediction.gpu && prediction.program, "A prediction names its chip and its program.");
  MetricValues values;
  for (const Metric& metric : metrics()) values.set(metric.name, metric.value(prediction));
  return values;
}

}  // namespace foretrace::report
