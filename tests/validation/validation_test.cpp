// What a validation says of many launches, what it keeps to itself, and the documents it writes.
#include "sim/validate/validation.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/report/json.h"
#include "sim/report/page.h"
#include "sim/validate/class_errors.h"
#include "sim/validate/frozen.h"
#include "sim/validate/picture.h"
#include "tests/validation/validation_sample.h"

namespace foretrace::validate {
namespace {

using testing::cycles;
using testing::sample_validation;

bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

TEST(Validation, OfManyThatWereLeftOutTheFirstAreNamed) {
  Validation validation;
  for (int i = 0; i < 7; ++i) validation.left_out.push_back({fmt::format("launch{}", i), "--largest 1"});
  const std::string text = to_text(validation);
  EXPECT_TRUE(mentions(
      text, "left out (--largest 1): 7: launch0, launch1, launch2, launch3, launch4 ... (--json has all)\n"));
  EXPECT_FALSE(mentions(text, "launch5"));
  EXPECT_TRUE(mentions(to_json(validation), "launch6"));
}

TEST(BestConstant, MinimisesTheMeanRelativeError) {
  // Weights 1/1, 1/2, 1/10: the smallest alone has more than half.
  EXPECT_EQ(best_constant({10, 1, 2}), 1);
  EXPECT_EQ(best_constant({100, 110, 120}), 110);
  EXPECT_EQ(best_constant({}), 0);
  const std::vector<double> measured = {21'000, 25'000, 60'000, 90'000, 400'000};
  const auto error = [&](double constant) {
    double sum = 0;
    for (const double each : measured) sum += std::abs(constant - each) / each;
    return sum;
  };
  for (const double other : measured) EXPECT_LE(error(best_constant(measured)), error(other));
}

TEST(Predictors, AreAskedOfTheSameLaunches) {
  const Validation validation = sample_validation();
  const auto predictors = trivial_predictors(validation.all());
  ASSERT_EQ(predictors.size(), 2u);
  EXPECT_EQ(predictors[0].elapsed.pairs, 4u);  // of at least 20,000 cycles
  EXPECT_EQ(predictors[0].active.pairs, 5u);
  EXPECT_DOUBLE_EQ(predictors[1].elapsed.worst_abs_pct.value(), 55);  // 90,000 of 200,000
}

TEST(Classes, AreInAlphabeticalOrderWithTheirOwnErrors) {
  const Validation validation = sample_validation();
  const auto classes = errors_by_class(validation.development());
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].name, "copy");
  EXPECT_EQ(classes[0].launches, 2u);
  EXPECT_DOUBLE_EQ(classes[0].elapsed.mean_abs_pct.value(), 7.5);
  EXPECT_DOUBLE_EQ(classes[1].elapsed.mean_abs_pct.value(), 10);
}

TEST(HeldOut, StandInSumsOnly) {
  Validation validation = sample_validation();
  EXPECT_EQ(validation.development().size(), 3u);
  EXPECT_EQ(validation.held_out().size(), 2u);
  for (const std::string& text : {to_text(validation), to_json(validation), to_svg(validation)}) {
    EXPECT_TRUE(mentions(text, "copy_large"));
    EXPECT_FALSE(mentions(text, "hidden_one"));
    EXPECT_FALSE(mentions(text, "sort"));  // the only kernel of its class is held out
  }
  const auto page = [&] { return report::validation_page(to_json(validation)); };
  EXPECT_TRUE(mentions(page(), "copy_large"));
  EXPECT_FALSE(mentions(page(), "hidden_one"));
  EXPECT_TRUE(mentions(to_text(validation),
                       "5 launches compared (3 development, 2 held-out), 1 left out: 1 --largest 100"));
  EXPECT_TRUE(mentions(to_text(validation), "Asked of 2 launches (held-out)"));
  validation.show_held_out = true;
  for (const std::string& text : {to_text(validation), to_json(validation), to_svg(validation), page()}) {
    EXPECT_TRUE(mentions(text, "hidden_one"));
  }
}

TEST(StallStates, StandInTheDocumentWithTheirDistance) {
  Validation validation = sample_validation();
  const auto ratio = [](const std::string& state) {
    return "smsp__average_warps_issue_stalled_" + state + "_per_issue_active.ratio";
  };
  ValidatedLaunch& launch = validation.launches.front();
  const auto set = [&](const std::string& state, double predicted, double measured) {
    launch.predicted.metrics.set(ratio(state), predicted);
    launch.measured.metrics[ratio(state)] = {measured, measured};
  };
  set("long_scoreboard", 3, 2);  // shares of 3/4 and 1/4
  set("wait", 1, 6);
  std::string text = to_json(validation);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_TRUE(
      mentions(text, R"("stall_states":{"distance":0.5,"predicted":"long_scoreboard","measured":"wait"})"));
  EXPECT_TRUE(mentions(text, R"("stall_states":null)"));  // the other launches have none
}

TEST(Unequal, LaunchesOnWhichTheDeviceDisagreesAreNamedUnlessHeldOut) {
  Validation validation = sample_validation();
  for (ValidatedLaunch& launch : validation.launches) {
    launch.predicted.metrics.set("smsp__inst_executed.sum", 5);
    launch.measured.metrics["smsp__inst_executed.sum"] = {5, 6};
  }
  const std::string text = to_text(validation);
  EXPECT_TRUE(mentions(text, "two runs differ, of copy_large, copy_small, scan_large\n"));
  EXPECT_TRUE(mentions(text, "two runs differ, of 2 launches\n"));
  EXPECT_FALSE(mentions(text, "hidden_one"));
}

TEST(Failures, AreSaid) {
  Validation validation = sample_validation();
  validation.failed = {{"broken", "kernel k, offset 0x10: no such instruction"}};
  EXPECT_TRUE(mentions(to_text(validation), "NOT COMPARED: broken: kernel k, offset 0x10"));
  EXPECT_TRUE(mentions(to_text(validation), "1 left out: 1 --largest 100, 1 NOT COMPARED"));
}

TEST(Frozen, ReadsBackWhatWasWritten) {
  Frozen frozen;
  frozen.foretrace = "0.1.0";
  frozen.commit = "abc";
  frozen.date = "2026-01-01T00:00:00Z";
  frozen.arch = "chip";
  frozen.config_sha256 = std::string(64, 'c');
  frozen.clock_hz = {2'000'000'000, 1'000'000'000, 500'000'000};
  frozen.toolkit = "13.0";
  for (const auto& launch : sample_validation().launches) frozen.launches.push_back(launch.predicted);
  frozen.launches[0].metrics.set("dram__bytes_read.sum", std::nullopt);
  for (std::size_t i = 1; i < frozen.launches.size(); ++i)
    frozen.launches[i].metrics.set("dram__bytes_read.sum", 32.5);
  const std::string text = to_json(frozen);
  const Frozen again = read_frozen(text, "frozen.json");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.clock_hz.dram, 500'000'000u);
  ASSERT_NE(find(again, "scan_large"), nullptr);
  EXPECT_EQ(find(again, "scan_large")->metrics.get("dram__bytes_read.sum"), 32.5);
  EXPECT_FALSE(find(again, "copy_small")->metrics.get("dram__bytes_read.sum").has_value());
  EXPECT_EQ(find(again, "copy_small")->file, "kernels/copy.toml");
  EXPECT_EQ(find(again, "another"), nullptr);
  const std::filesystem::path folder = std::filesystem::path(FORETRACE_BINARY_DIR) / "documents";
  std::filesystem::create_directories(folder);
  report::write_file(folder / "frozen.json", text);
}

