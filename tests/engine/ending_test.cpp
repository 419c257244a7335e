// The estimate of a whole launch from a part whose course is known.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/engine/ending.h"

namespace foretrace::engine_tests {
namespace {

constexpr std::uint64_t kSms = 10;
constexpr std::uint32_t kPerSm = 2;
constexpr double kTime = 5000, kWork = 1000;  // of a block: cycles, warp instructions

engine::Survey survey_of(std::uint64_t blocks, double relative_error = 0) {
  engine::Survey survey;
  survey.instructions = kWork * static_cast<double>(blocks);
  survey.relative_error = relative_error;
  return survey;
}

engine::TailSetup tail_of(std::uint64_t blocks, double shared) {
  engine::TailSetup tail;
  tail.blocks = blocks;
  tail.sms = kSms;
  tail.per_sm = kPerSm;
  tail.shared = shared;
  return tail;
}

/// Simulated so far: chip-fulls (of `held` blocks) that run in step, without a pause.
engine::Progress in_step(std::uint64_t held, Cycle until) {
  engine::Progress progress(held, kWork, 1);
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.ended = held * (now / static_cast<Cycle>(kTime));
    moment.placed = moment.ended + held;
    moment.instructions = static_cast<std::uint64_t>(static_cast<double>(held * now) * kWork / kTime);
    progress.note(moment);
  }
  return progress;
}

engine::Ending ending_of(std::uint64_t blocks, double shared, Cycle until = 32'000) {
  const engine::Progress progress = in_step(std::min<std::uint64_t>(blocks, kSms * kPerSm), until);
  return engine::ending(survey_of(blocks), progress, progress.pace(), tail_of(blocks, shared),
                        spec::LaunchSpec{});
}

TEST(Ending, BlocksInStepEndInStep) {
  EXPECT_NEAR(ending_of(20 * 40, 0).cycles, 40 * kTime, 0.1 * kTime);
  // One block more is one round more where a block goes at its own pace.
  EXPECT_NEAR(ending_of(20 * 40 + 1, 0).cycles, 41 * kTime, 0.1 * kTime);
  const engine::Ending end = ending_of(20 * 40, 0);
  EXPECT_LT(end.low, 40 * kTime);
  EXPECT_GT(end.high, 40 * kTime);
}

TEST(Ending, BlocksThatWereAllPlacedAreOnlyWaitedFor) {
  // Stopped 2,000 cycles after the seventh and last chip-full was placed.
  EXPECT_NEAR(ending_of(20 * 7, 0).cycles, 7 * kTime, 0.1 * kTime);
}

TEST(Ending, ALaunchThatDoesNotFillTheChipTakesABlocksTime) {
  // 5 blocks where 20 fit, stopped half way: a block takes 5,000 cycles, not the 20,000 that a full chip would need at that rate.
  const engine::Ending end = ending_of(5, 1, 2'500);
  EXPECT_GT(end.cycles, kTime);
  EXPECT_LT(end.cycles, 1.3 * kTime);
}

TEST(Ending, WhatL2CannotKeepUpWithIsWaitedFor) {
  // A block leaves 10 reductions; L2 serves 0.02 a cycle of the 0.04 that 20 blocks in 5,000 cycles ask for.
  const auto cycles = [](double served_a_cycle) {
    engine::Survey survey = survey_of(800);
    survey.sums.l1_sectors_global_red = 8000;
    engine::Progress progress(kSms * kPerSm, kWork, 1);
    for (Cycle now = 100; now <= 32'000; now += 100) {
      gpu::Moment moment;
      moment.now = now;
      moment.ended = 20 * (now / static_cast<Cycle>(kTime));
      moment.placed = moment.ended + 20;
      moment.instructions = 4 * now;
      moment.memory.tex_sectors_reduction = static_cast<std::uint64_t>(0.04 * static_cast<double>(now));
      moment.memory.tex_sectors_hit = static_cast<std::uint64_t>(served_a_cycle * static_cast<double>(now));
      progress.note(moment);
    }
    return engine::ending(survey, progress, progress.pace(), tail_of(800, 0), spec::LaunchSpec{}).cycles;
  };
  EXPECT_NEAR(cycles(0.04), 40 * kTime, 0.1 * kTime);
  EXPECT_NEAR(cycles(0.02), 8000 / 0.02, 0.01 * 8000 / 0.02);
}

TEST(Ending, TheSurveysErrorIsInTheInterval) {
  const engine::Progress progress = in_step(20, 2'500);  // no block has ended: by warp instructions
  ASSERT_FALSE(progress.pace().by_blocks);
  const auto width = [&](double relative_error) {
    const engine::Ending end = engine::ending(survey_of(2000, relative_error), progress, progress.pace(),
                                              tail_of(2000, 1), spec::LaunchSpec{});
    return (end.high - end.low) / 2 / end.cycles;
  };
  EXPECT_GT(width(0.05), 1.6 * 0.05);
  EXPECT_LT(width(0), 0.03);
}

}  // namespace
}  // namespace foretrace::engine_tests
