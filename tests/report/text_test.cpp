// The text report: figures of the document, chips and what-ifs beside each other.
#include "sim/report/text.h"

#include <gtest/gtest.h>

#include "sim/report/json.h"
#include "sim/report/table.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

using testing::sample_document;

/// The line of a text that begins with these words, blanks before it left out; empty when there is none.
std::string line_of(const std::string& text, const std::string& words) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first != std::string::npos && text.compare(first, words.size(), words) == 0)
      return text.substr(first, end - first);
    at = end + 1;
  }
  return {};
}

TEST(Text, NumbersAreGrouped) {
  EXPECT_EQ(grouped(std::uint64_t{0}), "0");
  EXPECT_EQ(grouped(std::uint64_t{999}), "999");
  EXPECT_EQ(grouped(std::uint64_t{1'000}), "1,000");
  EXPECT_EQ(grouped(std::uint64_t{1'234'567}), "1,234,567");
  EXPECT_EQ(grouped(-1234.56, 1), "-1,234.6");
  EXPECT_EQ(grouped(-0.001, 1), "0.0");
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
}

TEST(Text, ATableAlignsItsColumns) {
  Table table({"Name", "Count"}, 1);
  table.add({"a", "1"});
  table.add({"longer", "1,000"});
  EXPECT_EQ(table.text(2),
            "  Name    Count\n"
            "  ------  -----\n"
            "  a           1\n"
            "  longer  1,000\n");
}

TEST(Text, ChipsStandBesideEachOther) {
  const std::string text = to_text(sample_document({"one-chip", "another"}));
  EXPECT_EQ(line_of(text, "sample<int>"), "sample<int> (20, 2, 1)x(16, 16, 1), cold caches");
  EXPECT_EQ(line_of(text, "Elapsed Cycles"), "Elapsed Cycles           cycle    10,000   10,000");
  EXPECT_EQ(line_of(text, "Duration"), "Duration                 us        10.00    10.00");
  EXPECT_EQ(line_of(text, "Limited By"), "Limited By                     registers  registers");
  EXPECT_NE(text.find("one-chip: No unit is busy"), std::string::npos);
  EXPECT_EQ(text.find("Summary"), std::string::npos);
}

TEST(Text, WhatIfsAreTitledByWhatTheyChange) {
  Document document = sample_document({"chip", "chip"});
  document.predictions[0].overrides = {"l2.ways=16", "sm.count=10"};
  document.predictions[1].overrides = {"l2.ways=16", "sm.count=20"};
  const std::string text = to_text(document);
  EXPECT_EQ(line_of(text, "sample<int>"), "sample<int> (20, 2, 1)x(16, 16, 1), chip, cold caches");
  EXPECT_EQ(line_of(text, "--set"), "--set l2.ways=16");
  const std::string titles = line_of(text, "Metric");
  EXPECT_NE(titles.find("sm.count=10  sm.count=20"), std::string::npos) << titles;
}

TEST(Text, SeveralLaunchesBeginWithASummary) {
  Document document = sample_document({"chip", "chip"});
  const std::string text = to_text(document);  // the same launch twice on one chip: two launches
  EXPECT_EQ(text.find("Summary"), 0u);
  EXPECT_NE(line_of(text, "sample<int>  chip").find("latency_long_scoreboard"), std::string::npos);
}

TEST(Text, InstructionsAreSortedByTheirWarpCycles) {
  const std::string text = to_text(sample_document({"chip"}));
  const std::string hottest = text.substr(text.find("Hottest Instructions"));
  EXPECT_LT(hottest.find("FFMA R0"), hottest.find("LDG.E"));
  EXPECT_NE(line_of(hottest, "sample.cu:11  0x0010  LDS").find("16.00"), std::string::npos);  // lanes
  const std::string accesses = text.substr(text.find("Memory Accesses"));
  const std::string load = line_of(accesses, "sample.cu:10");
  EXPECT_NE(load.find("8.00   4.00   25.0%"), std::string::npos) << load;
}

TEST(Text, WastefulAccessesComeFirst) {
  Document document = sample_document({"chip"});
  auto& rows = document.predictions[0].instructions;
  rows[0].ideal_sectors = rows[0].sectors;  // the load is coalesced now; the shared access has its conflicts
  std::string text = to_text(document);
  std::string accesses = text.substr(text.find("Memory Accesses"));
  EXPECT_LT(accesses.find("LDS R1"), accesses.find("LDG.E"));
  rows[1].wavefronts = rows[1].ideal_wavefronts;
  text = to_text(document);
  accesses = text.substr(text.find("Memory Accesses"));
  EXPECT_LT(accesses.find("LDG.E"), accesses.find("LDS R1"));
}

TEST(Text, IsMadeFromTheDocumentAlone) {
  const Document document = sample_document({"a", "b"});
  EXPECT_EQ(to_text(from_json(to_json(document), "result.json")), to_text(document));
}

TEST(Text, MissingValuesPrintAsNotAvailable) {
  Document document = sample_document({"chip"});
  MetricValues changed;
  for (const auto& [name, value] : document.predictions[0].metrics.all()) {
    changed.set(name, name == "gpu__time_duration.sum" ? Value() : value);
  }
  document.predictions[0].metrics = changed;
  EXPECT_NE(line_of(to_text(document), "Duration").find("n/a"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::report
