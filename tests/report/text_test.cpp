// The text report: figures of the document, chips and what-ifs beside each other.
#include "sim/report/text.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/json.h"
#include "sim/report/table.h"
#include "sim/report/text_sections.h"
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

/// The rows of a section, with the line before them.
std::string section_of(const std::string& text, const std::string& title) {
  const std::size_t at = text.find("  Section: " + title + "\n");
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find('\n', at);
  return text.substr(begin, text.find("\n\n", begin) + 1 - begin);
}

void change(LaunchResult& result, const std::map<std::string, Value>& to) {
  MetricValues changed;
  for (const auto& [name, value] : result.metrics.all())
    changed.set(name, to.contains(name) ? to.at(name) : value);
  result.metrics = changed;
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

TEST(Text, WarpStatesAreSharesOfTheWarpCyclesLongestFirst) {
  Document document = sample_document({"one-chip", "another"});
  const auto state = [](const char* name) {
    return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", name);
  };
  change(document.predictions[1], {{state("wait"), 4.0}, {state("selected"), 0.0}});  // of 40
  change(document.predictions[0], {{state("barrier"), 0.0196}, {state("membar"), 0.0201}});
  EXPECT_EQ(section_of(to_text(document), "Warp State Statistics (share of warp-cycles)"),
            R"(
    State                  Waiting for                                     one-chip  another
    ---------------------  ----------------------------------------------  --------  -------
    Warp Cycles Per Issue                                                        40       40
    long_scoreboard        data from L1, L2 or DRAM                           87.5%    87.5%
    wait                   results of fixed-latency instructions               2.2%    10.0%
    lg_throttle            room in the queue of local and global accesses      7.8%     7.8%
    selected               nothing: they issue                                 2.5%     0.0%
    membar                 a memory fence                                      0.1%     0.0%
)");
}

TEST(Text, ResourcesThatAllowEquallyFewBlocksAllLimit) {
  Document document = sample_document({"one-chip", "another"});
  change(document.predictions[1], {{"launch__occupancy_limit_warps", 3.0}});
  document.predictions[0].occupancy_next_step.clear();
  document.predictions[1].occupancy_next_step = "Do that.";
  const std::string section = section_of(to_text(document), "Occupancy");
  EXPECT_EQ(line_of(section, "Limited By"), "Limited By                     registers  registers, warps");
  EXPECT_TRUE(to_text(document).find("\n\n    another: Do that.\n\n") != std::string::npos);
}

TEST(Text, UnitsChangeAtWholeOnes) {
  Document document = sample_document({"chip"});
  LaunchResult& result = document.predictions[0];
  const auto shown = [&](const char* metric, Value value) {
    change(result, {{metric, value}});
    const Readable readable_value = readable({&result}, metric);
    return readable_value.cells[0] + " " + readable_value.unit;
  };
  EXPECT_EQ(shown("gpu__time_duration.sum", 999.0), "999 ns");
  EXPECT_EQ(shown("gpu__time_duration.sum", 999.5), "999.50 ns");
  EXPECT_EQ(shown("gpu__time_duration.sum", 1000.0), "1.00 us");
  EXPECT_EQ(shown("gpu__time_duration.sum", 999'999.0), "1,000.00 us");
  EXPECT_EQ(shown("gpu__time_duration.sum", 1e6), "1.00 ms");
  EXPECT_EQ(shown("gpu__time_duration.sum", 99'999e6), "99,999.00 ms");
  EXPECT_EQ(shown("gpu__time_duration.sum", 100'000e6), "100,000 ms");
  EXPECT_EQ(shown("dram__bytes_read.sum", 999.0), "999 byte");
  EXPECT_EQ(shown("dram__bytes_read.sum", 1e3), "1.00 Kbyte");
  EXPECT_EQ(shown("dram__bytes_read.sum", 1e6), "1.00 Mbyte");
  EXPECT_EQ(shown("dram__bytes_read.sum", 1e9), "1.00 Gbyte");
  EXPECT_EQ(shown("dram__bytes.sum.per_second", 2.5e12), "2,500.00 Gbyte/second");
  EXPECT_EQ(shown("gpc__cycles_elapsed.avg.per_second", 1.98e9), "1.98 Ghz");
  EXPECT_EQ(shown("gpc__cycles_elapsed.avg.per_second", 9e8), "900.00 Mhz");
  EXPECT_EQ(shown("gpc__cycles_elapsed.avg.per_second", 9e5), "900.00 Khz");
  EXPECT_EQ(shown("dram__throughput.avg.pct_of_peak_sustained_elapsed", 50.0), "50.00 %");
  EXPECT_EQ(shown("gpu__time_duration.sum", Value()), "n/a ns");
  // One unit for all that stand side by side: the greatest value's.
  LaunchResult other = result;
  change(result, {{"gpu__time_duration.sum", 5.0}});
  change(other, {{"gpu__time_duration.sum", 5000.0}});
  EXPECT_THAT(readable({&result, &other}, "gpu__time_duration.sum").cells,
              ::testing::ElementsAre("0.01", "5.00"));
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

TEST(Text, TablesOfInstructions) {
  Document document = sample_document({"chip"});
  auto& rows = document.predictions[0].instructions;
  rows[1].stalled[static_cast<std::size_t>(stats::WarpState::selected)] = 30'000;  // more than its stalls
  rows[1].thread_executed = 0;
  rows[0].executed = 0;
  const std::string text = to_text(document);
  EXPECT_EQ(section_of(text, "Hottest Instructions: chip"), R"(
    Source        Offset  SASS                        Main stall       Warp-cycles  Executed  Lanes
    ------------  ------  --------------------------  ---------------  -----------  --------  -----
                  0x0020  FFMA R0, R0, R1, R5         long_scoreboard        87.3%    16,000  32.00
    sample.cu:10  0x0000  LDG.E R0, desc[UR4][R2.64]  lg_throttle             8.3%         0    n/a
    sample.cu:11  0x0010  LDS R1, [R4]                wait                    4.5%     8,000   0.00
)");
  EXPECT_EQ(section_of(text, "Memory Accesses (coalescing and bank conflicts): chip"), R"(
    Source        Offset  SASS                        Requests  Sectors/Req  Ideal  L1 Hit  Wavefronts/Req  Ideal
    ------------  ------  --------------------------  --------  -----------  -----  ------  --------------  -----
    sample.cu:10  0x0000  LDG.E R0, desc[UR4][R2.64]     8,000         8.00   4.00   25.0%            1.00   1.00
    sample.cu:11  0x0010  LDS R1, [R4]                   8,000                                        2.00   1.00
)");
}

TEST(Text, WhatAnAccessWastesCountsSixteenfold) {
  Document document = sample_document({"chip"});
  auto& rows = document.predictions[0].instructions;
  const auto first = [&] {
    const std::string text = to_text(document);
    const std::string accesses = text.substr(text.find("Memory Accesses"));
    return accesses.find("LDG.E") < accesses.find("LDS R1") ? "load" : "shared";
  };
  // The shared access costs 16,000 wavefronts, of which 8,000 are conflicts: 144,000.
  rows[0].sectors = rows[0].ideal_sectors = 144'001;
  EXPECT_STREQ(first(), "load");
  rows[0].sectors = rows[0].ideal_sectors = 143'999;
  EXPECT_STREQ(first(), "shared");
  rows[0].sectors = 16'000;
  rows[0].ideal_sectors = 7'999;
  EXPECT_STREQ(first(), "load");
  rows[0].ideal_sectors = 8'001;
  EXPECT_STREQ(first(), "shared");
  rows[0].ideal_sectors = 20'000;  // more than there are: nothing is wasted
  EXPECT_STREQ(first(), "shared");
  rows[1].ideal_wavefronts = 20'000;
  rows[1].requests = 16'001;
  EXPECT_STREQ(first(), "shared");
  rows[1].requests = 15'999;
  rows[0].wavefronts = 16'001;
  EXPECT_STREQ(first(), "load");
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
  change(document.predictions[0], {{"gpu__time_duration.sum", Value()}});
  EXPECT_NE(line_of(to_text(document), "Duration").find("n/a"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::report