TEST(Frozen, RefusesOtherDocuments) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      read_frozen(text, "f.json");
    } catch (const InputError& error) { return error.what(); }
    return {};
  };
  EXPECT_TRUE(mentions(refusal("{\"schema\":2}"), "f.json: schema 2; expected 1"));
  EXPECT_EQ(refusal("{\"schema\":1}"),
            "f.json: frozen_metrics: expected this key, as docs/frozen_schema.json has it");
  EXPECT_EQ(refusal("{\"schema\":1,\"frozen_metrics\":[1]}"),
            "f.json: frozen_metrics: expected an array of strings, as docs/frozen_schema.json has it");
  EXPECT_EQ(refusal("nonsense"),
            "f.json: line 1, column 2: this is not JSON; expected a document of foretrace validate --freeze");
}

TEST(ClassErrorTables, SeeWhatGotWorse) {
  Validation validation = sample_validation();
  const ClassErrorTable before = read_class_errors(to_json(class_error_table(validation)), "errors.json");
  ASSERT_EQ(before.size(), 3u);  // two development classes, and all that is held out as one
  EXPECT_DOUBLE_EQ(before.at("(held-out)").elapsed_pct, 27.5);
  EXPECT_TRUE(what_got_worse(before, class_error_table(validation), 0).empty());

  ClassErrorTable worse = before;
  worse.at("copy").active_pct += 0.02;
  EXPECT_TRUE(what_got_worse(before, worse, 0.03).empty());
  ASSERT_EQ(what_got_worse(before, worse, 0.01).size(), 1u);
  EXPECT_TRUE(mentions(what_got_worse(before, worse, 0.01).front(), "copy: active cycles"));
  worse.at("copy").active_pct -= 1;
  EXPECT_TRUE(what_got_worse(before, worse, 0.01).empty());  // better is no fault

  validation.launches.erase(validation.launches.begin());
  ASSERT_EQ(what_got_worse(before, class_error_table(validation), 100).size(), 1u);  // a launch is missing
  validation.launches.erase(validation.launches.begin());
  EXPECT_TRUE(mentions(what_got_worse(before, class_error_table(validation), 100).front(),
                       "no launch of this class"));
  EXPECT_EQ(what_got_worse({}, before, 100).size(), 3u);  // classes that nobody wrote down
}

