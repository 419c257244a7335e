// The schedule of a GPU's work, in exact nanoseconds.
#include <gtest/gtest.h>

#include <array>

#include "sim/host/schedule.h"

namespace foretrace::host {
namespace {

HostSpec spec() {
  HostSpec host;
  host.gap.stream = -30;
  host.gap.graph = -100;
  host.gap.dependent = -60;
  host.gap.release = -20;
  host.gap.resume = 10;
  host.gap.wait = 7;
  host.gap.engine = host.gap.leave = host.gap.turn = 300;
  host.gap.dispatch = 40;
  host.copy.in_rate = host.copy.out_rate = 1;
  host.copy.both_rate = 1;  // half of the two together
  return host;
}

Work make(WorkKind kind, std::uint64_t stream, double arrival, double ns, std::vector<WorkId> after = {}) {
  Work work;
  work.kind = kind;
  work.stream = stream;
  work.arrival = arrival;
  work.ns = ns;
  work.after = std::move(after);
  return work;
}

TEST(Schedule, AChainIsBoundByWorkOrByArrival) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId a = s.add(make(WorkKind::kernel, 1, 100, 1000));
  const WorkId b = s.add(make(WorkKind::kernel, 1, 200, 500, {a}));
  const WorkId c = s.add(make(WorkKind::kernel, 1, 9000, 500, {b}));
  s.settle_all();
  EXPECT_EQ(s[a].begin, 100);
  EXPECT_EQ(s[b].begin, 1070);  // 30 before the end of a
  EXPECT_EQ(s[b].bound, Bound::after);
  EXPECT_EQ(s[b].cause, a);
  EXPECT_EQ(s[c].begin, 9000);
  EXPECT_EQ(s[c].bound, Bound::arrival);
  EXPECT_EQ(s[c].end, 9500);
}

TEST(Schedule, AnEngineLooksAgainNowAndThen) {
  HostSpec host = spec();
  host.gap.engine_poll = 8000;
  host.gap.engine_spin = 2000;
  host.gap.engine_told = 50'000;
  host.gap.leave = 500;
  // The copy arrives at 100; its turn is 300 after the kernel's end.
  const auto begin_after = [&](double kernel) {
    Schedule s(host);
    const WorkId a = s.add(make(WorkKind::kernel, 1, 0, kernel));
    const WorkId b = s.add(make(WorkKind::copy_out, 1, 100, 1000, {a}));
    s.settle_all();
    return s[b].begin;
  };
  EXPECT_EQ(begin_after(1800), 2100);              // waits 2000: seen at once
  EXPECT_EQ(begin_after(1801), 100 + 8000 + 300);  // and beyond that when it is looked at again
  EXPECT_EQ(begin_after(8100), 100 + 8000 + 300);
  EXPECT_EQ(begin_after(8101), 100 + 2 * 8000 + 300);
  EXPECT_EQ(begin_after(49'800), 100 + 7 * 8000 + 300);
  EXPECT_EQ(begin_after(49'801), 49'801 + 300);  // so long a wait ends at once again
  // A copy behind another waits from that one's end on; a kernel after a copy is told.
  Schedule s(host);
  const WorkId first = s.add(make(WorkKind::copy_out, 2, 0, 5000));
  const WorkId kernel = s.add(make(WorkKind::kernel, 1, 0, 6000));
  const WorkId second = s.add(make(WorkKind::copy_out, 1, 100, 1000, {kernel}));
  const WorkId next = s.add(make(WorkKind::kernel, 1, 100, 1000, {second}));
  s.settle_all();
  EXPECT_EQ(s[first].end, 5000);
  EXPECT_EQ(s[second].begin, 6300);
  EXPECT_EQ(s[next].begin, 7300 + 500);
}

TEST(Schedule, CopiesInTurnWithKernelsTakeWholePolls) {
  HostSpec host = spec();
  host.gap.engine_poll = 8000;
  host.gap.engine_spin = 2000;
  host.gap.engine_told = 50'000;
  Schedule s(host);
  std::vector<WorkId> copies;
  WorkId last = s.add(make(WorkKind::kernel, 1, 0, 3000));
  for (int i = 0; i < 3; ++i) {
    copies.push_back(s.add(make(WorkKind::copy_out, 1, 100, 1000, {last})));
    last = s.add(make(WorkKind::kernel, 1, 100, 3000, {copies.back()}));
  }
  s.settle_all();
  EXPECT_EQ(s[copies[0]].begin, 100 + 8000 + 300);
  EXPECT_EQ(s[copies[1]].begin, s[copies[0]].begin + 8000);
  EXPECT_EQ(s[copies[2]].begin, s[copies[1]].begin + 8000);
}

TEST(Schedule, AnEngineRecordsTheEventsBehindItsCopies) {
  HostSpec host = spec();
  host.gap.leave = 500;
  Schedule s(host);
  const WorkId copy = s.add(make(WorkKind::copy_out, 1, 0, 5000));
  const WorkId event = s.add(make(WorkKind::event, 1, 0, 100, {copy}));
  const WorkId second = s.add(make(WorkKind::copy_out, 1, 0, 1000, {event}));
  const WorkId kernel = s.add(make(WorkKind::kernel, 1, 0, 1000, {event}));
  s.settle_all();
  EXPECT_EQ(s[event].begin, 5000);
  EXPECT_EQ(s[second].begin, 5100);
  EXPECT_EQ(s[kernel].begin, 5100 + 500);
}

/// Of three kernels of 1,000 ns, of which the second and third are dependent launches, the begins of these and the end of the last.
std::array<double, 3> dependents(Dependence dependence, double share = 0.1) {
  const HostSpec host = spec();
  Schedule s(host);
  Work kernel = make(WorkKind::kernel, 1, 0, 1000);
  kernel.share = share;
  kernel.dependence = dependence;
  std::array<WorkId, 3> ids{};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    kernel.dependent = i > 0;
    ids[i] = s.add(kernel);
    kernel.after = {ids[i]};
  }
  s.settle_all();
  return {s[ids[1]].begin, s[ids[2]].begin, s[ids[2]].end};
}

TEST(Schedule, ADependentLaunchBeginsWhenItIsLetGoAndWaitsWhereItSays) {
  using Times = std::array<double, 3>;
  EXPECT_EQ(dependents({}), (Times{940, 1880, 2880})) << "behind the end";
  // Let go at once: it begins 280 later, does 400 of its own and goes on 10 after the end before it: 600 more.
  EXPECT_EQ(dependents({400, 300}), (Times{280, 560, 2220}));
  // Let go behind the wait: the second goes on at 1,010, 130 after it came to its wait, and lets go and ends as much later.
  EXPECT_EQ(dependents({200, 700}), (Times{680, 1490, 2620}));
  // It comes to its wait when the one before has ended.
  EXPECT_EQ(dependents({400, 700}), (Times{680, 1360, 2360}));
  // Nearly all of it is done before it waits: it is held 30, the next one 60.
  EXPECT_EQ(dependents({900, 100}), (Times{80, 160, 1220}));
  // It does not wait, as code that has no need of what was before.
  EXPECT_EQ(dependents({-1, 300}), (Times{280, 560, 1560}));
  // Without room it begins when the one before makes some.
  EXPECT_EQ(dependents({400, 300}, 0.6)[0], 900);
}

TEST(Schedule, GapsByKind) {
  const HostSpec host = spec();
  const auto begin_after = [&](Work first, Work second) {
    Schedule s(host);
    const WorkId a = s.add(first);
    second.after = {a};
    const WorkId b = s.add(second);
    s.settle_all();
    return s[b].begin;
  };
  const Work kernel = make(WorkKind::kernel, 1, 0, 1000);
  Work node = kernel, dependent = kernel;
  node.graph = 5;
  dependent.dependent = true;
  Work other_graph = node;
  other_graph.graph = 6;
  EXPECT_EQ(begin_after(kernel, kernel), 970);
  EXPECT_EQ(begin_after(node, node), 900);
  EXPECT_EQ(begin_after(node, other_graph), 970);
  EXPECT_EQ(begin_after(kernel, dependent), 940);
  EXPECT_EQ(begin_after(kernel, make(WorkKind::event, 1, 0, 0)), 970);
  EXPECT_EQ(begin_after(kernel, make(WorkKind::event, 2, 0, 0)), 977);
  EXPECT_EQ(begin_after(make(WorkKind::event, 1, 0, 50), kernel), 50);
  EXPECT_EQ(begin_after(kernel, make(WorkKind::copy_in, 1, 0, 10)), 1300);
  EXPECT_EQ(begin_after(make(WorkKind::copy_in, 1, 0, 10), kernel), 310);
  EXPECT_EQ(begin_after(make(WorkKind::copy_in, 1, 0, 10), make(WorkKind::copy_in, 1, 0, 10)), 10);
  EXPECT_EQ(begin_after(make(WorkKind::copy_in, 1, 0, 10), make(WorkKind::copy_out, 1, 0, 10)), 310);
  // Never before the first has begun.
  EXPECT_EQ(begin_after(make(WorkKind::kernel, 1, 500, 3), kernel), 500 + 40);
}

TEST(Schedule, KernelsShareTheChipWhileThereIsRoom) {
  const HostSpec host = spec();
  Schedule s(host);
  Work half = make(WorkKind::kernel, 1, 0, 1000);
  half.share = 0.5;
  const WorkId a = s.add(half);
  half.stream = 2;
  const WorkId b = s.add(half);
  Work little = make(WorkKind::kernel, 3, 0, 100);
  little.share = 0.01;
  const WorkId c = s.add(little);
  s.settle_all();
  EXPECT_EQ(s[a].begin, 0);
  EXPECT_EQ(s[b].begin, 40);   // dispatched after a
  EXPECT_EQ(s[c].begin, 900);  // when a leaves
  EXPECT_EQ(s[c].bound, Bound::engine);
  EXPECT_EQ(s[c].cause, a);
}

TEST(Schedule, WhoMayBeginFirstDoesThenPriority) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId late = s.add(make(WorkKind::kernel, 1, 100, 1000));
  const WorkId soon = s.add(make(WorkKind::kernel, 2, 50, 1000));
  const WorkId low = s.add(make(WorkKind::kernel, 3, 60, 1000));
  Work urgent = make(WorkKind::kernel, 4, 60, 1000);
  urgent.priority = -5;
  const WorkId high = s.add(urgent);
  s.settle_all();
  EXPECT_EQ(s[soon].begin, 50);
  EXPECT_EQ(s[high].begin, 950);
  EXPECT_EQ(s[late].begin, 1850);
  EXPECT_EQ(s[low].begin, 2750);
}

TEST(Schedule, CopiesOfOppositeWaysSlowEachOther) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId in = s.add(make(WorkKind::copy_in, 1, 0, 1000));
  const WorkId out = s.add(make(WorkKind::copy_out, 2, 400, 300));
  const WorkId next = s.add(make(WorkKind::copy_in, 3, 0, 100));
  s.settle_all();
  EXPECT_EQ(s[out].begin, 400);
  EXPECT_EQ(s[out].end, 1000);     // 300 at half the rate
  EXPECT_EQ(s[in].end, 1300);      // 400 alone, 600 for 300 beside, 300 alone
  EXPECT_EQ(s[next].begin, 1300);  // one after another
}

TEST(Schedule, SettlesNoMoreThanIsAsked) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId a = s.add(make(WorkKind::kernel, 1, 0, 1000));
  const WorkId b = s.add(make(WorkKind::kernel, 1, 0, 1000, {a}));
  EXPECT_EQ(s.settle_end(a).end, 1000);
  EXPECT_TRUE(s[b].settled);  // it begins before a ends
  const WorkId c = s.add(make(WorkKind::kernel, 1, 3000, 1000, {b}));
  EXPECT_EQ(s.settle_end(a).end, 1000);
  EXPECT_FALSE(s[c].settled);
  // What is given later may still go first.
  const WorkId d = s.add(make(WorkKind::kernel, 2, 2500, 1000));
  s.settle_all();
  EXPECT_EQ(s[d].begin, 2500);
  EXPECT_EQ(s[c].begin, 3400);
}

}  // namespace
}  // namespace foretrace::host
