// The barrier unit by itself: which lanes arrive as one, when a test of an mbarrier is answered, and whose arrivals leave the SM.

#include <gtest/gtest.h>

#include "tests/sm/parts.h"

namespace foretrace::sm {
namespace {

using sm_tests::Line;

constexpr std::uint64_t kBarrier = 0x400;
constexpr std::uint32_t kInit = 0, kArrive = 1, kExpect = 2, kTry = 3, kTest = 4, kStore = 5;
constexpr std::uint64_t kEnded = work::kPhaseEnded;  // and its parity is 0

/// A program with one instruction of each use. The test in vain of `kTest` jumps back to it; that of `kTry` to nowhere.
std::vector<Line> uses() {
  return {
      {"SYNCS.EXCH.64 URZ, [UR4], UR6", 1},           {"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ", 1},
      {"SYNCS.ARRIVE.TRANS64 RZ, [UR4], R2", 1},      {"SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2", 2, 0},
      {"SYNCS.PHASECHK.TRANS64 P1, [UR4], R2", 2, 0}, {"STAS [R4.64], R2", 1}};
}
Line lanes(std::uint32_t executed, std::uint64_t operand = 0, std::uint64_t address = kBarrier) {
  Line line;
  line.executed = executed;
  line.base = address;
  line.stride = 0;
  line.operand = operand;
  return line;
}

struct Barriers : Parts {
  explicit Barriers(std::uint32_t tested_by = kTry) : Parts(uses()), test(tested_by) {
    do_at(10, kInit, lanes(1, 2));  // for two arrivals
  }
  void do_at(Cycle now, std::uint32_t index, const Line& how, std::uint32_t block = 0) {
    barriers.execute(barriers.add(stand(9, index, how, block), 9), now, now);
  }
  /// Warp `id` tests the barrier's first phase at `now`; its answer is usable at `answered`.
  void ask(std::uint16_t id, Cycle answered, Cycle now, std::uint64_t operand = kEnded) {
    barriers.execute(barriers.add(stand(id, test, lanes(1, operand)), id), answered, now);
  }
  const std::uint32_t test;
};

TEST(BarrierUnit, ATestOfAnEndedPhaseIsAnsweredWhenItsAnswerIsUsable) {
  Barriers parts;
  parts.do_at(20, kArrive, lanes(0b11));
  parts.ask(1, 130, 100);
  parts.run(130);
  EXPECT_TRUE(parts.released.empty()) << "at 129 not yet";
  EXPECT_EQ(parts.released_at(1), 130u);
}

TEST(BarrierUnit, ATestThatHadNotEndedOnRecordDoesNotWait) {
  Barriers parts;
  parts.ask(1, 130, 100, 0);
  EXPECT_EQ(parts.released_at(1), 130u);
}

TEST(BarrierUnit, LanesArriveEachOnceAndAllAtATime) {
  Barriers parts;
  parts.ask(1, 130, 100);
  parts.do_at(200, kArrive, lanes(0b1));
  EXPECT_EQ(parts.released_at(1), kNever) << "one of two has come";
  parts.do_at(300, kArrive, lanes(0b1));
  EXPECT_NE(parts.released_at(1), kNever);

  Barriers two_barriers;
  two_barriers.do_at(11, kInit, lanes(1, 2, kBarrier + 8));
  Line apart = lanes(0b11);
  apart.stride = 8;
  two_barriers.ask(1, 130, 100);
  two_barriers.do_at(200, kArrive, apart);
  EXPECT_EQ(two_barriers.released_at(1), kNever) << "lane 1 went to another barrier";
}

TEST(BarrierUnit, ATestGoesRoundUntilThePhaseHasEnded) {
  // A plain test without a loop around it goes again after the latency of its answer and the branch.
  const spec::GpuSpec chip = sm_tests::bench_chip();
  const Cycle round = chip.mbarrier.latency + chip.fetch.branch_latency;
  const auto answer = [&](Cycle ended) {
    Barriers parts(kTest);
    parts.ask(1, 130, 100);
    parts.do_at(ended, kArrive, lanes(0b11));
    return parts.released_at(1);
  };
  EXPECT_EQ(answer(101), 130 + round);
  EXPECT_EQ(answer(100 + round), 130 + round) << "asked just then";
  EXPECT_EQ(answer(101 + round), 130 + 2 * round) << "a cycle too late";
}

TEST(BarrierUnit, AWaitForBytesEndsWithThemAndOneForArrivalsGoesRound) {
  const auto answer = [](bool by_bytes, Cycle answered) {
    Barriers parts;
    parts.do_at(20, kExpect, lanes(1, 64));
    parts.do_at(21, kArrive, lanes(1));
    parts.ask(1, answered, 100);
    parts.barriers.arrive_here(0, kBarrier, {0, -63, false}, 1, true, 150);
    EXPECT_EQ(parts.released_at(1), kNever) << "a byte lacks";
    parts.barriers.arrive_here(0, kBarrier, {0, -1, false}, 1, by_bytes, 200);
    return parts.released_at(1);
  };
  EXPECT_EQ(answer(true, 130), 201u) << "not in the cycle that tells it";
  EXPECT_EQ(answer(true, 250), 250u) << "not before the answer can be used";
  EXPECT_GT(answer(false, 130), 201u);
}

TEST(BarrierUnit, ASuspendedTestWakesSomeCyclesAfterThePhase) {
  std::vector<Line> lines = uses();
  lines[kTest].text = "SYNCS.PHASECHK.TRANS64 P1, [UR4], R2";
  lines.insert(lines.begin() + kTest + 1, {"NANOSLEEP.SYNCS 0x989680", 1});
  Parts parts(lines);
  const auto execute = [&](std::uint16_t id, std::uint32_t index, const Line& how, Cycle now) {
    parts.barriers.execute(parts.barriers.add(parts.stand(id, index, how), id), now + 30, now);
  };
  execute(9, kInit, lanes(1, 1), 10);
  execute(1, kTest, lanes(1, kEnded), 100);
  execute(9, kArrive, lanes(1), 200);
  EXPECT_EQ(parts.released_at(1), 200 + parts.chip.mbarrier.wake_latency);
}

TEST(BarrierUnit, BytesOfAStoreComeOffTheBarriersTransactions) {
  Barriers parts;
  parts.do_at(20, kExpect, lanes(1, 8));
  parts.do_at(21, kArrive, lanes(1));
  parts.ask(1, 130, 100);
  ASSERT_EQ(parts.program.shapes.of[kStore].addresses, 2);
  ASSERT_EQ(parts.program.code[kStore].form.bytes, 4);
  parts.do_at(150, kStore, lanes(0b1, kBarrier, 0x1000));
  EXPECT_EQ(parts.released_at(1), kNever);
  parts.do_at(160, kStore, lanes(0b1, kBarrier, 0x1004));
  EXPECT_EQ(parts.released_at(1), 161u);
}

TEST(BarrierUnit, ArrivalsAtOtherBlocksLeaveTheSm) {
  Barriers parts;
  parts.blocks[0].places = {0, 7};
  parts.ask(1, 130, 100);
  parts.do_at(200, kArrive, lanes(0b111, 0, 1u << 24 | kBarrier));
  EXPECT_EQ(parts.released_at(1), kNever) << "they were for the other block";
  ASSERT_EQ(parts.messages.size(), 1u);
  const ClusterMessage& message = parts.messages[0];
  EXPECT_EQ(message.time, 200 + parts.chip.cluster.hop_latency);
  EXPECT_EQ(message.sm, 7u);
  EXPECT_EQ(message.rank, 1u);
  EXPECT_EQ(message.offset, kBarrier);
  EXPECT_EQ(message.times, 3u);
  EXPECT_EQ(message.arrival.arrivals, 1u);
  EXPECT_EQ(message.kind, ClusterMessage::Kind::arrival);
}

TEST(BarrierUnit, WhatABlockLeftBehindMeansNothingToTheNext) {
  Barriers parts;
  parts.ask(1, 130, 100);
  const std::uint32_t late = parts.barriers.add(parts.stand(9, kArrive, lanes(0b11)), 9);
  parts.blocks[0].serial = 77;
  parts.barriers.execute(late, 200, 200);
  EXPECT_EQ(parts.released_at(1), kNever);
  parts.barriers.forget(0);
  EXPECT_FALSE(parts.barriers.let_go(300)) << "its waits are gone with it";
}

TEST(BarrierUnit, WaitsThatNothingElseEndsAreLetGo) {
  Barriers parts(kTest);
  EXPECT_FALSE(parts.barriers.let_go(90));
  parts.ask(1, 130, 100);
  EXPECT_TRUE(parts.barriers.let_go(100));
  EXPECT_EQ(parts.released_at(1), 130u);
}

}  // namespace
}  // namespace foretrace::sm
