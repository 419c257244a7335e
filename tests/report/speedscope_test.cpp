// Stalls as speedscope reads them, frame by frame and sample by sample.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/json_text.h"
#include "sim/report/pages.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

/// Of each sample the names of its frames, the outermost first, and its weight.
std::vector<std::string> samples(const Json& told, std::size_t profile) {
  const Json& of = told["profiles"][profile];
  std::vector<std::string> all;
  for (std::size_t i = 0; i < of["samples"].size(); ++i) {
    std::string line;
    for (const Json& frame : of["samples"][i])
      line += told["shared"]["frames"][frame.get<std::size_t>()]["name"].get<std::string>() + " > ";
    all.push_back(line + of["weights"][i].dump());
  }
  return all;
}

TEST(Speedscope, EachStallOfAnInstructionIsASampleBelowItsCallersAndItsLine) {
  Document document = testing::sample_document({"chip"});
  InstructionResult& load = document.predictions[0].instructions[0];
  load.inlined = {{"kernels/helper.h", 5}, {"kernels/outer.h", 7}};  // the innermost first
  const Json told = Json::parse(to_speedscope(document));
  EXPECT_EQ(told["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(told["exporter"], "foretrace 0.1.0");
  const Json& profile = told["profiles"][0];
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["name"], "sample<int> on chip, warp-cycles");
  EXPECT_EQ(profile["startValue"], 0);
  EXPECT_EQ(profile["endValue"], 1'280'000);
  EXPECT_THAT(samples(told, 0),
              ::testing::UnorderedElementsAre(
                  "sample<int> > outer.h:7 > helper.h:5 > sample.cu:10 > selected > 8000",
                  "sample<int> > outer.h:7 > helper.h:5 > sample.cu:10 > lg_throttle > 100000",
                  "sample<int> > sample.cu:11 > selected > 8000", "sample<int> > sample.cu:11 > wait > 28000",
                  "sample<int> > 0020 FFMA R0, R0, R1, R5 > selected > 16000",
                  "sample<int> > 0020 FFMA R0, R0, R1, R5 > long_scoreboard > 1120000"));
  const Json frame{{"name", "sample.cu:10"}, {"file", "kernels/sample.cu"}, {"line", 10}};
  const Json& frames = told["shared"]["frames"];
  EXPECT_EQ(std::count(frames.begin(), frames.end(), frame), 1);
}

TEST(Speedscope, InstructionsOfOneLineAreOneSampleAndLaunchesShareFrames) {
  Document document = testing::sample_document({"one", "two"});
  InstructionResult& shared = document.predictions[1].instructions[1];
  shared.line = document.predictions[1].instructions[0].line;
  const Json told = Json::parse(to_speedscope(document));
  ASSERT_EQ(told["profiles"].size(), 2u);
  EXPECT_EQ(samples(told, 0).size(), 6u);
  EXPECT_THAT(samples(told, 1), ::testing::Contains("sample<int> > sample.cu:10 > selected > 16000"));
  EXPECT_EQ(samples(told, 1).size(), 5u);
  // The kernel, two lines and an offset, four states: each once.
  EXPECT_EQ(told["shared"]["frames"].size(), 8u);
}

}  // namespace
}  // namespace foretrace::report
