// When a simulation counts as settled.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sim/engine/progress.h"

namespace foretrace::engine_tests {
namespace {

/// Moments of a launch with `ended(t)` blocks of 10 instructions, one every 100 cycles.
engine::Pace pace_of(std::uint64_t chip_full, Cycle until, const std::function<double(double)>& ended, double instructions_a_cycle = 0) {
  engine::Progress progress(chip_full, 1);
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.ended = static_cast<std::uint64_t>(ended(static_cast<double>(now)));
    moment.instructions = instructions_a_cycle > 0 ? static_cast<std::uint64_t>(instructions_a_cycle * static_cast<double>(now))
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
  const engine::Pace pace = pace_of(100'000, 50'000, [](double) { return 0.0; }, 40);
  ASSERT_TRUE(pace.known);
  EXPECT_FALSE(pace.by_blocks);
  EXPECT_NEAR(pace.rate, 40, 1e-6);
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

TEST(Progress, KnowsNothingAtFirst) { EXPECT_FALSE(pace_of(100, 1'000, [](double t) { return t; }).known); }

}  // namespace
}  // namespace foretrace::engine_tests
