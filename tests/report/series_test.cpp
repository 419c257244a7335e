// Rows of numbers for charts: what rose from one instant to the next.
#include "sim/report/series.h"

#include <gtest/gtest.h>

#include <map>

namespace foretrace::report {
namespace {

using Values = std::vector<std::uint64_t>;

TEST(Series, AreWhatRoseInEachSlice) {
  stats::Instant first, second, third;
  first.now = 100;
  first.placed = 8;
  first.ended = 2;
  first.instructions = 10;
  first.l1_tag = 1;
  first.l1_data = 2;
  first.l2_sectors = 3;
  first.dram_bytes = 4;
  first.state[0] = 7;
  first.pipe_busy[0] = 1;
  second = first;
  second.now = 200;
  second.placed = 9;
  second.ended = 9;
  second.instructions = 30;
  second.dram_bytes = 64;
  second.state[0] = 5;  // a wait that ended is told apart later
  third = second;
  third.now = 250;
  third.instructions = 31;
  third.state[0] = 10;
  third.state[stats::kWarpStates - 1] = 6;
  third.pipe_busy[spec::kPipes - 1] = 9;
  stats::LaunchCounters counters;
  counters.over_time = {first, second, third};
  std::map<std::string, Values> found;
  for (const Series& series : over_time(counters)) found[series.name] = series.values;
  const std::string state = "warps.", pipe = "pipe.";
  const std::map<std::string, Values> expected{
      {"end", {100, 200, 250}},
      {"blocks", {6, 0, 0}},
      {"instructions", {10, 20, 1}},
      {"l1_tag", {1, 0, 0}},
      {"l1_data", {2, 0, 0}},
      {"l2_sectors", {3, 0, 0}},
      {"dram_bytes", {4, 60, 0}},
      {state + stats::name_of(static_cast<stats::WarpState>(0)), {7, 0, 3}},
      {state + stats::name_of(static_cast<stats::WarpState>(stats::kWarpStates - 1)), {0, 0, 6}},
      {pipe + spec::name_of(static_cast<spec::Pipe>(0)), {1, 0, 0}},
      {pipe + spec::name_of(static_cast<spec::Pipe>(spec::kPipes - 1)), {0, 0, 9}}};
  EXPECT_EQ(found, expected);
}

TEST(Series, OfSmsAreTheirCounters) {
  stats::LaunchCounters counters;
  EXPECT_TRUE(over_time(counters).empty());
  EXPECT_TRUE(over_sms(counters).empty());
  counters.sm_active_each = {3, 4};
  counters.sm_inst_each = {5, 6};
  counters.sm_blocks_each = {1, 2};
  const std::vector<Series> sms = over_sms(counters);
  ASSERT_EQ(sms.size(), 3u);
  EXPECT_EQ(sms[0].values, (Values{3, 4}));
  EXPECT_EQ(sms[1].values, (Values{5, 6}));
  EXPECT_EQ(sms[2].values, (Values{1, 2}));
}

}  // namespace
}  // namespace foretrace::report
