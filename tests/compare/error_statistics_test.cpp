// Error statistics by hand.
#include "sim/compare/error_statistics.h"

#include <gtest/gtest.h>

namespace foretrace::compare {
namespace {

TEST(Errors, ARelativeErrorHasTheReferencesSign) {
  EXPECT_DOUBLE_EQ(relative_error_pct(110, 100).value(), 10);
  EXPECT_DOUBLE_EQ(relative_error_pct(90, 100).value(), -10);
  EXPECT_DOUBLE_EQ(relative_error_pct(-90, -100).value(), 10);
  EXPECT_DOUBLE_EQ(relative_error_pct(0, 0).value(), 0);
  EXPECT_FALSE(relative_error_pct(1, 0).has_value());
}

TEST(Errors, StatisticsAreOfAbsoluteErrors) {
  // Errors of 1, 2, ..., 10 percent, signs mixed.
  std::vector<ValuePair> pairs;
  for (int i = 1; i <= 10; ++i) pairs.push_back({i % 2 == 0 ? 100.0 + i : 100.0 - i, 100});
  const ErrorStatistics errors = error_statistics(pairs);
  EXPECT_EQ(errors.pairs, 10u);
  EXPECT_DOUBLE_EQ(errors.mean_abs_pct.value(), 5.5);
  EXPECT_DOUBLE_EQ(errors.median_abs_pct.value(), 5);
  EXPECT_DOUBLE_EQ(errors.p90_abs_pct.value(), 9);
  EXPECT_DOUBLE_EQ(errors.worst_abs_pct.value(), 10);
  EXPECT_FALSE(errors.pearson.has_value());  // the references do not vary
}

TEST(Errors, PearsonSeesTheSlopeAndItsAbsence) {
  EXPECT_DOUBLE_EQ(error_statistics({{2, 1}, {4, 2}, {6, 3}}).pearson.value(), 1);
  EXPECT_DOUBLE_EQ(error_statistics({{3, 1}, {2, 2}, {1, 3}}).pearson.value(), -1);
  EXPECT_NEAR(error_statistics({{1, 1}, {2, 2}, {1, 3}}).pearson.value(), 0, 1e-12);
  EXPECT_NEAR(error_statistics({{0.1, 0.1}, {0.2, 0.3}}).pearson.value(), 1, 1e-12);  // two, close together
  EXPECT_FALSE(error_statistics({{1, 2}}).pearson.has_value());
  EXPECT_FALSE(error_statistics({{2, 1}, {2, 3}}).pearson.has_value());  // the values do not vary
}

TEST(Errors, ZeroReferencesAreCountedApart) {
  const ErrorStatistics errors = error_statistics({{5, 0}, {0, 0}, {110, 100}});
  EXPECT_EQ(errors.pairs, 3u);
  EXPECT_EQ(errors.without_percentage, 1u);
  EXPECT_DOUBLE_EQ(errors.mean_abs_pct.value(), 5);
  EXPECT_FALSE(error_statistics({}).mean_abs_pct.has_value());
  EXPECT_FALSE(error_statistics({{5, 0}}).worst_abs_pct.has_value());
}

}  // namespace
}  // namespace foretrace::compare
