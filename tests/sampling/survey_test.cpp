// What a survey says of a grid, beside what all its blocks do.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/emulate/schedule/block_stream.h"
#include "sim/sampling/survey.h"
#include "tests/engine/launches.h"

namespace foretrace::sampling_tests {
namespace {

using namespace engine_tests;

sampling::Survey survey_of(Launch& launch, std::uint64_t budget = 1'000'000) {
  const sm::StaticProgram program(launch.shape().program, *launch.chip);
  return sampling::survey(launch.assembled.context, program, *launch.chip, budget);
}

/// Warp instructions of all blocks.
double executed(Launch& launch) {
  const emulate::Emulator emulator(launch.assembled.context);
  std::uint64_t sum = 0;
  for (std::uint64_t block = 0; block < emulator.blocks(); ++block)
    sum += emulator.run_block(block, nullptr).instructions;
  return static_cast<double>(sum);
}

TEST(Survey, IsExactWhereBlocksOfAClassAreTheSame) {
  constexpr std::uint32_t kBlocks = 1000,
                          kWords = kBlocks * 128 - 70;  // the last block is cut short within its second warp
  Launch launch(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kWords), kWords);
  launch.set_word(4, kWords);
  const sampling::Survey survey = survey_of(launch);
  ASSERT_TRUE(survey.possible);
  EXPECT_TRUE(survey.uniform);
  EXPECT_EQ(survey.relative_error, 0);
  EXPECT_EQ(survey.instructions, executed(launch));
  EXPECT_EQ(survey.sums.inst_executed, static_cast<std::uint64_t>(survey.instructions));
  EXPECT_EQ(survey.sums.blocks, kBlocks);
  EXPECT_EQ(survey.sums.inst_global_st, kBlocks * 4u - 2u);  // the last two warps have left
  EXPECT_EQ(survey.sums.l1_sectors_global_ld, (kWords + 7) / 8);
  EXPECT_LT(survey.sample.size(), 300u);
}

TEST(Survey, LeavesMemoryAsItWas) {
  Launch launch(kDouble, 64, 128, std::vector<std::uint32_t>(64 * 128, 7), 64 * 128);
  launch.set_word(4, 64 * 128);
  survey_of(launch);
  EXPECT_EQ(launch.assembled.read(launch.out, 64 * 128), std::vector<std::uint32_t>(64 * 128, 0));
}

TEST(Survey, CoversAGridWhoseBlocksDiffer) {
  constexpr std::uint32_t kBlocks = 20'000;
  std::vector<std::uint32_t> rounds(kBlocks);
  for (std::uint32_t i = 0; i < kBlocks; ++i) rounds[i] = i < kBlocks * 2 / 3 ? 20 + i * 2654435761u % 80 : 1;
  Launch launch(kCountDown, kBlocks, 32, rounds, kBlocks);
  const sampling::Survey survey = survey_of(launch, 400'000);
  ASSERT_TRUE(survey.possible);
  EXPECT_FALSE(survey.uniform);
  EXPECT_LT(survey.executed,
            2'300'000u);  // five times the budget and a little, since so little does not tell enough
  EXPECT_GT(survey.executed, 400'000u);
  EXPECT_GT(survey.relative_error, 0);
  const double all = executed(launch);
  EXPECT_LT(std::abs(survey.instructions - all), 4 * survey.relative_error * all);
  EXPECT_NEAR(survey.instructions / all, 1, 0.02);
}

TEST(Survey, SeesThatBlocksDependOnThoseBefore) {
  // Every block counts down from its word and clears the word after: a block on its own finds what the grid began with.
  const char* const text = R"(
  S2R R0, SR_CTAID.X
  MOV R9, 0x4
  IMAD.WIDE R2, R0, R9, c[0x0][0x160]
  LDG.E R6, [R2.64]
  STG.E [R2.64+0x4], RZ
  L:
  IADD3 R6, R6, -0x1, RZ
  ISETP.GT.AND P0, PT, R6, RZ, PT
  @P0 BRA `(L)
  EXIT
)";
  std::vector<std::uint32_t> rounds(1001);
  for (std::uint32_t i = 0; i < rounds.size(); ++i) rounds[i] = 2 + i % 7;
  Launch chain(text, 1000, 32, rounds, 1);
  EXPECT_TRUE(survey_of(chain).dependent);
  Launch alone(kCountDown, 1000, 32, rounds, 1000);
  EXPECT_FALSE(survey_of(alone).dependent);
  EXPECT_GT(survey_of(alone).spread, 0.1);
}

TEST(Survey, SaysWhenBlocksWaitForEachOther) {
  // Every block waits until the one before has written its word; a block on its own waits for ever.
  Launch launch(R"(
  S2R R0, SR_CTAID.X
  MOV R9, 0x4
  IMAD.WIDE R2, R0, R9, c[0x0][0x160]
  L:
  LDG.E.STRONG.GPU R6, [R2.64]
  ISETP.EQ.AND P0, PT, R6, RZ, PT
  @P0 BRA `(L)
  MOV R7, 0x1
  STG.E.STRONG.GPU [R2.64+0x4], R7
  EXIT
)",
                100, 32,
                [] {
                  std::vector<std::uint32_t> words(101);
                  words[0] = 1;
                  return words;
                }(),
                1);
  const sampling::Survey survey = survey_of(launch);
  EXPECT_FALSE(survey.possible);
  EXPECT_NE(survey.obstacle.find("wait for each other"), std::string::npos) << survey.obstacle;
}

TEST(TypicalBlock, CountsUpToItsLimit) {
  Launch launch(kCountDown, 5, 64, std::vector<std::uint32_t>(5, 1000), 5);
  EXPECT_EQ(sampling::typical_block(launch.assembled.context, 1'000'000), 2u * (7 + 3 * 1000));
  EXPECT_EQ(sampling::typical_block(launch.assembled.context, 100), 100u);
}

TEST(BlockStream, ReadsAsTheWholeRecordDoes) {
  Launch launch(kCountDown, 1, 64, {3000}, 1);
  const emulate::Emulator emulator(launch.assembled.context);
  work::BlockRecord whole;
  emulator.run_block(0, &whole);
  emulate::BlockStream stream(emulator, 0);
  const work::Shapes shapes(launch.assembled.program);
  for (std::uint32_t warp = 0; warp < 2; ++warp) {
    work::WarpCursor expected(shapes, whole.warps[warp]), read;
    work::Step a, b;
    int parts = 0;
    while (const work::WarpRecord* part = stream.next(warp)) {
      if (parts++ == 0) {
        read = work::WarpCursor(shapes, *part);
      } else {
        read.go_on_with(*part);
      }
      while (read.next(b)) {
        ASSERT_TRUE(expected.next(a));
        ASSERT_EQ(a.index, b.index);
        ASSERT_EQ(a.executed, b.executed);
        if (shapes.of[a.index].addresses) { ASSERT_EQ(expected.pattern(0), read.pattern(0)); }
      }
    }
    EXPECT_GT(parts, 5);
    EXPECT_FALSE(expected.next(a));
  }
}

/// Instruction indices that are read of a warp.
std::vector<std::uint32_t> read_of(emulate::BlockStream& stream, const work::Shapes& shapes,
                                   std::uint32_t warp) {
  std::vector<std::uint32_t> indices;
  work::WarpCursor cursor;
  bool first = true;
  while (const work::WarpRecord* part = stream.next(warp)) {
    if (std::exchange(first, false)) {
      cursor = work::WarpCursor(shapes, *part);
    } else {
      cursor.go_on_with(*part);
    }
    for (work::Step step; cursor.next(step);) indices.push_back(step.index);
  }
  return indices;
}

TEST(BlockStream, BeginsPartWay) {
  Launch launch(kCountDown, 1, 64, {30'000}, 1);
  const emulate::Emulator emulator(launch.assembled.context);
  const work::Shapes shapes(launch.assembled.program);
  emulate::BlockStream whole(emulator, 0), rest(emulator, 0, 60'000);
  for (std::uint32_t warp = 0; warp < 2; ++warp) {
    const std::vector<std::uint32_t> all = read_of(whole, shapes, warp), end = read_of(rest, shapes, warp);
    ASSERT_LT(end.size(), all.size());
    EXPECT_NEAR(static_cast<double>(all.size() - end.size()), 30'000, 512);
    EXPECT_TRUE(std::equal(end.begin(), end.end(), all.end() - static_cast<std::ptrdiff_t>(end.size())));
  }
}

TEST(BlockStream, BeginsSoThatEachWarpHasSomethingLeft) {
  Launch launch(kCountDown, 1, 64, {3000}, 1);
  const emulate::Emulator emulator(launch.assembled.context);
  const work::Shapes shapes(launch.assembled.program);
  emulate::BlockStream all_but_nothing(emulator, 0, 1'000'000);
  for (std::uint32_t warp = 0; warp < 2; ++warp) EXPECT_FALSE(read_of(all_but_nothing, shapes, warp).empty());
}

TEST(BlockStream, BeginsBetweenBarriersForAllWarps) {
  // A loop with a barrier in each round: what is left holds as many barriers of the one warp as of the other.
  Launch launch(R"(
  MOV R6, 0x800
  L:
  IADD3 R6, R6, -0x1, RZ
  BAR.SYNC 0x0
  ISETP.GT.AND P0, PT, R6, RZ, PT
  @P0 BRA `(L)
  EXIT
)",
                1, 64, {0}, 1);
  constexpr std::uint32_t kBarrier = 2;
  const emulate::Emulator emulator(launch.assembled.context);
  const work::Shapes shapes(launch.assembled.program);
  for (const std::uint64_t ahead : {1'000u, 1'003u, 5'555u, 9'998u}) {
    emulate::BlockStream stream(emulator, 0, ahead);
    const auto barriers = [&](std::uint32_t warp) {
      const std::vector<std::uint32_t> read = read_of(stream, shapes, warp);
      return std::count(read.begin(), read.end(), kBarrier);
    };
    const auto first = barriers(0);
    EXPECT_EQ(first, barriers(1)) << ahead;
    EXPECT_LT(first, 2048) << ahead;
    EXPECT_GT(first, 0) << ahead;
  }
}

}  // namespace
}  // namespace foretrace::sampling_tests
