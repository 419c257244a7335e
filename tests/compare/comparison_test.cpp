// Which launch answers which, and what a comparison says of them.
#include "sim/compare/comparison.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/report/json.h"
#include "tests/report/sample.h"

namespace foretrace::compare {
namespace {

using report::Document;
using report::testing::sample_document;

const MetricPair& metric_of(const LaunchPair& launch, const std::string& name) {
  for (const auto& metric : launch.metrics) {
    if (metric.name == name) return metric;
  }
  static const MetricPair kNone;
  ADD_FAILURE() << name << " is not compared";
  return kNone;
}

void set_metric(report::LaunchResult& result, const std::string& name, double value) {
  report::MetricValues changed;
  for (const auto& [each, old] : result.metrics.all())
    changed.set(each, each == name ? report::Value(value) : old);
  result.metrics = changed;
}

/// One row of ncu's raw page for each name: kernel, cycles, compute capability.
std::string csv(const std::vector<std::tuple<std::string, double, std::string>>& launches) {
  std::string text =
      R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",)"
      R"("gpc__cycles_elapsed.max","l1tex__t_sector_hit_rate.pct","foo__bar.sum")"
      "\n"
      R"("","","","","","","","","","","","cycle","%","")"
      "\n";
  int id = 0;
  for (const auto& [kernel, cycles, capability] : launches) {
    text += fmt::format(
        R"csv("{}","1","app","h","{}","1","7","(16, 16, 1)","(20, 2, 1)","0","{}","{}","n/a","3")csv"
        "\n",
        id++, kernel, capability, cycles);
  }
  return text;
}

std::string refusal(const Document& predicted, const std::string& text, const std::string& arch = {}) {
  try {
    compare_with_ncu(predicted, "result.json", text, "report.csv", arch);
  } catch (const InputError& error) { return error.what(); }
  return {};
}

TEST(CompareResults, PairsChipsWithThemselves) {
  const Document before = sample_document({"a", "b"});
  Document after = sample_document({"b", "a"});
  set_metric(after.predictions[1], "gpc__cycles_elapsed.max", 8'000);
  const Comparison comparison = compare_results(before, "a.json", after, "b.json");
  ASSERT_EQ(comparison.launches.size(), 2u);
  EXPECT_TRUE(comparison.left_out.empty());
  EXPECT_EQ(comparison.launches[0].arch, "a");
  EXPECT_EQ(metric_of(comparison.launches[0], "gpc__cycles_elapsed.max").reference, 10'000);
  EXPECT_EQ(metric_of(comparison.launches[0], "gpc__cycles_elapsed.max").value, 8'000);
  EXPECT_EQ(metric_of(comparison.launches[1], "gpc__cycles_elapsed.max").value, 10'000);
  EXPECT_TRUE(comparison.launches[0].note.empty());
  EXPECT_NE(to_text(comparison).find("-20.0%"), std::string::npos);
}

TEST(CompareResults, AWhatIfOnAnotherChipStillPairsAndSaysSo) {
  const Document before = sample_document({"a"});
  Document after = sample_document({"b"});
  after.predictions[0].overrides = {"sm.count=20"};
  after.predictions[0].grid = {10, 1, 1};
  const Comparison comparison = compare_results(before, "a.json", after, "b.json");
  ASSERT_EQ(comparison.launches.size(), 1u);
  EXPECT_EQ(comparison.launches[0].arch, "a -> b");
  EXPECT_EQ(comparison.launches[0].note, "grid (20, 2, 1) -> (10, 1, 1), --set none -> sm.count=20");
}

TEST(CompareResults, RepeatsPairInOrderAndTheRestIsLeftOut) {
  Document before = sample_document({"a", "a"});
  Document after = sample_document({"a"});
  set_metric(before.predictions[0], "gpc__cycles_elapsed.max", 1);
  const Comparison comparison = compare_results(before, "a.json", after, "b.json");
  ASSERT_EQ(comparison.launches.size(), 1u);
  EXPECT_EQ(metric_of(comparison.launches[0], "gpc__cycles_elapsed.max").reference, 1);
  ASSERT_EQ(comparison.left_out.size(), 1u);
  EXPECT_EQ(comparison.left_out[0], "a.json: sample<int> (20, 2, 1)x(16, 16, 1) on a");
}

TEST(CompareResults, SeveralWhatIfsAreHeldAgainstTheOneBaseline) {
  const Document before = sample_document({"a"});
  Document after = sample_document({"a", "a", "b"});
  after.predictions[0].overrides = {"sm.count=20"};
  after.predictions[1].overrides = {"sm.count=40"};
  const Comparison comparison = compare_results(before, "a.json", after, "b.json");
  ASSERT_EQ(comparison.launches.size(), 2u);
  EXPECT_EQ(comparison.launches[0].note, "--set none -> sm.count=20");
  EXPECT_EQ(comparison.launches[1].note, "--set none -> sm.count=40");
  ASSERT_EQ(comparison.left_out.size(), 1u);  // another chip is no what-if of this one
  EXPECT_NE(comparison.left_out[0].find("on b"), std::string::npos);
}

TEST(CompareResults, OtherKernelsAreRefused) {
  const Document before = sample_document({"a", "b"});
  Document after = sample_document({"a", "b"});
  for (auto& result : after.predictions) result.kernel = "another";
  EXPECT_THROW(compare_results(before, "a.json", after, "b.json"), InputError);
}

TEST(CompareWithNcu, OnePredictionAnswersAllRepeats) {
  const Document predicted = sample_document({"chip"});
  const Comparison comparison = compare_with_ncu(
      predicted, "result.json",
      csv({{"void sample<int>(int *)", 8'000, "9.0"}, {"_Z6sampleIiEvv", 12'500, "9.0"}}), "report.csv");
  ASSERT_EQ(comparison.launches.size(), 2u);
  const auto errors = errors_of(comparison);
  ASSERT_EQ(errors.size(), 1u);  // the hit rate was n/a, foo__bar is none of ours
  EXPECT_EQ(errors[0].name, "gpc__cycles_elapsed.max");
  EXPECT_DOUBLE_EQ(errors[0].errors.mean_abs_pct.value(), 22.5);  // 10,000 against 8,000 and 12,500
  EXPECT_DOUBLE_EQ(errors[0].errors.worst_abs_pct.value(), 25);
  const std::string text = to_text(comparison);
  EXPECT_NE(text.find("+25.0%"), std::string::npos);
  EXPECT_NE(text.find("Errors over 2 launches"), std::string::npos);
}

TEST(CompareWithNcu, SeveralPredictionsAnswerRepeatsInOrder) {
  Document predicted = sample_document({"chip", "chip"});
  set_metric(predicted.predictions[1], "gpc__cycles_elapsed.max", 20'000);
  const Comparison comparison = compare_with_ncu(
      predicted, "result.json",
      csv({{"sample<int>", 10'000, "9.0"}, {"sample<int>", 10'000, "9.0"}, {"sample<int>", 1, "9.0"}}),
      "report.csv");
  ASSERT_EQ(comparison.launches.size(), 2u);
  EXPECT_EQ(metric_of(comparison.launches[1], "gpc__cycles_elapsed.max").value, 20'000);
  ASSERT_EQ(comparison.left_out.size(), 1u);
  EXPECT_NE(comparison.left_out[0].find("report.csv: launch 2"), std::string::npos);
}

TEST(CompareWithNcu, TheChoiceOfChipIsNeverGuessed) {
  const Document predicted = sample_document({"a", "b"});  // both sm_90
  const std::string text = csv({{"sample<int>", 10'000, "9.0"}});
  EXPECT_NE(refusal(predicted, text).find("predictions for both a and b"), std::string::npos);
  EXPECT_EQ(refusal(predicted, text, "b"), "");
  EXPECT_NE(refusal(predicted, text, "c").find("no prediction for c"), std::string::npos);
  EXPECT_NE(refusal(sample_document({"a"}), csv({{"sample<int>", 10'000, "8.0"}}))
                .find("no launch in it has a prediction"),
            std::string::npos);
}

TEST(CompareWithNcu, ATemplateInstanceIsNeverGuessed) {
  Document predicted = sample_document({"chip", "chip"});
  EXPECT_EQ(refusal(sample_document({"chip"}), csv({{"sample", 1, "9.0"}})), "");
  predicted.predictions[1].kernel = "sample<float>";
  EXPECT_NE(refusal(predicted, csv({{"sample", 1, "9.0"}})).find("no launch in it has a prediction"),
            std::string::npos);
}

TEST(Comparison, WritesTheDocumentsThatTheSchemaTestReads) {
  const std::filesystem::path folder = std::filesystem::path(FORETRACE_BINARY_DIR) / "documents";
  std::filesystem::create_directories(folder);
  const Document document = sample_document({"chip"});
  Comparison both = compare_results(document, "a.json", document, "b.json");
  both.time_line = TimeLinePair{"a", "b", {{"whole", 5, 6}}, {}, {}, {{"saxpy", 1, 2, 3, 4}}, {}};
  const std::string results = to_json(both, "0.1.0");
  report::write_file(folder / "compare_results.json", results);
  const std::string measured =
      to_json(compare_with_ncu(document, "result.json",
                               csv({{"sample<int>", 8'000, "9.0"}, {"other", 1, "9.0"}}), "report.csv"),
              "0.1.0");
  report::write_file(folder / "compare_ncu.json", measured);
  EXPECT_NE(
      measured.find("\"gpc__cycles_elapsed.max\": {\"measured\":8000,\"predicted\":10000,\"error_pct\":25}"),
      std::string::npos)
      << measured;
  EXPECT_NE(measured.find("\"left_out\": [\"report.csv: launch 1: other"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::compare
