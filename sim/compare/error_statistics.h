// How far one set of numbers is from another, and which numbers these are.
//
// Models:  relative errors |value - reference| / |reference| and Pearson's correlation.
// Ignores: pairs whose reference is zero while the value is not: no percentage is theirs; they are counted
//          apart.
// Source:  textbook definitions; percentiles are nearest-rank, so that each is the error of one launch.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace foretrace::compare {

struct ValuePair {
  double value = 0;      ///< predicted, or the second result
  double reference = 0;  ///< measured, or the first result
};

/// Of all pairs of one metric; no value where there is nothing to compute it from.
struct ErrorStatistics {
  std::size_t pairs = 0;
  std::size_t without_percentage = 0;                                              ///< reference 0, value not
  std::optional<double> mean_abs_pct, median_abs_pct, p90_abs_pct, worst_abs_pct;  ///< %
  std::optional<double> pearson;  ///< -1..1; none for fewer than two pairs or where one side does not vary
};

/// (value - reference) / |reference| in %; 0 when both are 0, none when only the reference is.
std::optional<double> relative_error_pct(double value, double reference);

ErrorStatistics error_statistics(const std::vector<ValuePair>& pairs);

}  // namespace foretrace::compare