TEST(ClassErrorTables, RefuseOtherDocuments) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      read_class_errors(text, "errors.json");
    } catch (const InputError& error) { return error.what(); }
    return {};
  };
  const std::string as = ", as foretrace validate --write-errors writes it";
  EXPECT_EQ(refusal("{}"), "errors.json: class_errors: expected this key" + as);
  EXPECT_EQ(refusal("{\"class_errors\": {\"copy\": 1}}"),
            "errors.json: class_errors.copy: expected an object" + as);
  EXPECT_EQ(refusal("{\"class_errors\": {\"copy\": {\"launches\": -1}}}"),
            "errors.json: class_errors.copy.launches: expected a whole number" + as);
  EXPECT_EQ(refusal("{"),
            "errors.json: line 1, column 2: this is not JSON; expected a document of foretrace validate "
            "--write-errors");
}

TEST(Picture, HoldsOneMarkALaunchAndALegend) {
  const Validation validation = sample_validation();
  const std::string svg = to_svg(validation);
  std::size_t marks = 0;
  for (std::size_t at = svg.find("fill-opacity"); at != std::string::npos;
       at = svg.find("fill-opacity", at + 1))
    ++marks;
  EXPECT_EQ(marks, 5u + 3u);  // launches; legend: two classes and the held-out
  EXPECT_TRUE(mentions(svg, "<title>copy_small: 11000 predicted, 10000 measured</title>"));
  EXPECT_TRUE(mentions(svg, ">100,000</text>"));
  EXPECT_TRUE(mentions(svg, ">held-out kernels</text>"));
}

TEST(Validation, WritesTheDocumentThatTheSchemaTestReads) {
  const std::filesystem::path folder = std::filesystem::path(FORETRACE_BINARY_DIR) / "documents";
  std::filesystem::create_directories(folder);
  const std::string json = to_json(sample_validation());
  report::write_file(folder / "validation.json", json);
  EXPECT_TRUE(mentions(json, "\"left_out\": [\"huge\"]"));
  EXPECT_TRUE(mentions(json, "\"gpc__cycles_elapsed.max\": {\"predicted\":11000,\"measured\":10000}"));
}

}  // namespace
}  // namespace foretrace::validate
