// Warpgroup products and who is beside them: to the cycle, from the chip's configuration.

#include <gtest/gtest.h>

#include "tests/sm/products.h"

namespace foretrace::sm_tests {
namespace {

/// Cycles that each of twenty more of them takes.
double initiation(const std::string& shape, bool registers = false, int warpgroups = 1) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle few = run(chip, group(shape, 20, registers), 4 * warpgroups).end;
  return static_cast<double>(run(chip, group(shape, 40, registers), 4 * warpgroups).end - few) / 20;
}

TEST(Products, WithAInSharedMemoryBeginAsFastAsTheirOperandsCome) {
  for (const int n : {8, 16, 32, 64, 96, 128, 192, 256}) {
    const std::string shape = "64x" + std::to_string(n) + "x16";
    EXPECT_EQ(initiation(shape), std::max(n / 2, 16 + n / 4)) << shape;
    EXPECT_EQ(initiation(shape, false, 2), 2 * std::max(n / 2, 16 + n / 4))
        << "two warpgroups share the unit";
  }
}

TEST(Products, WithAInRegistersBeginEveryHalfColumnCycle) {
  for (const int n : {8, 16, 32, 64, 128, 256}) {
    EXPECT_EQ(initiation("64x" + std::to_string(n) + "x16", true, 2), 2 * std::max(n / 2, 13)) << n;
  }
}

TEST(Products, ThatAreSparseReadTwiceTheColumns) {
  const spec::GpuSpec chip = bench_chip();
  const auto cycles = [&](const char* n, int count) {
    std::vector<Line> lines(
        static_cast<std::size_t>(count),
        {std::string("HGMMA.SP.64x") + n + "x32.F32 R24, gdesc[UR8], R24, R2, 0x0, gsb0", 2});
    lines.push_back({"WARPGROUP.DEPBAR.LE gsb0, 0x0", 1});
    return run(chip, lines, 4).end;
  };
  EXPECT_EQ((cycles("64", 40) - cycles("64", 20)) / 20, 48u);
  EXPECT_EQ((cycles("128", 40) - cycles("128", 20)) / 20, 80u);
  EXPECT_EQ((cycles("256", 40) - cycles("256", 20)) / 20, 144u);
}

TEST(Products, AreWaitedForUntilTheirLatencyAndTheirColumns) {
  const spec::GpuSpec chip = bench_chip();
  for (const int n : {8, 64, 256}) {
    const std::string shape = "64x" + std::to_string(n) + "x16";
    const Ran waited = run(chip, group(shape, 1), 4),
              not_waited = run(chip, group(shape, 1, false, "0x1"), 4);
    // ARRIVE at 0, the product at 1, DEPBAR at 3; then the product's end, or the stall count.
    EXPECT_EQ(waited.end - not_waited.end, 1 + static_cast<Cycle>(n) / 2 + chip.wgmma.latency - 4) << n;
    EXPECT_GT(state(waited, stats::WarpState::gmma), 0u);
    EXPECT_EQ(state(not_waited, stats::WarpState::gmma), 0u);
  }
}

TEST(Products, LeaveTheLastGroupsUnderWayThatAWaitAllows) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](const char* most) {
    std::vector<Line> lines;
    for (int i = 0; i < 3; ++i) lines.push_back({product("64x256x16", false, true), 2});
    lines.push_back({std::string("WARPGROUP.DEPBAR.LE gsb0, ") + most, 1});
    return run(chip, lines, 4).end;
  };
  EXPECT_EQ(end("0x0") - end("0x1"), 128u);
  EXPECT_EQ(end("0x1") - end("0x2"), 128u);
}

TEST(Products, BeginWhenTheLastOfFourWarpsHasComeToThem) {
  const spec::GpuSpec chip = bench_chip();
  // A load takes a cycle more than one whose lanes are all held back: one warp comes some cycles later.
  const auto end = [&](bool later, bool multiplies) {
    std::vector<std::vector<Line>> warps(4);
    for (std::size_t w = 0; w < 4; ++w) {
      for (int i = 0; i < 10; ++i)
        warps[w].push_back({"LDS R0, [R2]", 2, 0, 7, 1, w == 2 && later ? 1u : 0u});
      warps[w].push_back({"NOP", 1, 7, 7, 1});
      if (!multiplies) continue;
      for (const Line& line : group("64x64x16", 1)) warps[w].push_back(line);
    }
    return run_warps(chip, warps).end;
  };
  const Cycle late = end(true, false) - end(false, false);
  EXPECT_GT(late, 5u);
  EXPECT_EQ(end(true, true) - end(false, true), late);
}

