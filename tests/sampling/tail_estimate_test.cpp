// The estimate of a whole launch from a part whose rate is known.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/sampling/constants.h"
#include "sim/sampling/tail_estimate.h"

namespace foretrace::sampling_tests {
namespace {

constexpr std::uint64_t kWave = 20;
constexpr double kTime = 5000, kWork = 1000;  // of a block: cycles, warp instructions

sampling::Survey survey_of(std::uint64_t blocks, double relative_error = 0) {
  sampling::Survey survey;
  survey.instructions = kWork * static_cast<double>(blocks);
  survey.relative_error = relative_error;
  return survey;
}

/// 20 blocks in 5,000 cycles.
sampling::SteadyRate steady(double doubt = 0) {
  sampling::SteadyRate rate;
  rate.known = rate.by_blocks = true;
  rate.rate = static_cast<double>(kWave) / kTime;
  rate.instructions = rate.rate * kWork;
  rate.doubt = doubt;
  rate.from.now = 10'000;
  rate.to.now = 30'000;
  rate.from.instructions = 40'000;
  rate.to.instructions = 120'000;
  return rate;
}

TEST(AfterGap, TheGapTakesItsBlocksTimeAtTheSteadyRate) {
  const sampling::Gap gap{.blocks = 800, .first = 120, .count = 600};
  const sampling::TailEstimate end = sampling::after_gap(survey_of(800), steady(), gap, 50'000, kWave);
  EXPECT_DOUBLE_EQ(end.cycles, 50'000 + 600 / kWave * kTime);
  EXPECT_EQ(end.idle, 0);
  const double gap_error = std::hypot(sampling::kNine * sampling::kGapError * kTime,
                                      sampling::kNine * sampling::kSkippedError * 600 / kWave * kTime);
  EXPECT_NEAR(end.high - end.cycles, gap_error, 1e-6);
  EXPECT_NEAR(end.cycles - end.low, gap_error, 1e-6);
}

TEST(AfterGap, TheRatesDoubtAndTheSurveysErrorAreInTheInterval) {
  const sampling::Gap gap{.blocks = 8000, .first = 120, .count = 7600};
  const double skipped = 7600 / kWave * kTime;
  const double gap_error = std::hypot(sampling::kNine * sampling::kGapError * kTime,
                                      sampling::kNine * sampling::kSkippedError * skipped);
  const auto half_width = [&](double doubt, double relative_error) {
    const sampling::TailEstimate end =
        sampling::after_gap(survey_of(8000, relative_error), steady(doubt), gap, 50'000, kWave);
    return (end.high - end.low) / 2;
  };
  EXPECT_NEAR(half_width(0.01, 0), std::hypot(gap_error, 0.01 * skipped), 1e-6);
  EXPECT_NEAR(half_width(0, 0.01), std::hypot(gap_error, sampling::kNine * 0.01 * skipped), 1e-6);
}

TEST(AfterGap, BlocksOfTheGapCountWithTheirOwnWork) {
  sampling::Survey survey = survey_of(800);
  survey.uniform = false;
  for (std::uint64_t i = 0; i < 80; ++i) survey.sample.push_back({10 * i + 5, i < 40 ? 500u : 1500u});
  // Of the blocks 200 to 600 half have half a mean block's work, and half one and a half.
  const auto skipped = [&](std::uint64_t first, std::uint64_t count) {
    return sampling::after_gap(survey, steady(), {.blocks = 800, .first = first, .count = count}, 0, kWave)
        .cycles;
  };
  EXPECT_NEAR(skipped(200, 400), 400 / kWave * kTime, 200);
  EXPECT_NEAR(skipped(100, 200), 0.5 * 200 / kWave * kTime, 200);
  EXPECT_NEAR(skipped(500, 200), 1.5 * 200 / kWave * kTime, 200);
}

TEST(WorkAlongGrid, IsOfTheNearestBlockOfTheSampleAndItsMeanIsOne) {
  sampling::Survey survey;
  survey.uniform = false;
  for (std::uint64_t i = 0; i < 8; ++i) survey.sample.push_back({3 * i, 10 * (i + 1)});
  const std::vector<double> along = sampling::work_along_grid(survey, 24);
  ASSERT_EQ(along.size(), 24u);
  // Block 0 speaks for itself, block 21 for the last five, each other for the one before it, itself and the next.
  const double mean = (10 + 3 * (20 + 30 + 40 + 50 + 60 + 70) + 5 * 80) / 24.0;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const double nearest = i == 0 ? 10 : std::min<double>(80, 10 * (static_cast<double>((i + 2) / 3) + 1));
    EXPECT_DOUBLE_EQ(along[i], nearest / mean) << i;
  }
  EXPECT_EQ(sampling::work_along_grid(survey, 1'000'000).size(), sampling::kPlacesOfWork.whole());
}

TEST(WorkAlongGrid, IsNotSaidOfEqualBlocksFewSamplesOrNoWork) {
  sampling::Survey survey;
  survey.uniform = false;
  survey.sample.assign(7, {0, 10});
  EXPECT_TRUE(sampling::work_along_grid(survey, 100).empty());
  survey.sample.assign(8, {0, 0});
  EXPECT_TRUE(sampling::work_along_grid(survey, 100).empty());
  survey.sample.assign(8, {0, 10});
  EXPECT_FALSE(sampling::work_along_grid(survey, 100).empty());
  survey.uniform = true;
  EXPECT_TRUE(sampling::work_along_grid(survey, 100).empty());
}

TEST(AfterGap, WhatL2CannotKeepUpWithIsWaitedFor) {
  // A block leaves 10 reductions; L2 serves 0.02 per cycle of the 0.04 that 20 blocks in 5,000 cycles ask for.
  const auto cycles = [](double served_per_cycle) {
    sampling::Survey survey = survey_of(800);
    survey.sums.l1_sectors_global_red = 8000;
    sampling::SteadyRate rate = steady();
    const auto count = [&](gpu::Snapshot& at) {
      at.memory.tex_sectors_reduction = static_cast<std::uint64_t>(0.04 * static_cast<double>(at.now));
      at.memory.tex_sectors_hit = static_cast<std::uint64_t>(served_per_cycle * static_cast<double>(at.now));
    };
    count(rate.from);
    count(rate.to);
    return sampling::after_gap(survey, rate, {.blocks = 800, .first = 120, .count = 600}, 50'000, kWave)
        .cycles;
  };
  EXPECT_NEAR(cycles(0.04), 200'000, 1);
  EXPECT_NEAR(cycles(0.02), 8000 / 0.02, 0.01 * 8000 / 0.02);
}

/// Of 800,000 instructions: L2 serves 5,000 of 9,400 sectors in 20,000 cycles.
void leave_stores_behind(sampling::Survey& survey, sampling::SteadyRate& rate) {
  survey.instructions = 800'000;
  survey.sums.l1_sectors_global_red = 10'000;
  const auto count = [](stats::MemoryCounters& m, std::uint64_t times) {
    m.tex_sectors_read = 1000 * times;
    m.tex_sectors_atomic = 200 * times;
    m.tex_sectors_write = 3000 * times;
    m.tex_sectors_reduction = 500 * times;
    m.tex_sectors_hit = 1700 * times;
    m.tex_sectors_miss = 800 * times;
  };
  count(rate.from.memory, 1);
  count(rate.to.memory, 3);
}
// 9,000 sectors were stored, and 6,000 more with each 80,000 of the 680,000 instructions that are left; with those of the reductions they
// are 70,000, of which L2 has served 7,500 less the 3,600 that were waited for.
constexpr double kStoresServed = 30'000 + (70'000 - (7500 - 3600)) / 5000.0 * 20'000;

TEST(AfterGap, StoresAndReductionsLeftBehindAreServedAtL2sRate) {
  sampling::Survey survey;
  sampling::SteadyRate rate = steady();
  leave_stores_behind(survey, rate);
  const auto idle = [&] {
    const sampling::TailEstimate end =
        sampling::after_gap(survey, rate, {.blocks = 800, .first = 120, .count = 0}, 50'000, kWave);
    EXPECT_EQ(end.cycles, 50'000 + end.idle);
    return end.idle;
  };
  EXPECT_NEAR(idle(), kStoresServed - 50'000, 1e-6);
  // With 89% of what is asked L2 does not keep up, with 91% it does.
  rate.to.memory.tex_sectors_hit = rate.from.memory.tex_sectors_hit + 8366 - 1600;
  EXPECT_GT(idle(), 0);
  rate.to.memory.tex_sectors_hit += 188;
  EXPECT_EQ(idle(), 0);
  rate.to.memory = rate.from.memory;  // nothing was served: no rate
  rate.to.memory.tex_sectors_write += 1;
  EXPECT_EQ(idle(), 0);
}

/// 2,001 blocks on a chip of 20: the last runs alone, for half of its time if it had shared what it is bound by (block_queue_test).
sampling::BlockQueue one_more_than_waves() {
  sampling::BlockQueue queue{.blocks = 2001, .sms = 10, .per_sm = 2, .work = {}};
  queue.spread = 0;
  return queue;
}
constexpr double kShared = 0.45 * kTime, kApart = 0.95 * kTime;  // what the end adds

spec::LaunchSpec ending() {
  spec::LaunchSpec launch{};
  launch.block_end = 100;
  launch.drain = 30;
  return launch;
}

TEST(WithinWave, WhatIsLeftTheEndAndTheirDoubts) {
  sampling::SteadyRate rate = steady(0.01);
  const double left = (2'001'000 - 120'000) / 4.0;
  const sampling::TailEstimate end =
      sampling::within_wave(survey_of(2001, 0.02), rate, 31'000, one_more_than_waves(), ending());
  EXPECT_NEAR(end.cycles, 31'000 + left + (kShared + kApart) / 2 + 130, 1e-6);
  EXPECT_NEAR(end.idle, (kShared + kApart) / 4 + 130, 1e-6);
  const double doubt =
      std::hypot(std::hypot(0.01 * left, sampling::kNine * sampling::kWithinBlocks * left),
                 std::hypot(sampling::kNine * (kApart - kShared) / 2, sampling::kNine * 0.02 * left));
  EXPECT_NEAR(end.high - end.cycles, doubt, 1e-6);
  EXPECT_NEAR(end.cycles - end.low, doubt, 1e-6);
}

TEST(WithinWave, StoresLeftBehindAreWaitedFor) {
  sampling::Survey survey;
  sampling::SteadyRate rate = steady();
  leave_stores_behind(survey, rate);
  EXPECT_NEAR(sampling::within_wave(survey, rate, 31'000, one_more_than_waves(), ending()).cycles,
              kStoresServed + 130, 1e-6);
}

TEST(WithinWave, TheIntervalIsWideAndTheEndIsPlayedThrough) {
  const sampling::BlockQueue queue{.blocks = 2000, .sms = 10, .per_sm = 2, .work = {}};
  sampling::SteadyRate rate = steady();
  rate.by_blocks = false;
  rate.from.instructions = 0;
  rate.to.instructions = static_cast<std::uint64_t>(kWave * kWork) - 1;
  const sampling::TailEstimate end =
      sampling::within_wave(survey_of(2000), rate, 5'000, queue, spec::LaunchSpec{});
  EXPECT_NEAR(end.cycles, 2000 / kWave * kTime, kTime);
  const double left = (2000 * kWork - kWave * kWork) / rate.instructions;
  EXPECT_GE(end.high - end.cycles, sampling::kNine * sampling::kUnseenWaves * left);
  EXPECT_LT(end.low, end.cycles);
  // From the first wave's end on, what later waves do has been seen.
  rate.to.instructions = static_cast<std::uint64_t>(kWave * kWork);
  const sampling::TailEstimate seen =
      sampling::within_wave(survey_of(2000), rate, 5'000, queue, spec::LaunchSpec{});
  EXPECT_LT(seen.high - seen.cycles, 0.5 * sampling::kNine * sampling::kUnseenWaves * left);
}

TEST(WithinWave, WhereAllBlocksRunAtOnceNoLaterWaveIsUnseen) {
  sampling::SteadyRate rate = steady();
  rate.by_blocks = false;
  const auto half = [&](std::uint64_t blocks) {
    const sampling::BlockQueue queue{.blocks = blocks, .sms = 10, .per_sm = 2, .work = {}};
    const sampling::TailEstimate end =
        sampling::within_wave(survey_of(2000), rate, 30'000, queue, spec::LaunchSpec{});
    return (end.high - end.cycles) / ((2000 * kWork - 120'000) / rate.instructions);
  };
  EXPECT_GE(half(20), sampling::kNine * sampling::kWithinBlocks);
  EXPECT_LT(half(20), sampling::kNine * sampling::kUnseenWaves);
  EXPECT_GE(half(21), sampling::kNine * sampling::kUnseenWaves);
}

TEST(FirstAndLater, TheFirstWaveGoesAtOneRateAndTheOthersAtTheOther) {
  const sampling::BlockQueue queue{.blocks = 2000, .sms = 10, .per_sm = 2, .work = {}};
  sampling::SteadyRate first = steady(), later = steady();
  first.rate /= 2;
  first.instructions /= 2;
  const auto estimate = [&] {
    return sampling::first_and_later(survey_of(2000), first, later, queue, spec::LaunchSpec{});
  };
  const double waves = 2000 / kWave;
  const sampling::TailEstimate end = estimate();
  EXPECT_NEAR(end.cycles, (waves + 1) * kTime, kTime);
  first = later;
  const sampling::TailEstimate alike = estimate();
  EXPECT_NEAR(end.cycles - alike.cycles, kTime, 1e-6);
  EXPECT_GE(alike.high - alike.cycles, sampling::kNine * sampling::kLaterWaves * (waves - 1) * kTime);
  EXPECT_NEAR(std::pow(end.high - end.cycles, 2),
              std::pow(alike.high - alike.cycles, 2) + std::pow(sampling::kNine * kTime / 2, 2), 1);
  later.doubt = 0.2;
  const sampling::TailEstimate doubted = estimate();
  EXPECT_GT(doubted.high - doubted.cycles, 0.2 * (waves - 1) * kTime);
}

TEST(FirstAndLater, TheWavesTheEndAndTheirDoubts) {
  sampling::SteadyRate first = steady(), later = steady(0.01);
  first.instructions /= 2;
  const sampling::TailEstimate end =
      sampling::first_and_later(survey_of(2001, 0.02), first, later, one_more_than_waves(), ending());
  const double begins = 20'000 / 2.0, left = (2'001'000 - 20'000) / 4.0;
  EXPECT_NEAR(end.cycles, begins + left + (kShared + kApart) / 2 + 130, 1e-6);
  EXPECT_NEAR(end.idle, (kShared + kApart) / 4 + 130, 1e-6);
  const double doubt =
      std::hypot(std::hypot(0.01 * left, sampling::kNine * sampling::kLaterWaves * left),
                 std::hypot(sampling::kNine * (kApart - kShared) / 2, sampling::kNine * (begins - 5000) / 2),
                 sampling::kNine * 0.02 * left);
  EXPECT_NEAR(end.high - end.cycles, doubt, 1e-6);
  EXPECT_NEAR(end.cycles - end.low, doubt, 1e-6);
  sampling::Survey survey;
  leave_stores_behind(survey, later);
  EXPECT_NEAR(sampling::first_and_later(survey, first, later, one_more_than_waves(), ending()).cycles,
              kStoresServed + 130, 1e-6);
}

}  // namespace
}  // namespace foretrace::sampling_tests
