#include "sim/compare/error_statistics.h"

#include <algorithm>
#include <cmath>

namespace foretrace::compare {
namespace {

/// The smallest of the sorted values that at least this share of them does not exceed.
double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::optional<double> pearson(const std::vector<ValuePair>& pairs) {
  if (pairs.size() < 2) return {};
  const auto count = static_cast<double>(pairs.size());
  double value_mean = 0, reference_mean = 0;
  for (const auto& pair : pairs) {
    value_mean += pair.value / count;
    reference_mean += pair.reference / count;
  }
  double both = 0, values = 0, references = 0;
  for (const auto& pair : pairs) {
    const double v = pair.value - value_mean;
    const double r = pair.reference - reference_mean;
    both += v * r;
    values += v * v;
    references += r * r;
  }
  if (values <= 0 || references <= 0) return {};
  return both / std::sqrt(values * references);
}

}  // namespace

std::optional<double> relative_error_pct(double value, double reference) {
  if (reference == 0) return value == 0 ? std::optional<double>(0.0) : std::nullopt;
  return 100.0 * (value - reference) / std::fabs(reference);
}

ErrorStatistics error_statistics(const std::vector<ValuePair>& pairs) {
  ErrorStatistics statistics;
  statistics.pairs = pairs.size();
  std::vector<double> errors;
  for (const auto& pair : pairs) {
    if (const auto error = relative_error_pct(pair.value, pair.reference)) {
      errors.push_back(std::fabs(*error));
    } else {
      ++statistics.without_percentage;
    }
  }
  statistics.pearson = pearson(pairs);
  if (errors.empty()) return statistics;
  std::sort(errors.begin(), errors.end());
  double sum = 0;
  for (const double error : errors) sum += error;
  statistics.mean_abs_pct = sum / static_cast<double>(errors.size());
  statistics.median_abs_pct = nearest_rank(errors, 0.5);
  statistics.p90_abs_pct = nearest_rank(errors, 0.9);
  statistics.worst_abs_pct = errors.back();
  return statistics;
}

}  // namespace foretrace::compare
