// When a simulation may stop, as far as snapshots tell.
#include <gtest/gtest.h>

#include <functional>

#include "model/units/units.h"
#include "sim/sampling/convergence.h"

namespace foretrace::sampling_tests {
namespace {

constexpr double kL2 = 40e6, kDram = 1000;  // bytes; bytes per cycle
constexpr double kWork = 100;               // warp instructions of a block

sampling::Survey survey_of(double blocks) {
  sampling::Survey survey;
  survey.instructions = kWork * blocks;
  return survey;
}

/// Whether it settles within so many cycles at 100 warp instructions per cycle. `ends`: blocks end as they are worked through. `memory`:
/// what the memory system counted by then.
bool settles(const sampling::Survey& survey, Cycle until, bool ends,
             const std::function<void(double, stats::MemoryCounters&)>& memory, std::uint64_t wave = 1000) {
  sampling::ConvergenceMonitor monitor({.survey = &survey,
                                        .blocks = static_cast<std::uint64_t>(survey.instructions / kWork),
                                        .wave = wave,
                                        .dram_bytes = kDram,
                                        .l2_bytes = kL2,
                                        .look_from = 1000});
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Snapshot snapshot;
    snapshot.now = now;
    snapshot.instructions = 100 * now;
    snapshot.ended = ends ? now : 0;
    snapshot.placed = snapshot.ended + wave;
    memory(static_cast<double>(now), snapshot.memory);
    if (monitor.converged(snapshot)) return true;
  }
  return false;
}

/// Reads and writes 300 bytes per cycle each; what is written stays in L2 up to so many bytes and is then written back as fast.
std::function<void(double, stats::MemoryCounters&)> streaming(double dirty_most) {
  return [dirty_most](double now, stats::MemoryCounters& memory) {
    const double written = 300 * now, dirty = std::min(written, dirty_most);
    memory.dram_bytes_read = static_cast<std::uint64_t>(300 * now);
    memory.dirty_sectors_left = static_cast<std::uint64_t>(dirty / kSectorBytes);
    memory.dram_bytes_write = static_cast<std::uint64_t>(written - dirty);
  };
}

TEST(Convergence, ALaunchThatTouchesNoMemorySettles) {
  const sampling::Survey survey = survey_of(1e6);
  EXPECT_TRUE(settles(survey, 100'000, true, [](double, stats::MemoryCounters&) {}));
}

TEST(Convergence, WaitsUntilAsMuchIsWrittenBackAsIsWritten) {
  const sampling::Survey survey = survey_of(1e6);
  // Dirty data grow up to 12 MB, which takes 40,000 cycles; by then L2 has taken up 24 MB of its 40.
  EXPECT_FALSE(settles(survey, 40'000, true, streaming(12e6)));
  EXPECT_TRUE(settles(survey, 85'000, true, streaming(12e6)));
  // They go on growing: not before L2 has taken up 1.3 times its size, at 87,000 cycles.
  EXPECT_FALSE(settles(survey, 85'000, true, streaming(1e12)));
  EXPECT_TRUE(settles(survey, 110'000, true, streaming(1e12)));
}

TEST(Convergence, AFullerL2ChangesNoRateThatDramDoesNotBound) {
  const sampling::Survey survey = survey_of(1e6);
  const auto writing = [](double bytes) {  // a cycle; all of it stays in L2
    return [bytes](double now, stats::MemoryCounters& memory) {
      memory.dirty_sectors_left = static_cast<std::uint64_t>(bytes * now / kSectorBytes);
    };
  };
  // L2 takes up 12 MB of its 40 by then, and would be full before the launch's end at a million cycles.
  EXPECT_TRUE(settles(survey, 40'000, true, writing(0.29 * kDram)));
  EXPECT_FALSE(settles(survey, 40'000, true, writing(0.31 * kDram)));
}

TEST(Convergence, CostIsInstructionsAndWholeLinesAskedFor) {
  sampling::Survey survey = survey_of(10);
  EXPECT_EQ(sampling::cost_of(survey), 1000);
  survey.sums.l1_sectors_global_ld = 400;
  survey.sums.l1_sectors_global_st = 40;
  survey.sums.l1_sectors_global_red = 4;
  EXPECT_EQ(sampling::cost_of(survey), 1000 + 1.5 * 111);
}

TEST(Convergence, TheBeginningOfBlocksSpeaksForThemIfTheyGoOnAlike) {
  // No block ends: a wave is 100 million warp instructions, of which a tenth is seen.
  const auto nothing = [](double, stats::MemoryCounters&) {};
  sampling::Survey same = survey_of(5e6);
  for (int i = 0; i < 4000; ++i) same.profile.note(static_cast<std::uint32_t>(i % 10));
  EXPECT_TRUE(settles(same, 100'000, false, nothing, 1'000'000));
  sampling::Survey other = survey_of(5e6);
  for (int i = 0; i < 4000; ++i)
    other.profile.note(static_cast<std::uint32_t>(i < 2000 ? i % 10 : 10 + i % 10));
  EXPECT_FALSE(settles(other, 100'000, false, nothing, 1'000'000));
}

TEST(Convergence, BlocksThatAreNotInStepSpeakForLaterWavesIfL2HoldsWhatTheyUse) {
  // No block ends, and a wave is 100 million warp instructions. A wave brings so many bytes that are new, at 100 warp instructions per cycle.
  const sampling::Survey survey = survey_of(5e6);
  const auto settles_with = [&](double bytes_per_wave) {
    sampling::MonitoredLaunch launch{.survey = &survey,
                                     .blocks = 5'000'000,
                                     .wave = 1'000'000,
                                     .dram_bytes = kDram,
                                     .l2_bytes = kL2,
                                     .look_from = 1000,
                                     .in_step = false};
    sampling::ConvergenceMonitor monitor(launch);
    for (Cycle now = 100; now <= 50'000; now += 100) {
      gpu::Snapshot snapshot;
      snapshot.now = now;
      snapshot.instructions = 100 * now;
      snapshot.memory.dram_bytes_read =
          static_cast<std::uint64_t>(bytes_per_wave / 1e8 * static_cast<double>(snapshot.instructions));
      if (monitor.converged(snapshot)) return true;
    }
    return false;
  };
  EXPECT_TRUE(settles_with(0.39 * kL2));
  EXPECT_FALSE(settles_with(0.41 * kL2));
}

TEST(Convergence, BlocksThatAreNotInStepAndUseMoreThanL2HoldsNeverSpeak) {
  const sampling::Survey survey = survey_of(5e6);
  sampling::MonitoredLaunch launch{
      .survey = &survey, .blocks = 10, .wave = 5, .dram_bytes = 1, .l2_bytes = kL2};
  gpu::Snapshot snapshot;
  snapshot.memory.dram_bytes_read = static_cast<std::uint64_t>(0.5 * kL2);
  EXPECT_FALSE(sampling::ConvergenceMonitor(launch).hopeless(snapshot));
  launch.in_step = false;
  EXPECT_FALSE(sampling::ConvergenceMonitor(launch).hopeless(snapshot));
  ++snapshot.memory.dram_bytes_read;
  EXPECT_TRUE(sampling::ConvergenceMonitor(launch).hopeless(snapshot));
}

TEST(Convergence, WholeWavesAreSkippedAndOneIsLeft) {
  const sampling::Survey survey = survey_of(10'050);
  const sampling::ConvergenceMonitor monitor(
      {.survey = &survey, .blocks = 10'050, .wave = 100, .dram_bytes = 1, .l2_bytes = 1});
  gpu::Snapshot snapshot;
  snapshot.placed = 1'020;
  EXPECT_EQ(monitor.blocks_to_skip(snapshot),
            8'900u);                 // 9,030 are left: 89 waves, and 130 blocks for the end
  snapshot.placed = 10'050 - 1'600;  // 15 waves may go, 0.15 of the launch is 1,507.5 blocks
  EXPECT_EQ(monitor.blocks_to_skip(snapshot), 0u);
  snapshot.placed = 10'050 - 1'700;
  EXPECT_EQ(monitor.blocks_to_skip(snapshot), 1'600u);
  snapshot.placed = 10'050;
  EXPECT_EQ(monitor.blocks_to_skip(snapshot), 0u);
}

TEST(Convergence, SeesTheChipAsItIs) {
  const sampling::Survey survey = survey_of(10);
  spec::GpuSpec chip;
  chip.dram.channels = 8;
  chip.dram.channel_bytes = 16;
  chip.clock.dram = 500;
  chip.clock.sm = 1000;
  chip.l2.bytes = 4096;
  const sampling::MonitoredLaunch launch = sampling::monitored(survey, chip, 100, 40);
  EXPECT_EQ(launch.blocks, 100u);
  EXPECT_EQ(launch.wave, 40u);
  EXPECT_EQ(launch.dram_bytes, 64);
  EXPECT_EQ(launch.l2_bytes, 4096);
  EXPECT_EQ(sampling::monitored(survey, chip, 100, 400).wave, 100u);
}

/// Whether a launch of a million blocks, one per cycle, settles at its looks from this share of it on, up to another share. `done`: warp
/// instructions by a cycle.
bool settles_between(double first, double last, const std::function<double(double)>& done,
                     const std::function<double(double)>& read) {
  const sampling::Survey survey = survey_of(1e6);
  sampling::ConvergenceMonitor monitor({.survey = &survey,
                                        .blocks = 1'000'000,
                                        .wave = 1000,
                                        .dram_bytes = kDram,
                                        .l2_bytes = 1,  // is full at once
                                        .look_from = first * survey.instructions});
  for (Cycle now = 500; static_cast<double>(now) <= last * 1e6; now += 500) {
    gpu::Snapshot snapshot;
    snapshot.now = now;
    snapshot.instructions = static_cast<std::uint64_t>(done(static_cast<double>(now)));
    snapshot.ended = snapshot.instructions / 100;
    snapshot.memory.dram_bytes_read = static_cast<std::uint64_t>(read(static_cast<double>(now)));
    if (monitor.converged(snapshot)) return true;
  }
  return false;
}

TEST(Convergence, ALaunchThatIsNearlyDoneGoesOnToItsEnd) {
  const auto steady = [](double now) { return 100 * now; };
  const auto nothing = [](double) { return 0.0; };
  EXPECT_TRUE(settles_between(0.84, 1, steady, nothing));
  EXPECT_FALSE(settles_between(0.86, 1, steady, nothing));
}

TEST(Convergence, WhatStillChangesMattersByWhatIsLeft) {
  // DRAM's traffic rises all the time: the later half of what was seen has 0.17 x (share done) of DRAM's rate more than the earlier.
  const auto steady = [](double now) { return 100 * now; };
  const auto rises = [](double now) { return 0.17 / 375 * now * now / 2; };
  EXPECT_FALSE(settles_between(0.5, 0.7, steady, rises));
  EXPECT_TRUE(settles_between(0.84, 0.9, steady, rises));
  // So does a rate that falls, by a sixth up to the end.
  const auto falls = [](double now) { return 100 * (now - 1.8e-7 * now * now / 2); };
  const auto nothing = [](double) { return 0.0; };
  EXPECT_FALSE(settles_between(0.5, 0.6, falls, nothing));
  EXPECT_TRUE(settles_between(0.8, 0.9, falls, nothing));
}

TEST(Convergence, SmallWavesAreSeenToTheirEnd) {
  const auto nothing = [](double, stats::MemoryCounters&) {};
  sampling::Survey same = survey_of(1e6);
  for (int i = 0; i < 4000; ++i) same.profile.note(static_cast<std::uint32_t>(i % 10));
  // Ten waves of 10 million warp instructions, of which no block ends: nothing is believed.
  EXPECT_FALSE(settles(same, 800'000, false, nothing, 100'000));
  // Three of 31 million: when a quarter of the second has been seen.
  EXPECT_FALSE(settles(same, 385'000, false, nothing, 310'000));
  EXPECT_TRUE(settles(same, 600'000, false, nothing, 310'000));
  // Five of 20 million: few, so that the first speaks. Seven of 43 million: many, but large.
  EXPECT_FALSE(settles(same, 249'000, false, nothing, 200'000));
  EXPECT_TRUE(settles(same, 400'000, false, nothing, 200'000));
  sampling::Survey large = survey_of(3e6);
  large.profile = same.profile;
  EXPECT_FALSE(settles(large, 530'000, false, nothing, 430'000));
  EXPECT_TRUE(settles(large, 800'000, false, nothing, 430'000));
}

TEST(PhaseProfile, ChangeIsTheShareOfOtherInstructions) {
  sampling::PhaseProfile profile;
  EXPECT_EQ(profile.change(0, 0.5), 0);
  for (std::uint32_t i = 0; i < 131'072; ++i)
    profile.note(i < 65'536 ? i % 4 : 2 + i % 4);  // half of them are others
  EXPECT_NEAR(profile.change(0, 0.5), 0.5, 0.01);
  EXPECT_NEAR(profile.change(0.5, 0.75), 0, 0.02);
  EXPECT_EQ(profile.change(0, 1), 0);
}

}  // namespace
}  // namespace foretrace::sampling_tests
