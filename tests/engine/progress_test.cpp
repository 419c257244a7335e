// When a simulation counts as settled.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sim/engine/progress.h"

namespace foretrace::engine_tests {
namespace {

/// Moments of a launch with `ended(t)` blocks of 10 instructions, one every 100 cycles.
engine::Pace pace_of(std::uint64_t chip_full, Cycle until, const std::function<double(double)>& ended,
                     double instructions_a_cycle = 0) {
  engine::Progress progress(chip_full, 10, 1);
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.ended = static_cast<std::uint64_t>(ended(static_cast<double>(now)));
    moment.instructions = instructions_a_cycle > 0
                              ? static_cast<std::uint64_t>(instructions_a_cycle * static_cast<double>(now))
                              : 10 * moment.ended;
    moment.memory.dram_bytes_read = moment.ended;
    progress.note(moment);
  }
  return progress.pace();
}

TEST(Progress, FindsASteadyRate) {
  const engine::Pace pace = pace_of(100, 100'000, [](double t) { return std::max(0.0, 0.5 * (t - 2000)); });
  ASSERT_TRUE(pace.known);
  EXPECT_TRUE(pace.by_blocks);
  EXPECT_NEAR(pace.rate, 0.5, 1e-3);
  EXPECT_LT(pace.error, 1e-3);
  EXPECT_LT(std::abs(pace.drift), 2e-3);
}

TEST(Progress, CountsInstructionsWhileFewBlocksHaveEnded) {
  const engine::Pace pace = pace_of(
      100'000, 50'000, [](double) { return 0.0; }, 40);
  ASSERT_TRUE(pace.known);
  EXPECT_FALSE(pace.by_blocks);
  EXPECT_NEAR(pace.instructions, 40, 1e-6);
  EXPECT_NEAR(pace.rate, 4, 1e-6);  // blocks of 10 instructions
}

TEST(Progress, BlocksThatRunInStepAreNoChange) {
  // 100 blocks end together every 5,000 cycles.
  const engine::Pace pace = pace_of(100, 200'000, [](double t) { return 100 * std::floor(t / 5000); });
  ASSERT_TRUE(pace.known);
  EXPECT_NEAR(pace.rate, 0.02, 0.0005);
  EXPECT_LT(std::abs(pace.drift), 0.02);
}

TEST(Progress, SeesARateThatFalls) {
  const engine::Pace pace = pace_of(100, 100'000, [](double t) { return 40 * std::sqrt(t); });
  ASSERT_TRUE(pace.known);
  EXPECT_LT(pace.drift, -0.1);
  // The later half of what follows the ramp: four stretches of eleven chip-fulls.
  const double blocks = 4 * 11 * 100, first = (40 * std::sqrt(1e5) - blocks) / 40;
  EXPECT_NEAR(pace.rate, blocks / (1e5 - first * first), 0.01 * pace.rate);
}

TEST(Progress, CountsTheWorkOfBlocksThatHaveNotEnded) {
  // Blocks end a little faster than they are worked through, as when they fall out of step: 2 % more blocks than instructions.
  engine::Progress progress(100, 10, 1);
  for (Cycle now = 100; now <= 100'000; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.ended = static_cast<std::uint64_t>(0.0102 * static_cast<double>(now));
    moment.instructions = now / 10;
    progress.note(moment);
  }
  const engine::Pace pace = progress.pace();
  ASSERT_TRUE(pace.by_blocks);
  EXPECT_NEAR(pace.rate, 0.01, 1e-5);
}

/// Eight chip-fulls of 1,000 blocks after a ramp; the i-th takes 10,000 (1 + change(i)) cycles.
engine::Pace pace_of_fulls(const std::function<double(int)>& change) {
  std::vector<double> ends{0};
  for (int i = 0; i < 11; ++i) ends.push_back(ends.back() + (i < 3 ? 10'000 : 10'000 * (1 + change(i - 3))));
  return pace_of(1000, static_cast<Cycle>(ends.back()), [&](double t) {
    std::size_t i = 1;
    while (i + 1 < ends.size() && ends[i] < t) ++i;
    return 1000 * (static_cast<double>(i - 1) + (t - ends[i - 1]) / (ends[i] - ends[i - 1]));
  });
}

TEST(Progress, NeighboursThatAreAlikeSayLess) {
  const engine::Pace scattered = pace_of_fulls([](int i) { return i % 2 ? 0.02 : -0.02; });
  const engine::Pace waves = pace_of_fulls([](int i) { return i / 2 % 2 ? 0.02 : -0.02; });
  ASSERT_TRUE(scattered.by_blocks);
  EXPECT_NEAR(scattered.error, 0.02 / std::sqrt(7.0), 0.002);
  EXPECT_GT(waves.error, 1.1 * scattered.error);
}

TEST(Progress, TheDoubtIsStudentsAndHoldsADriftThatChanceDoesNotExplain) {
  const engine::Pace scattered = pace_of_fulls([](int i) { return i % 2 ? 0.02 : -0.02; });
  EXPECT_NEAR(scattered.doubt, 1.895 * scattered.error, 0.1 * scattered.error);
  const engine::Pace drifts = pace_of_fulls([](int i) { return i < 4 ? 0.0 : 0.05 + 0.001 * (i % 2); });
  EXPECT_GT(drifts.doubt, 1.5 * 1.895 * scattered.error);
  EXPECT_LT(drifts.drift, -0.04);
  EXPECT_GT(engine::student(2), engine::student(7));
  EXPECT_DOUBLE_EQ(engine::student(1000), 1.645);
}

TEST(Progress, GoesOnInStep) {
  // 100 blocks start together every 5,000 cycles; the last 30 blocks of 2,030 start with the twenty-first chip-full, at 100,000 cycles,
  // and not three tenths of the way to the next.
  engine::Progress progress(100, 10, 1);
  for (Cycle now = 100; now <= 48'000; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.ended = 100 * (now / 5000);
    moment.placed = moment.ended + 100;
    moment.instructions = now / 5;  // of a block 10 in 5,000 cycles
    progress.note(moment);
  }
  const engine::Pace pace = progress.pace();
  ASSERT_TRUE(pace.by_blocks);
  const engine::Continuation goes_on = progress.go_on(pace, 2030);
  EXPECT_NEAR(goes_on.placed, 100'000, 500);
  for (const double age : goes_on.ages) EXPECT_TRUE(age < 200 || age > 4800) << age;
}

TEST(Progress, KnowsNothingAtFirst) {
  EXPECT_FALSE(pace_of(100, 1'000, [](double t) { return t; }).known);
}

}  // namespace
}  // namespace foretrace::engine_tests