TEST(Products, AnEmptyGroupTakesNothing) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran =
      run(chip,
          {{"HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0", 2}, {"WARPGROUP.DEPBAR.LE gsb0, 0x0", 1}}, 4);
  EXPECT_EQ(ran.counters.shared_wavefronts_product, 0u);
}

TEST(Products, CountWhatTheDeviceCounts) {
  const spec::GpuSpec chip = bench_chip();
  const auto tensor = static_cast<std::size_t>(spec::Pipe::tensor);
  const Ran wide = run(chip, group("64x256x16", 10), 4), narrow = run(chip, group("64x64x16", 10), 4);
  EXPECT_EQ(wide.counters.pipe_inst[tensor], 40u) << "a warp each";
  EXPECT_EQ(wide.counters.pipe_busy[tensor], 40u * 128);
  EXPECT_EQ(narrow.counters.pipe_busy[tensor], 40u * 32);
  EXPECT_EQ(wide.counters.shared_wavefronts_product, 800u);
  EXPECT_EQ(run(chip, group("64x128x16", 10, true), 4).counters.shared_wavefronts_product, 320u);
}

/// Four warps multiply; a fifth stores twenty times meanwhile. The cycles that it waits for them.
std::uint64_t stores_wait_beside(const char* shape) {
  std::vector<std::vector<Line>> warps;
  for (int w = 0; w < 5; ++w) {
    std::vector<Line> lines = group(shape, 60);
    for (Line& line : lines) line.executed = w < 4 ? ~1u : 0u;
    for (int i = 0; i < 20; ++i) lines.push_back({"STS [R2], R4", 1, 7, 0, 0, w < 4 ? 0u : ~1u});
    lines.push_back({"NOP", 1, 7, 7, 1});
    warps.push_back(lines);
  }
  const Ran ran = run_warps(bench_chip(), warps);
  return state(ran, stats::WarpState::short_scoreboard) + state(ran, stats::WarpState::mio_throttle);
}

TEST(Products, ReadTheirSumsBehindTheIssueStage) {
  // 64 sums and 4 registers of A are none of the issue's: what reads no register goes on behind the product (ncu_warpgroup on H100).
  const spec::GpuSpec chip = bench_chip();
  for (const bool registers : {false, true}) {
    const Ran ran = run(chip, {{product("64x128x16", registers), 2}, {"UMOV UR4, 0x1", 1}}, 4);
    EXPECT_EQ(state(ran, stats::WarpState::dispatch_stall), 0u);
  }
}

TEST(Products, HaveTheRegistersThatArithmeticBehindThemNeeds) {
  const auto held = [](bool registers, const char* line, int count) {
    std::vector<Line> lines = {{product("64x128x16", registers), 2}};
    for (int i = 0; i < count; ++i) lines.push_back({line, 1});
    return state(run(bench_chip(), lines, 4), stats::WarpState::dispatch_stall) / 4;
  };
  // The product begins with the issue; sums are read in cycles 0, 1, 4, 5, .. behind it, four registers of A in cycles 0 to 3.
  EXPECT_EQ(held(false, "FADD R0, R1, R2", 2), 0u) << "cycles 2 and 3";
  EXPECT_EQ(held(false, "FADD R0, R1, R2", 3), 2u) << "cycle 6 instead of 4";
  EXPECT_EQ(held(true, "FADD R0, R1, R2", 1), 4u) << "cycle 6 instead of 2";
  EXPECT_EQ(held(false, "IADD3 R0, R1, R2, R3", 1), 0u) << "two passes";
  EXPECT_EQ(held(false, "MUFU.EX2 R0, R1", 1), 2u) << "four passes: cycles 2, 3, 6 and 7";
}

TEST(Products, LeaveSharedMemoryToOthersAsFarAsTheyDoNotNeedIt) {
  // Of 128 columns they need 48 of 64 cycles: a store gets one in four. With 64 columns all: one in fifty.
  EXPECT_LT(stores_wait_beside("64x128x16"), 500u);
  EXPECT_GT(stores_wait_beside("64x64x16"), 900u);
}

}  // namespace
}  // namespace foretrace::sm_tests
