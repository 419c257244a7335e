// The data stage in the memory pipe: what waits for it, where and in what number.

#include <gtest/gtest.h>

#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

/// Loads that L1 has and that take the data stage for 32 cycles each: how long warps wait for room in the queue before the last of `count`.
TEST(DataStage, SoManyLoadsWaitForItThenTheQueueFills) {
  spec::GpuSpec chip = bench_chip();
  const auto throttled = [&](std::uint32_t waiting, int count) {
    chip.lsu.data_queue = waiting;
    std::vector<Line> lines = {{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096, 128},
                               {"NOP", 1, 7, 7, 1}};
    for (int i = 0; i < count; ++i)
      lines.push_back({"LDG.E R0, desc[UR4][R2.64]", 1, 7, 7, 0, ~0u, 4096, 128});
    const Ran ran = run(chip, lines);
    return ran.counters.instructions.back().stalled[static_cast<std::size_t>(stats::WarpState::lg_throttle)] +
           ran.counters.instructions[lines.size() - 1]
               .stalled[static_cast<std::size_t>(stats::WarpState::lg_throttle)];
  };
  const int queue = static_cast<int>(chip.lsu.queue);
  const auto waits = [&](std::uint32_t waiting, int count) {
    return throttled(waiting, count) > 12;
  };  // more than the address generator's pace
  for (const std::uint32_t waiting : {2u, 6u}) {
    int first = 1;
    while (first < 100 && !waits(waiting, first)) ++first;
    EXPECT_GE(first, queue + static_cast<int>(waiting)) << waiting;
    EXPECT_LE(first, queue + static_cast<int>(waiting) + 4)
        << waiting;  // the one in the data stage, and those on the way between
  }
}

/// Behind loads that L1 has and that take the data stage for 32 cycles each: when the result of an instruction is there, after issue.
TEST(DataStage, WhatMovesNoDataDoesNotWaitForIt) {
  const spec::GpuSpec chip = bench_chip();
  const auto held_up = [&](const char* text) {
    const auto end = [&](int loads) {
      std::vector<Line> lines = {{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096, 128},
                                 {"NOP", 1, 7, 7, 1}};
      for (int i = 0; i < loads; ++i)
        lines.push_back({"LDG.E R0, desc[UR4][R2.64]", 1, 7, 7, 0, ~0u, 4096, 128});
      for (int i = 0; i < 8; ++i) lines.push_back({"NOP", 15});  // the loads are on their way
      lines.push_back({text, 2, 1, 7});
      lines.push_back({"NOP", 1, 7, 7, 2});
      const Ran ran = run(chip, lines);
      return ran.counters.instructions[lines.size() - 1]
          .stalled[static_cast<std::size_t>(stats::WarpState::short_scoreboard)];
    };
    return end(12) - end(0);
  };
  EXPECT_LT(held_up("S2R R8, SR_TID.X"), 16u);
  EXPECT_GT(held_up("SHFL.IDX PT, R8, R9, RZ, 0x1f"), 32u);
}

TEST(DataStage, LoadsThatWaitedForTheirDataHoldUpNoTags) {
  spec::GpuSpec chip = bench_chip();
  // The data of 20 loads of warp 0 come at once and take the data stage for 620 cycles; meanwhile warp 1 misses again.
  const auto second_miss = [&](std::uint32_t waiting) {
    chip.lsu.data_queue = waiting;
    const char* const load = "LDG.E R0, desc[UR4][R2.64]";
    std::vector<Line> both = {{load, 2, 0, 7, 0, 0, 1 << 20, 4}};
    for (int i = 0; i < 20; ++i) both.push_back({load, 1, 7, 7, 0, 0, 1 << 21, 128});
    both.push_back({"NOP", 15, 7, 7, 1});
    for (int i = 0; i < 8; ++i) both.push_back({"NOP", 15});
    both.push_back({load, 1, 7, 7, 0, 0, 1 << 22, 4});
    std::vector<Line> first = both, second = both;
    for (std::size_t i = 1; i <= 20; ++i) first[i].executed = ~0u >> 1;
    second.front().executed = second.back().executed = ~0u >> 1;
    const Ran ran = run_warps(chip, {first, second});
    EXPECT_GT(ran.counters.l1_data_wavefronts, 620u);
    Cycle last = 0;
    for (const memory::Request& request : ran.requests) last = std::max(last, request.time);
    return last;
  };
  EXPECT_EQ(second_miss(2), second_miss(64));
  EXPECT_LT(second_miss(2), 600u);
}

}  // namespace
}  // namespace foretrace::sm_tests
