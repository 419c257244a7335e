#include "sim/host/ranges.h"
#include "sim/host/graph_launch.h"

#include <gtest/gtest.h>

namespace foretrace::host {
namespace {

HostSpec spec() {
  HostSpec host;
  host.call.launch = 100;
  host.call.graph = 100;
  return host;
}
constexpr Place kMain{0, 0, 0}, kOther{1, 0, 0};

TEST(Ranges, WorkIsInTheRangesThatItWasAskedForIn) {
  TimeLine line(spec());
  Ranges ranges(line);
  const int domain = 0;
  EXPECT_EQ(ranges.push(0, nullptr, "step"), 0);
  line.kernel(kMain, {0, 1000, 1, false});
  EXPECT_EQ(ranges.push(0, nullptr, "layer"), 1);
  EXPECT_EQ(ranges.push(0, &domain, "library"), 0);  // each domain counts for itself
  line.kernel(kMain, {1, 500, 1, false});
  line.kernel(kOther, {2, 7000, 1, false});  // another thread's
  EXPECT_EQ(ranges.pop(0, &domain), 0);
  EXPECT_EQ(ranges.pop(0, nullptr), 1);
  EXPECT_EQ(ranges.pop(0, nullptr), 0);
  EXPECT_EQ(ranges.pop(0, nullptr), -1);
  line.kernel(kMain, {3, 9000, 1, false});
  line.settle();
  const std::vector<RangeSum> sums = sum_ranges(ranges.all(), line);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums[0].name, "step");
  EXPECT_EQ(sums[0].count, 1u);
  EXPECT_EQ(sums[0].kernels, 2u);
  EXPECT_EQ(sums[0].kernels_ns, 1500);
  EXPECT_EQ(sums[0].host_ns, 200);
  EXPECT_EQ(sums[1].kernels_ns, 500);
  EXPECT_EQ(sums[1].host_ns, 100);
  EXPECT_EQ(ranges.all()[0].begin, 0);
  EXPECT_EQ(ranges.all()[0].end, 200);
}

TEST(Ranges, ProcessRangesHoldAllThreadsAndGraphsTheirNodes) {
  TimeLine line(spec());
  Ranges ranges(line);
  const std::uint64_t whole = ranges.start(0, "whole");
  line.kernel(kOther, {0, 1000, 1, false});
  GraphLaunch graph(line, kMain, 2, 1);
  const WorkId first = graph.kernel({}, true, {1, 300, 1, false});
  graph.end({graph.kernel({first}, false, {2, 400, 1, false})});
  ranges.end(whole, 1);
  ranges.end(whole, 1);
  ranges.end(77, 1);
  line.kernel(kOther, {3, 9000, 1, false});
  // Within each other, of one name: once. What stays open ends with the line.
  ranges.push(0, nullptr, "again");
  ranges.push(0, nullptr, "again");
  line.kernel(kMain, {4, 50, 1, false});
  line.settle();
  ranges.close();
  const std::vector<RangeSum> sums = sum_ranges(ranges.all(), line);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].name, "whole");
  EXPECT_EQ(sums[0].kernels, 3u);
  EXPECT_EQ(sums[0].kernels_ns, 1700);
  EXPECT_EQ(sums[1].count, 2u);
  EXPECT_EQ(sums[1].kernels, 1u);
  EXPECT_EQ(sums[1].kernels_ns, 50);
  EXPECT_EQ(ranges.all().back().end, end_of(line));
}

TEST(Ranges, AThreadThatHasCalledNothingYetBeginsOneBehindTheLastCallOfAny) {
  TimeLine line(spec());
  Ranges ranges(line);
  line.kernel(kMain, {0, 1000, 1, false});
  line.kernel(kMain, {1, 1000, 1, false});
  ranges.push(1, nullptr, "backward");
  line.kernel(kOther, {2, 1000, 1, false});
  ranges.pop(1, nullptr);
  EXPECT_EQ(ranges.all().front().begin, 200);
  EXPECT_EQ(ranges.all().front().end, 300);
}

}  // namespace
}  // namespace foretrace::host
