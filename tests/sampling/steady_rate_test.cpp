// When a simulation counts as settled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/sampling/steady_rate.h"

namespace foretrace::sampling_tests {
namespace {

/// Moments of a launch with `ended(t)` blocks of 10 instructions, one every 100 cycles.
sampling::SteadyRate rate_of(std::uint64_t wave, Cycle until, const std::function<double(double)>& ended,
                             double instructions_a_cycle = 0) {
  sampling::RateHistory history(wave, 10, 1);
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Snapshot snapshot;
    snapshot.now = now;
    snapshot.ended = static_cast<std::uint64_t>(ended(static_cast<double>(now)));
    snapshot.instructions = instructions_a_cycle > 0
                                ? static_cast<std::uint64_t>(instructions_a_cycle * static_cast<double>(now))
                                : 10 * snapshot.ended;
    snapshot.memory.dram_bytes_read = snapshot.ended;
    history.note(snapshot);
  }
  return history.rate();
}

TEST(RateHistory, FindsASteadyRate) {
  const sampling::SteadyRate rate =
      rate_of(100, 100'000, [](double t) { return std::max(0.0, 0.5 * (t - 2000)); });
  ASSERT_TRUE(rate.known);
  EXPECT_TRUE(rate.by_blocks);
  EXPECT_NEAR(rate.rate, 0.5, 1e-3);
  EXPECT_LT(rate.error, 1e-3);
  EXPECT_LT(std::abs(rate.drift), 2e-3);
}

TEST(RateHistory, CountsInstructionsWhileFewBlocksHaveEnded) {
  const sampling::SteadyRate rate = rate_of(
      100'000, 50'000, [](double) { return 0.0; }, 40);
  ASSERT_TRUE(rate.known);
  EXPECT_FALSE(rate.by_blocks);
  EXPECT_NEAR(rate.instructions, 40, 1e-6);
  EXPECT_NEAR(rate.rate, 4, 1e-6);  // blocks of 10 instructions
}

TEST(RateHistory, BlocksThatRunInStepAreNoChange) {
  // 100 blocks end together every 5,000 cycles.
  const sampling::SteadyRate rate =
      rate_of(100, 200'000, [](double t) { return 100 * std::floor(t / 5000); });
  ASSERT_TRUE(rate.known);
  EXPECT_NEAR(rate.rate, 0.02, 0.0005);
  EXPECT_LT(std::abs(rate.drift), 0.02);
}

TEST(RateHistory, SeesARateThatFalls) {
  const sampling::SteadyRate rate = rate_of(100, 100'000, [](double t) { return 40 * std::sqrt(t); });
  ASSERT_TRUE(rate.known);
  EXPECT_LT(rate.drift, -0.1);
  // The later half of what follows the ramp: four stretches of eleven waves.
  const double blocks = 4 * 11 * 100, first = (40 * std::sqrt(1e5) - blocks) / 40;
  EXPECT_NEAR(rate.rate, blocks / (1e5 - first * first), 0.01 * rate.rate);
}

TEST(RateHistory, CountsTheWorkOfBlocksThatHaveNotEnded) {
  // Blocks end a little faster than they are worked through, as when they fall out of step: 2 % more blocks than instructions.
  sampling::RateHistory history(100, 10, 1);
  for (Cycle now = 100; now <= 100'000; now += 100) {
    gpu::Snapshot snapshot;
    snapshot.now = now;
    snapshot.ended = static_cast<std::uint64_t>(0.0102 * static_cast<double>(now));
    snapshot.instructions = now / 10;
    history.note(snapshot);
  }
  const sampling::SteadyRate rate = history.rate();
  ASSERT_TRUE(rate.by_blocks);
  EXPECT_NEAR(rate.rate, 0.01, 1e-5);
}

/// Eight waves of 1,000 blocks after a ramp; the i-th takes 10,000 (1 + change(i)) cycles.
sampling::SteadyRate rate_of_waves(const std::function<double(int)>& change) {
  std::vector<double> ends{0};
  for (int i = 0; i < 11; ++i) ends.push_back(ends.back() + (i < 3 ? 10'000 : 10'000 * (1 + change(i - 3))));
  return rate_of(1000, static_cast<Cycle>(ends.back()), [&](double t) {
    std::size_t i = 1;
    while (i + 1 < ends.size() && ends[i] < t) ++i;
    return 1000 * (static_cast<double>(i - 1) + (t - ends[i - 1]) / (ends[i] - ends[i - 1]));
  });
}

TEST(RateHistory, NeighboursThatAreAlikeSayLess) {
  const sampling::SteadyRate scattered = rate_of_waves([](int i) { return i % 2 ? 0.02 : -0.02; });
  const sampling::SteadyRate waves = rate_of_waves([](int i) { return i / 2 % 2 ? 0.02 : -0.02; });
  ASSERT_TRUE(scattered.by_blocks);
  EXPECT_NEAR(scattered.error, 0.02 / std::sqrt(7.0), 0.002);
  EXPECT_GT(waves.error, 1.1 * scattered.error);
}

TEST(RateHistory, TheDoubtIsStudentsAndHoldsADriftThatChanceDoesNotExplain) {
  const sampling::SteadyRate scattered = rate_of_waves([](int i) { return i % 2 ? 0.02 : -0.02; });
  EXPECT_NEAR(scattered.doubt, 1.895 * scattered.error, 0.1 * scattered.error);
  const sampling::SteadyRate drifts =
      rate_of_waves([](int i) { return i < 4 ? 0.0 : 0.05 + 0.001 * (i % 2); });
  EXPECT_GT(drifts.doubt, 1.5 * 1.895 * scattered.error);
  EXPECT_LT(drifts.drift, -0.04);
  EXPECT_GT(sampling::student(2), sampling::student(7));
  EXPECT_DOUBLE_EQ(sampling::student(1000), 1.645);
}

/// Half a block per cycle; `now`, and what the memory system has counted by then.
sampling::RateHistory history_of(Cycle until,
                                 const std::function<void(Cycle, stats::MemoryCounters&)>& memory,
                                 Cycle slows_at = 1'000'000'000) {
  sampling::RateHistory history(100, 10, 10);
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Snapshot snapshot;
    snapshot.now = now;
    snapshot.ended = now <= slows_at ? now / 2 : slows_at / 2 + (now - slows_at) / 4;
    snapshot.instructions = 10 * snapshot.ended;
    memory(now, snapshot.memory);
    history.note(snapshot);
  }
  return history;
}

TEST(RateHistory, MemoryDriftsWhereDramMovesMoreInTheLaterHalf) {
  // Eight stretches of 46 waves: from cycle 26,400 on, and 63,200 is their middle. A byte per cycle up to 50,000, then three.
  const auto rises = [](Cycle now, stats::MemoryCounters& memory) {
    memory.dram_bytes_read = now;
    memory.dram_bytes_write = now < 50'000 ? 0 : 2 * (now - 50'000);
  };
  const sampling::SteadyRate rate = history_of(100'000, rises).rate();
  ASSERT_TRUE(rate.known);
  EXPECT_EQ(rate.from.now, 26'400u);
  EXPECT_EQ(rate.to.now, 100'000u);
  EXPECT_NEAR(rate.memory_drift, (3 - (36'800 + 2 * 13'200) / 36'800.0) / 10, 1e-9);
}

TEST(RateHistory, WhatWasBeforeACycleIsRampIfAsked) {
  const sampling::RateHistory history = history_of(
      100'000, [](Cycle, stats::MemoryCounters&) {}, 60'000);
  EXPECT_GT(std::abs(history.rate().drift), 0.1);
  const sampling::SteadyRate late = history.rate(60'000);
  ASSERT_TRUE(late.known);
  EXPECT_NEAR(late.rate, 0.25, 1e-9);
  EXPECT_NEAR(late.drift, 0, 1e-9);
}

TEST(RateHistory, SaysSinceWhenL2IsNearlyAsDirty) {
  const sampling::RateHistory history = history_of(100'000, [](Cycle now, stats::MemoryCounters& memory) {
    memory.dirty_sectors_left = std::min<Cycle>(now, 40'000);
  });
  EXPECT_GT(history.dirty_since(), 30'000u);
  EXPECT_LT(history.dirty_since(), 40'000u);
}

TEST(RateHistory, OfManySnapshotsEverySecondIsKept) {
  const sampling::SteadyRate rate = history_of(2'000'000, [](Cycle now, stats::MemoryCounters& memory) {
                                      memory.dram_bytes_read = now;
                                    }).rate();
  ASSERT_TRUE(rate.known);
  EXPECT_NEAR(rate.rate, 0.5, 1e-3);
  EXPECT_LT(rate.error, 1e-3);
  EXPECT_NEAR(rate.memory_drift, 0, 1e-9);
}

TEST(Student, IsTheNinetyPercentQuantileOfItsDegreesOfFreedom) {
  EXPECT_NEAR(sampling::student(1), 6.314, 0.001);
  EXPECT_NEAR(sampling::student(2), 2.920, 0.001);
  EXPECT_NEAR(sampling::student(7), 1.895, 0.001);
}

TEST(RateHistory, KnowsNothingAtFirst) {
  EXPECT_FALSE(rate_of(100, 1'000, [](double t) { return t; }).known);
}

}  // namespace
}  // namespace foretrace::sampling_tests
