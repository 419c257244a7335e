// Every name that is not our own is one of Nsight Compute's, and the document of metrics lists what the code
// declares.
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/report/metrics.h"

namespace foretrace::report {
namespace {

const std::string kRepository = FORETRACE_SOURCE_DIR;

std::set<std::string> names_in(const std::string& file) {
  std::ifstream in(kRepository + "/tests/report/" + file);
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

TEST(MetricNames, AreAmongThoseOfGh100) {
  const auto counters = names_in("gh100_metrics.txt");
  const auto of_the_launch = names_in("gh100_launch_metrics.txt");
  ASSERT_GT(counters.size(), 1000u) << "tests/report/gh100_metrics.txt is missing or cut short";
  ASSERT_GT(of_the_launch.size(), 30u) << "tests/report/gh100_launch_metrics.txt is missing or cut short";
  for (const Metric& metric : metrics()) {
    if (metric.name.starts_with("foretrace__")) continue;
    // The list has base names; what follows the first dot is a roll-up (checked below). A launch's names have
    // none.
    const bool known = counters.count(metric.name.substr(0, metric.name.find('.'))) == 1 ||
                       of_the_launch.count(metric.name) == 1;
    EXPECT_TRUE(known) << metric.name;
  }
}

TEST(MetricNames, RollUpsAreNsightComputes) {
  const std::set<std::string> kKnown = {"sum",
                                        "avg",
                                        "max",
                                        "pct",
                                        "ratio",
                                        "avg.per_second",
                                        "sum.per_second",
                                        "avg.per_cycle_active",
                                        "avg.per_cycle_elapsed",
                                        "avg.pct_of_peak_sustained_active",
                                        "avg.pct_of_peak_sustained_elapsed"};
  for (const Metric& metric : metrics()) {
    const auto dot = metric.name.find('.');
    if (dot == std::string::npos || metric.name.starts_with("foretrace__")) continue;
    EXPECT_EQ(kKnown.count(metric.name.substr(dot + 1)), 1u) << metric.name;
  }
}

TEST(MetricNames, AreDocumented) {
  std::string expected;
  for (const Metric& metric : metrics()) {
    expected += fmt::format("| `{}` | {} | {} |\n", metric.name, metric.unit.empty() ? "-" : metric.unit,
                            metric.description);
  }
  std::ifstream in(kRepository + "/docs/json_metrics.md");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_NE(text.str().find(expected), std::string::npos) << "docs/json_metrics.md should hold this table:\n"
                                                          << expected;
}

}  // namespace
}  // namespace foretrace::report
