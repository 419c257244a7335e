// A program's time line in exact nanoseconds, and what is said about it.
#include <gtest/gtest.h>

#include "sim/host/graph_launch.h"
#include "sim/host/time_summary.h"

namespace foretrace::host {
namespace {

HostSpec spec() {
  HostSpec host;
  host.call.launch = 400;
  host.call.graph = 200;
  host.call.graph_node = 1;
  host.call.graph_path = 50;
  host.call.record = 100;
  host.call.record_untimed = 30;
  host.call.fill = 60;
  host.call.fill_kernel = 410;
  host.call.fill_inline = 4096;
  host.call.wait = 10;
  host.call.copy_in = host.call.copy_out = 150;
  host.call.synchronize = 20;
  host.link.arrival = 1000;
  host.link.notice = 500;
  host.gap.engine = host.gap.leave = host.gap.turn = 300;
  host.gap.record = 30;
  host.copy.in_latency = host.copy.out_latency = 100;
  host.copy.in_rate = host.copy.out_rate = 1;
  host.copy.both_rate = 2;
  host.copy.pageable_inline = 64;
  host.copy.inline_latency = 70;
  host.copy.inline_pageable = {{0, 70}, {1000, 70}};
  host.copy.pageable_in = {{0, 100}, {1000, 1100}};
  host.copy.pageable_out = {{0, 100}, {2000, 2200}};
  return host;
}

constexpr Place kDefault{0, 0, 0}, kOne{0, 1, 0}, kTwo{0, 2, 0};

TEST(TimeLine, ALaunchAndAWait) {
  TimeLine line(spec());
  const WorkId kernel = line.kernel(kDefault, {7, 2000, 1, false});
  EXPECT_EQ(line.now(0), 400);
  line.synchronize(0);
  EXPECT_EQ(line.begin_of(kernel), 1400);
  EXPECT_EQ(line.now(0), 3900);  // the end and the notice
  EXPECT_EQ(line.work_of_launch(7), kernel);
  EXPECT_EQ(line.work_of_launch(6), kNoWork);
  line.synchronize(0);
  EXPECT_EQ(line.now(0), 3920);
}

TEST(TimeLine, LaunchesBoundAShortChain) {
  TimeLine line(spec());
  const WorkId from = line.record(kDefault, true);
  for (std::uint64_t i = 0; i < 10; ++i) line.kernel(kDefault, {i, 100, 1, false});
  const WorkId to = line.record(kDefault, true);
  EXPECT_EQ(line.begin_of(to) - line.begin_of(from), 10 * 400 + 100);
  line.synchronize(0);
  line.settle();
  const TimeSummary sum = summarize(line);
  EXPECT_EQ(sum.kernels, 1000);
  EXPECT_EQ(sum.calls, sum.ns - 1000);
  EXPECT_EQ(sum.gaps + sum.copies + sum.own, 0);
  EXPECT_GT(sum.critical.calls, 4000);
}

TEST(TimeLine, TheThreadsOwnWorkIsItsOwn) {
  TimeLine line(spec());
  line.kernel(kDefault, {0, 100, 1, false});
  line.own_work(0, 5000);
  line.kernel(kDefault, {1, 100, 1, false});
  line.settle();
  const TimeSummary sum = summarize(line);
  EXPECT_EQ(line.begin_of(line.work_of_launch(1)), 400 + 5000 + 400 + 1000);
  EXPECT_EQ(sum.kernels, 200);
  EXPECT_EQ(sum.own, 3900);  // of the idle time from 1500 on, until 5400
  EXPECT_EQ(sum.ns, 6900);
  EXPECT_EQ(sum.kernels + sum.copies + sum.calls + sum.own + sum.gaps, sum.ns);
  EXPECT_EQ(sum.critical.kernels, 100);
  EXPECT_EQ(sum.critical.own, 5000);
  EXPECT_EQ(sum.critical.calls, 1800);
}

TEST(TimeLine, TheDefaultStreamWaitsForBlockingStreams) {
  TimeLine line(spec());
  line.add_stream(1, false);
  line.add_stream(2, true);
  line.kernel(kOne, {0, 50'000, 0.1, false});
  const WorkId free = line.kernel(kTwo, {1, 10, 0.1, false});
  const WorkId held = line.kernel(kDefault, {2, 10, 0.1, false});
  const WorkId after = line.kernel(kOne, {3, 10, 0.1, false});
  EXPECT_EQ(line.begin_of(free), 1800);
  EXPECT_EQ(line.begin_of(held), 51'400);
  EXPECT_EQ(line.begin_of(after), 51'410);
}

TEST(TimeLine, DevicesHaveChipsAndDefaultStreamsOfTheirOwn) {
  TimeLine line(spec());
  line.add_stream(2, false, 1, 2);  // the second device's default stream
  line.add_stream(3, false, 1, 2);
  constexpr Place there{0, 2, 0}, beside{0, 3, 0};
  line.kernel(kDefault, {0, 50'000, 1, false});
  const WorkId other = line.kernel(there, {1, 60'000, 1, false});
  const WorkId held = line.kernel(beside, {2, 10, 1, false});
  EXPECT_EQ(line.begin_of(other), 1800);  // although the first device's chip is full
  EXPECT_EQ(line.begin_of(held), 61'800);
  line.synchronize(0, 0);
  EXPECT_EQ(line.now(0), 51'400 + 500);
  line.synchronize(0, 1);
  EXPECT_EQ(line.now(0), 61'810 + 500);
}

TEST(TimeLine, AWaitForAnEventHoldsTheStream) {
  TimeLine line(spec());
  line.add_stream(1, true);
  line.add_stream(2, true);
  line.kernel(kOne, {0, 50'000, 0.1, false});
  const WorkId event = line.record(kOne, false);
  line.kernel(kOne, {1, 50'000, 0.1, false});
  line.wait(kTwo, event);
  const WorkId held = line.kernel(kTwo, {2, 10, 0.1, false});
  EXPECT_EQ(line.begin_of(held), 51'400);
  line.synchronize_event(0, event);
  EXPECT_EQ(line.now(0), 51'900);
}

TEST(TimeLine, AnEventBehindFinishedWorkIsOverAtOnce) {
  TimeLine line(spec());
  line.kernel(kDefault, {0, 5000, 1, false});
  line.synchronize(0);
  EXPECT_EQ(line.now(0), 400 + 1000 + 5000 + 500);
  line.synchronize_event(0, line.record(kDefault, false));
  EXPECT_EQ(line.now(0), 6900 + 30 + 20);
  line.synchronize_event(0, line.record(kDefault, true));  // one with a time asks the GPU for it
  EXPECT_EQ(line.now(0), 6950 + 100 + 1000 + 30 + 500);
}

TEST(TimeLine, CallsByWhatTheyAskFor) {
  TimeLine line(spec());
  line.record(kDefault, true);
  EXPECT_EQ(line.now(0), 100);
  line.record(kDefault, false);
  EXPECT_EQ(line.now(0), 130);
  line.fill(kDefault, 4096);
  EXPECT_EQ(line.now(0), 190);
  line.fill(kDefault, 4097);
  EXPECT_EQ(line.now(0), 600);
}

TEST(TimeLine, CopiesAndTheirCalls) {
  TimeLine line(spec());
  line.finish_copy(0, line.copy(kDefault, {CopyWay::to_device, 5000, false}));
  EXPECT_EQ(line.now(0), 150 + 1000 + 100 + 5000 + 500);
  // A small one of pageable memory is handed over; a large one is the thread's own.
  const double before = line.now(0);
  const WorkId small = line.copy(kDefault, {CopyWay::to_device, 64, true});
  EXPECT_EQ(line.now(0), before + 1064);
  EXPECT_EQ(line.begin_of(small), before + 2064);
  // Its way to the GPU is over when the small one's end is: it begins `arrival` before that, or with the small one.
  const WorkId large = line.copy(kDefault, {CopyWay::to_device, 65, true});
  EXPECT_EQ(line.begin_of(large), before + 2064);
  EXPECT_EQ(line.now(0), before + 2064 + 1065);
  const double now = line.now(0);
  line.kernel(kDefault, {0, 5000, 1, false});
  line.copy(kDefault, {CopyWay::to_device, 65, true});
  EXPECT_EQ(line.now(0), now + 400 + 1000 + 5000 - 1000 + 1065);
}

TEST(TimeLine, AKernelBetweenCopies) {
  TimeLine line(spec());
  line.copy(kDefault, {CopyWay::to_device, 5000, false});
  line.kernel(kDefault, {0, 3000, 1, false});
  line.copy(kDefault, {CopyWay::to_host, 5000, false});
  line.settle();
  const TimeSummary sum = summarize(line);
  EXPECT_EQ(sum.ns, 150 + 1000 + 5100 + 300 + 3000 + 300 + 5100);
  EXPECT_EQ(sum.kernels, 3000);
  EXPECT_EQ(sum.copies, 10'200);
  EXPECT_EQ(sum.gaps, 600);
  EXPECT_EQ(sum.calls, 1150);
  EXPECT_EQ(sum.overlap_won, 0);
  EXPECT_EQ(sum.overlap_lost, 13'200 - 5100);
  EXPECT_EQ(sum.critical.kernels, 3000);
  EXPECT_EQ(sum.critical.copies, 10'200);
  EXPECT_EQ(sum.critical.gaps, 600);
  EXPECT_EQ(sum.critical.calls, 1150);
}

TEST(TimeLine, AGraphIsOneCall) {
  TimeLine line(spec());
  GraphLaunch graph(line, kDefault, 2, 1);
  EXPECT_EQ(line.now(0), 202);
  const WorkId a = graph.kernel({}, true, {0, 1000, 1, false});
  const WorkId b = graph.kernel({a}, false, {1, 1000, 1, false});
  graph.end({b});
  const WorkId next = line.record(kDefault, true);
  EXPECT_EQ(line.begin_of(a), 1202);
  EXPECT_EQ(line.begin_of(b), 2202);
  EXPECT_EQ(line.begin_of(next), 3202);
  // Paths are handed over one after another.
  TimeLine wide(spec());
  GraphLaunch beside(wide, kDefault, 3, 3);
  EXPECT_EQ(wide.now(0), 303);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const WorkId node = beside.kernel({}, true, {i, 1000, 0.1, false});
    EXPECT_EQ(wide.begin_of(node), 1203 + 50 * static_cast<double>(i));
  }
}

TEST(TimeLine, AFullQueueHoldsTheCaller) {
  HostSpec host = spec();
  host.link.queue = 2;
  TimeLine line(host);
  for (std::uint64_t i = 0; i < 2; ++i) line.kernel(kDefault, {i, 100'000, 1, false});
  EXPECT_EQ(line.now(0), 800);
  line.kernel(kDefault, {2, 100, 1, false});  // the first has begun at 1400
  EXPECT_EQ(line.now(0), 1800);
  line.kernel(kDefault, {3, 100, 1, false});  // the second begins at 101400
  EXPECT_EQ(line.now(0), 101'800);
}

}  // namespace
}  // namespace foretrace::host
