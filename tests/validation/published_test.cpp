// Published numbers: documents of their own kind, differences of launches, and launch files that hold what they name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "model/units/error.h"
#include "sim/frontend/launch/launch.h"
#include "sim/report/json.h"
#include "sim/validate/measurement.h"
#include "sim/validate/validation.h"

namespace foretrace::validate {
namespace {

const std::filesystem::path kPublished = std::filesystem::path(FORETRACE_SOURCE_DIR) / "validate/published";

TEST(Published, ADifferenceHoldsOnlyWhatWasPublished) {
  PredictedLaunch longer, shorter;
  longer.name = "long";
  longer.metrics.set("sm__cycles_active.max", 50'500);
  longer.metrics.set("dram__bytes_read.sum", 7);
  shorter.metrics.set("sm__cycles_active.max", 30'500);
  MeasuredLaunch published;
  published.metrics["sm__cycles_active.max"] = {210};
  published.per = 100;
  const PredictedLaunch both = difference(longer, shorter, published);
  EXPECT_EQ(both.name, "long");
  ASSERT_EQ(both.metrics.all().size(), 1u);
  EXPECT_EQ(both.metrics.get("sm__cycles_active.max"), 200);
}

TEST(Published, IsReadWithoutMachineCode) {
  const std::string head = R"({"schema":1,"arch":"chip","device":"D","date":"2020",)";
  const std::string launches = R"("launches":[{"name":"a","less":"b","per":10,"metrics":{"x":[3]}}]})";
  const Measurement read = read_measurement(head + R"("source":"KEY",)" + launches, "p.json");
  EXPECT_EQ(read.arch, "chip");
  EXPECT_EQ(read.source, "KEY");
  EXPECT_EQ(read.launches.at(0).less, "b");
  EXPECT_EQ(read.launches.at(0).per, 10);
  EXPECT_FALSE(read.launches.at(0).repeats_agree("x"));  // read once
}

TEST(Measurements, ThatAreNoneAreRefusedByPlace) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      read_measurement(text, "m.json");
    } catch (const InputError& error) { return error.what(); }
    return {};
  };
  const std::string head = R"({"schema":1,"device":"D","date":"2020",)",
                    as = ", as validate/harness/measure writes it";
  const auto launch = [&](const std::string& members) {
    return refusal(head + R"("source":"KEY","launches":[{"name":"a",)" + members + "}]}");
  };
  EXPECT_EQ(refusal("{\n,"),
            "m.json: line 2, column 1: this is not JSON; expected a document of validate/harness/measure");
  EXPECT_EQ(refusal("[]"), "m.json: document: expected an object" + as);
  EXPECT_EQ(refusal(head + R"("launches":[]})"),
            "m.json: driver: expected this key" + as);  // nobody's publication
  EXPECT_EQ(refusal(head + R"("driver":"1","launches":[{"name":"a"}]})"),
            "m.json: launches[0].mangled: expected this key" + as);
  EXPECT_EQ(refusal(head + R"("source":"KEY","launches":[3]})"),
            "m.json: launches[0]: expected an object" + as);
  EXPECT_EQ(launch(R"("metrics":[])"), "m.json: launches[0].metrics: expected an object" + as);
  EXPECT_EQ(launch(R"("metrics":{"x":3})"), "m.json: launches[0].metrics.x: expected an array" + as);
  EXPECT_EQ(launch(R"("metrics":{"x":["3"]})"),
            "m.json: launches[0].metrics.x: expected an array of numbers" + as);
  for (const char* wrong : {"-1", "2e18"}) {
    EXPECT_EQ(launch(fmt::format(R"("metrics":{{"x":[{}]}})", wrong)),
              "m.json: launches[0].metrics.x: expected numbers from 0 to 1e+18" + as);
  }
  EXPECT_NE(launch(R"("metrics":{"x":[1e308]})").find("metrics.x: expected numbers of at most"),
            std::string::npos);
  EXPECT_EQ(launch(R"("metrics":{"x":[0,1e18]})"), "");
  EXPECT_EQ(launch(R"("per":0,"metrics":{})"), "m.json: launches[0].per: expected 1 or more" + as);
}

TEST(Published, EveryDocumentNamesLaunchesThatThereAre) {
  std::set<std::string> known;
  for (const auto& entry : std::filesystem::directory_iterator(kPublished)) {
    if (entry.path().extension() != ".toml") continue;
    for (const auto& launch : frontend::load_launch_file(entry.path())) known.insert(launch.name);
  }
  const std::string sources = report::read_file((kPublished / "../../docs/sources.md").string());
  std::size_t documents = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kPublished)) {
    if (entry.path().extension() != ".json") continue;
    ++documents;
    const Measurement read =
        read_measurement(report::read_file(entry.path().string()), entry.path().string());
    EXPECT_NE(sources.find("| " + read.source + " |"), std::string::npos) << entry.path();
    for (const auto& launch : read.launches) {
      EXPECT_TRUE(known.contains(launch.name)) << launch.name;
      EXPECT_TRUE(launch.less.empty() || known.contains(launch.less)) << launch.less;
      EXPECT_EQ(launch.metrics.size(), 1u) << launch.name;
    }
  }
  EXPECT_EQ(documents, 14u);
}

}  // namespace
}  // namespace foretrace::validate
