// Two programs' time lines side by side, from their result documents.
#include "sim/compare/time_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"

namespace foretrace::compare {
namespace {

/// A document with a time line of `kernels` and `gaps` ns, two launches of saxpy and one that is represented.
std::string document(double kernels, double gaps, const char* host, const char* ranges = "") {
  const std::string parts = fmt::format(
      R"({{"kernels_ns": {}, "copies_ns": 0, "calls_ns": 30, "host_ns": 0, "gaps_ns": {}}})", kernels, gaps);
  const std::string launch =
      fmt::format(R"({{"kernel": "saxpy", "metrics": {{"gpu__time_duration.sum": {}}}}})", kernels / 4);
  return fmt::format(
      R"({{"schema": 2, "predictions": [{}, {}, {{"kernel": "executed", "metrics": {{}}}}],)"
      R"("represented": [{{"kernel": "scan", "duration_ns": {}}}],)"
      R"("program": {{"time_line": {{"host": "{}", "duration_ns": {}, "time": {}, "critical_path": {},)"
      R"("overlap_won_ns": 1, "overlap_lost_ns": 2{}}}}}}})",
      launch, launch, kernels / 2, host, kernels + gaps + 30, parts, parts, ranges);
}

TEST(CompareTimeLines, SaysWhatChangedInTheWholeItsPartsAndKernels) {
  const auto pair =
      compare_time_lines(document(4000, 100, "a"), "a.json", document(2000, 300, "b"), "b.json");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->host_before, "a");
  EXPECT_EQ(pair->host_after, "b");
  ASSERT_EQ(pair->time.size(), 6u);
  EXPECT_EQ(pair->time[0].name, "whole");
  EXPECT_EQ(pair->time[0].before, 4130);
  EXPECT_EQ(pair->time[0].after, 2330);
  EXPECT_EQ(pair->time[5].name, "gaps");
  EXPECT_EQ(pair->time[5].after, 300);
  ASSERT_EQ(pair->kernels.size(), 2u);  // nothing of the launch that was only executed
  EXPECT_EQ(pair->kernels[0].name, "saxpy");
  EXPECT_EQ(pair->kernels[0].before, 2000);
  EXPECT_EQ(pair->kernels[0].after, 1000);
  EXPECT_EQ(pair->kernels[0].count_before, 2u);
  EXPECT_EQ(pair->kernels[1].name, "scan");
  EXPECT_EQ(pair->kernels[1].count_after, 1u);
  EXPECT_TRUE(pair->ranges.empty());
  const std::string text = to_text(*pair);
  EXPECT_NE(text.find("host a -> b"), std::string::npos) << text;
  EXPECT_NE(text.find("4.13"), std::string::npos) << text;
  EXPECT_NE(text.find("-43.6%"), std::string::npos) << text;
}

TEST(CompareTimeLines, RangesStandByNameAlsoWhereOneSideLacksThem) {
  const char* const step =
      R"(, "ranges": [{"name": "step", "count": 3, "kernels": 6, "kernels_ns": 500, "host_ns": 9}])";
  const auto pair =
      compare_time_lines(document(4000, 100, "a"), "a.json", document(4000, 100, "a", step), "b.json");
  ASSERT_TRUE(pair);
  ASSERT_EQ(pair->ranges.size(), 1u);
  EXPECT_EQ(pair->ranges[0].before, 0);
  EXPECT_EQ(pair->ranges[0].after, 500);
  EXPECT_EQ(pair->ranges[0].count_after, 3u);
  EXPECT_NE(to_text(*pair).find("new"), std::string::npos);
}

/// A document whose kernels k0, k1, ... take these times.
std::string of_kernels(const std::vector<int>& times) {
  std::string launches;
  for (std::size_t i = 0; i < times.size(); ++i)
    launches += fmt::format(R"({}{{"kernel": "k{}", "duration_ns": {}}})", i == 0 ? "" : ", ", i, times[i]);
  std::string text = document(0, 100, "a");
  const std::string scan = R"({"kernel": "scan", "duration_ns": 0})";
  return text.replace(text.find(scan), scan.size(), launches);
}

TEST(CompareTimeLines, TheLargestChangeStandsFirst) {
  // k0 is the longest and k1 has the largest sum; k2 changes most.
  const auto pair = compare_time_lines(of_kernels({9000, 8000, 100, 50}), "a.json",
                                       of_kernels({9000, 8100, 1100, 0}), "b.json");
  ASSERT_TRUE(pair);
  std::vector<std::string> names;
  for (const TimePair& row : pair->kernels) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"k2", "k1", "k3", "k0", "saxpy"}));
  const std::string text = to_text(*pair);
  EXPECT_NE(text.find("1000.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("-100.0%"), std::string::npos) << text;
}

TEST(CompareTimeLines, TwentyKernelsAreShownAndTheOthersCounted) {
  for (const int count : {19, 20, 21}) {  // and saxpy, which comes last
    std::vector<int> before, after;
    for (int i = 0; i < count; ++i) {
      before.push_back(1000);
      after.push_back(3000 - i);
    }
    const std::string text = to_text(*compare_time_lines(of_kernels(before), "a", of_kernels(after), "b"));
    EXPECT_NE(text.find("k18 "), std::string::npos) << text;
    EXPECT_EQ(text.find("saxpy") != std::string::npos, count == 19) << text;
    EXPECT_EQ(text.find(fmt::format("... and {} more (--json has all)", count - 19)) != std::string::npos,
              count > 19)
        << text;
  }
}

TEST(CompareTimeLines, NoneWhereOneHasNone) {
  EXPECT_FALSE(compare_time_lines(document(1, 1, "a"), "a.json", R"({"predictions": []})", "b.json"));
}

TEST(CompareTimeLines, ADamagedOneIsRefused) {
  const auto refusal = [](const std::string& before, const std::string& after) -> std::string {
    try {
      compare_time_lines(before, "a.json", after, "b.json");
    } catch (const InputError& error) { return error.what(); }
    return {};
  };
  const std::string good = document(1, 1, "a"), as = ", as docs/json_schema.json has it";
  EXPECT_EQ(refusal(good, R"({"predictions": [], "program": {"time_line": {"host": "x"}}})"),
            "b.json: program.time_line.time: expected this key" + as);
  EXPECT_EQ(refusal(R"({"program": 3})", good), "a.json: program: expected an object" + as);
  EXPECT_EQ(refusal(document(1, 1, "a", R"(, "ranges": [{"name": 1, "kernels_ns": 1, "count": 1}])"), good),
            "a.json: program.time_line.ranges[0].name: expected a string" + as);
  EXPECT_EQ(refusal("{", "{}"),
            "a.json: line 1, column 2: this is not JSON; expected a result document of foretrace --json");
}

}  // namespace
}  // namespace foretrace::compare
