// Copies from one device to another, in exact nanoseconds: what they hold, what they wait for, what is said about them.
#include <gtest/gtest.h>

#include "sim/host/graph_launch.h"
#include "sim/host/time_summary.h"

namespace foretrace::host {
namespace {

HostSpec spec() {
  HostSpec host;
  host.call.launch = 400;
  host.call.copy_out = 150;
  host.call.copy_device = 5000;  // not what a peer copy's call takes
  host.call.record_untimed = 30;
  host.call.wait = 10;
  host.link.arrival = 1000;
  host.link.notice = 500;
  host.gap.engine = 300;
  host.gap.leave = 200;
  host.gap.turn = 70;
  host.copy.in_rate = host.copy.out_rate = 1;
  host.copy.both_rate = 1;
  return host;
}

Work peer(unsigned sender, unsigned receiver, double arrival, double ns, std::vector<WorkId> after = {}) {
  Work work = work_of(spec(), {CopyWay::to_peer, 64, false, sender, receiver, ns});
  work.arrival = arrival;
  work.after = std::move(after);
  return work;
}

TEST(PeerCopy, TakesWhatItComesWith) {
  const Work work = work_of(spec(), {CopyWay::to_peer, 64, false, 2, 1, 1234});
  EXPECT_EQ(work.kind, WorkKind::peer_copy);
  EXPECT_EQ(work.ns, 1234);
  EXPECT_EQ(work.bytes, 64u);
  EXPECT_EQ(work.sender, 2u);
  EXPECT_EQ(work.receiver, 1u);
}

TEST(PeerCopy, HasTheSendersWayOutAndTheReceiversWayIn) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId first = s.add(peer(0, 1, 0, 1000));
  const WorkId apart = s.add(peer(2, 3, 10, 1000));
  const WorkId back = s.add(peer(1, 0, 20, 1000));          // the other direction is free
  const WorkId same_sender = s.add(peer(0, 2, 30, 1000));   // waits for 0's way out
  const WorkId same_receiver = s.add(peer(3, 1, 40, 500));  // 1's way in is 0's until 1000
  s.settle_all();
  EXPECT_EQ(s[first].begin, 0);
  EXPECT_EQ(s[apart].begin, 10);
  EXPECT_EQ(s[back].begin, 20);
  EXPECT_EQ(s[back].end, 1020) << "a link has its bandwidth each way";
  EXPECT_EQ(s[same_sender].begin, 1000);
  EXPECT_EQ(s[same_sender].cause, first);
  EXPECT_EQ(s[same_receiver].begin, 1000);
  EXPECT_EQ(s[same_receiver].bound, Bound::engine);
  EXPECT_EQ(s[same_receiver].cause, first);
}

TEST(PeerCopy, WakesItsDevicesLinks) {
  HostSpec host = spec();
  host.gap.sleep_after = 50000;
  host.gap.sleep_wake = 700;
  Schedule s(host);
  const WorkId first = s.add(peer(0, 1, 100, 1000));   // links sleep before the first copy
  const WorkId back = s.add(peer(1, 0, 400, 1000));    // they are awake at 800
  const WorkId third = s.add(peer(0, 2, 1900, 1000));  // 2's link sleeps, 0's does not
  const WorkId awake =
      s.add(peer(1, 0, 51800, 1000));  // 50,000 after the last one over both, which ended at 1,800
  const WorkId later = s.add(peer(2, 0, 102801, 1000));  // a nanosecond more than that
  s.settle_all();
  EXPECT_EQ(s[first].begin, 100);
  EXPECT_EQ(s[first].held, 700);
  EXPECT_EQ(s[first].end, 1800);
  EXPECT_EQ(s[back].held, 400);
  EXPECT_EQ(s[back].end, 1800);
  EXPECT_EQ(s[third].held, 700);
  EXPECT_EQ(s[awake].held, 0);
  EXPECT_EQ(s[awake].end, 52800);
  EXPECT_EQ(s[later].held, 700);
  EXPECT_EQ(s[later].end, 104501);
}

TEST(PeerCopy, LeavesTheEnginesOfTheHostsCopiesAlone) {
  const HostSpec host = spec();
  Schedule s(host);
  const WorkId sent = s.add(peer(0, 1, 0, 1000));
  Work out;
  out.kind = WorkKind::copy_out;
  out.arrival = 10, out.ns = 400;
  const WorkId copy = s.add(out);
  s.settle_all();
  EXPECT_EQ(s[copy].begin, 10);
  EXPECT_EQ(s[copy].end, 410);
  EXPECT_EQ(s[sent].end, 1000);
}

TEST(PeerCopy, ChangesOfEnginesLieBetweenDevices) {
  const HostSpec host = spec();
  Schedule s(host);
  Work kernel;
  kernel.kind = WorkKind::kernel;
  kernel.ns = 500;
  const WorkId before = s.add(kernel);
  const WorkId first = s.add(peer(0, 1, 0, 1000, {before}));
  Work event;
  event.kind = WorkKind::event;
  event.after = {first};
  const WorkId arrived = s.add(event);
  const WorkId own = s.add(peer(0, 2, 0, 1000, {arrived}));  // by the same engine
  const WorkId passed =
      s.add(peer(1, 2, 0, 1000, {arrived}));  // by the next device's; but 2's way in is taken
  const WorkId back = s.add(peer(1, 0, 0, 1000, {arrived}));
  kernel.device = 1;
  kernel.after = {arrived};
  const WorkId after = s.add(kernel);
  s.settle_all();
  EXPECT_EQ(s[first].begin, 500 + 300);
  EXPECT_EQ(s[own].begin, 1800);
  EXPECT_EQ(s[passed].begin, 2870 > s[own].end ? 2870 : s[own].end);
  EXPECT_EQ(s[back].begin, 1800 + 70);
  EXPECT_EQ(s[after].begin, 1800 + 200);
}

TEST(PeerCopy, WhatWaitsForAnotherDeviceLooksNowAndThen) {
  HostSpec host = spec();
  host.gap.device = 600;
  host.gap.engine_poll = 8000;
  host.gap.engine_spin = 2000;
  host.gap.engine_told = 50'000;
  // Device 1's stream has done its own at 1000, or has been given the next at 1500, and waits for device 0's kernel.
  const auto begin_after = [&](double kernel, WorkKind kind, unsigned device, double arrival = 100) {
    Schedule s(host);
    Work work;
    work.kind = WorkKind::kernel;
    work.ns = kernel;
    const WorkId other = s.add(work);
    work.device = device;
    work.stream = 1;
    work.ns = 1000;
    const WorkId own = device == 0 ? other : s.add(work);
    work.kind = kind;
    work.sender = 1;
    work.arrival = arrival;
    work.after = {other, own};
    const WorkId next = s.add(work);
    s.settle_all();
    return s[next].begin;
  };
  EXPECT_EQ(begin_after(300, WorkKind::event, 1), 1000) << "it is over by then";
  EXPECT_EQ(begin_after(2400, WorkKind::event, 1), 3000) << "2,000 after its own";
  EXPECT_EQ(begin_after(2401, WorkKind::event, 1), 1600 + 8000);
  EXPECT_EQ(begin_after(2401, WorkKind::event, 1, 1500), 3001) << "waits since 1,500";
  EXPECT_EQ(begin_after(9001, WorkKind::event, 1), 1600 + 16'000);
  EXPECT_EQ(begin_after(2401, WorkKind::peer_copy, 1), 1600 + 8000);
  EXPECT_EQ(begin_after(2150, WorkKind::peer_copy, 1), 1600 + 8000) << "and 300 of the engine";
  EXPECT_EQ(begin_after(60'000, WorkKind::event, 1), 60'600) << "told";
  EXPECT_EQ(begin_after(9001, WorkKind::event, 0), 9001) << "its own device's work";
  host.gap.device = 0;
  EXPECT_EQ(begin_after(9001, WorkKind::event, 1), 9001);
}

TEST(PeerCopy, InAStreamItIsOneOfItsWorksAndItsCallThatOfAnEngine) {
  TimeLine line(spec());
  line.add_stream(1, true, 0, 0);
  line.add_stream(2, true, 1, 9);
  const WorkId kernel = line.kernel({0, 2, 0}, {0, 5000, 1, false});
  const WorkId copy = line.copy({0, 1, 0}, {CopyWay::to_peer, 64, false, 0, 1, 1000});
  EXPECT_EQ(line.now(0), 400 + 150);
  EXPECT_EQ(line.begin_of(copy), 550 + 1000) << "the receiver's kernel of another stream goes on";
  EXPECT_LT(line.begin_of(copy), line.schedule()[kernel].end);
}

TEST(PeerCopy, InALegacyStreamItHasBothDevicesToItself) {
  TimeLine line(spec());
  line.add_stream(1, true, 0, 0);
  line.add_stream(2, true, 1, 9);
  line.add_stream(3, true, 2, 8);
  line.kernel({0, 1, 0}, {0, 2000, 1, false});                        // arrives at 1400
  const WorkId slow = line.kernel({0, 2, 0}, {1, 50'000, 1, false});  // at 1800
  const WorkId other = line.kernel({0, 3, 0}, {2, 90'000, 1, false});
  const WorkId copy = line.copy({0, 0, 0}, {CopyWay::to_peer, 64, false, 0, 1, 1000});
  const WorkId first = line.kernel({0, 1, 0}, {3, 10, 1, false});
  const WorkId second = line.kernel({0, 2, 0}, {4, 10, 1, false});
  const WorkId beside = line.kernel({0, 3, 0}, {5, 10, 1, false});
  const WorkId again = line.kernel({0, 2, 0}, {6, 10, 1, false});
  line.settle();
  const Schedule& s = line.schedule();
  EXPECT_EQ(s[copy].begin, s[slow].end + 300);
  EXPECT_EQ(s[first].begin, s[copy].end + 200);
  EXPECT_EQ(s[second].begin, s[copy].end + 200);
  EXPECT_EQ(s[beside].begin, s[other].end) << "a third device takes no part";
  EXPECT_EQ(s[again].after, (std::vector<WorkId>{second}));
  // Who waits for the receiver's device waits for it, too.
  TimeLine waits(spec());
  waits.add_stream(2, true, 1, 9);
  const WorkId sent = waits.copy({0, 0, 0}, {CopyWay::to_peer, 64, false, 0, 1, 1000});
  waits.synchronize(0, 1);
  EXPECT_EQ(waits.now(0), waits.schedule()[sent].end + 500);
}

TEST(PeerCopy, InAGraphItHoldsTheLinkOfWhoSends) {
  TimeLine line(spec());
  line.add_stream(1, true, 0, 0);
  GraphLaunch graph(line, {0, 1, 0}, 2, 2);
  const WorkId to = graph.copy({}, true, {CopyWay::to_peer, 64, false, 3, 0, 1000});
  const WorkId from = graph.copy({}, true, {CopyWay::to_peer, 64, false, 3, 2, 1000});
  graph.end({to, from});
  line.settle();
  EXPECT_EQ(line.schedule()[from].begin, line.schedule()[to].end);
}

TEST(PeerCopy, IsACopyInTheSummary) {
  TimeLine line(HostSpec{});
  line.add_stream(1, true, 0, 0);
  line.add_stream(2, true, 1, 9);
  line.copy({0, 1, 0}, {CopyWay::to_peer, 64, false, 0, 1, 1000});
  line.copy({0, 2, 0}, {CopyWay::to_peer, 16, false, 1, 0, 400});
  line.kernel({0, 1, 0}, {0, 300, 1, false});
  line.settle();
  const TimeSummary sum = summarize(line);
  EXPECT_EQ(sum.ns, 1300);
  EXPECT_EQ(sum.copies, 1000);
  EXPECT_EQ(sum.kernels, 300);
  EXPECT_EQ(sum.critical.copies, 1000);
  EXPECT_EQ(sum.copy_busy, 1400);
  EXPECT_EQ(sum.overlap_won, 400);
  EXPECT_EQ(sum.overlap_lost, 300) << "device 0 sends for 1000";
  const PeerSum peers = sum_peer_copies(line.schedule());
  EXPECT_EQ(peers.copies, 2u);
  EXPECT_EQ(peers.bytes, 80u);
  EXPECT_EQ(peers.ns, 1400);
}

}  // namespace
}  // namespace foretrace::host
