// Instructions and constants on their way to an SM: what is asked for, when, and what a miss costs.
#include <gtest/gtest.h>

#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

/// Sets of two lines, two of them; two lines ahead.
spec::FetchSpec small_cache() {
  spec::FetchSpec fetch;
  fetch.l1_bytes = 4 * kLineBytes;
  fetch.l1_ways = 2;
  fetch.prefetch_lines = 2;
  return fetch;
}

TEST(InstructionCache, AWarpThatEntersALineAsksForItAndTheNextOnce) {
  sm::InstructionCache cache(small_cache(), 16 * kLineBytes);
  sm::InstructionCache::Buffer warp, other;
  std::vector<std::uint32_t> asked;
  EXPECT_FALSE(cache.ready(0, warp, asked));
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 1, 2}));
  asked.clear();
  EXPECT_FALSE(cache.ready(0, warp, asked));
  EXPECT_FALSE(cache.ready(3, other, asked));
  EXPECT_TRUE(asked.empty()) << "all of it is on its way";
  cache.fill(0);
  EXPECT_TRUE(cache.ready(0, warp, asked));
  EXPECT_TRUE(cache.ready(7, warp, asked));
  EXPECT_FALSE(cache.ready(8, warp, asked));
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(cache.misses, 4u);
}

TEST(InstructionCache, NothingBeyondTheCodeIsAskedFor) {
  sm::InstructionCache cache(small_cache(), 2 * kLineBytes);
  sm::InstructionCache::Buffer warp;
  std::vector<std::uint32_t> asked;
  EXPECT_FALSE(cache.ready(8, warp, asked));
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{1}));
}

TEST(InstructionCache, TheLeastRecentlyUsedLineOfASetGoesAndAWarpKeepsItsOwn) {
  spec::FetchSpec fetch = small_cache();
  fetch.prefetch_lines = 0;
  sm::InstructionCache cache(fetch, 16 * kLineBytes);
  sm::InstructionCache::Buffer first, second;
  std::vector<std::uint32_t> asked;
  const auto enter = [&](std::uint32_t line, sm::InstructionCache::Buffer& warp) {
    if (cache.ready(8 * line, warp, asked)) return;
    cache.fill(line);
    EXPECT_TRUE(cache.ready(8 * line, warp, asked));
  };
  for (const std::uint32_t line : {0u, 2u, 0u, 4u}) enter(line, first);  // one set
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 2, 4}));
  enter(0, second);
  EXPECT_EQ(asked.size(), 3u) << "line 0 was used after line 2: it is still there";
  enter(6, first);  // takes the place of line 4
  enter(2, first);  // and of line 0
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 2, 4, 6, 2}));
  EXPECT_TRUE(cache.ready(5, second, asked)) << "the rest of the line that the warp is in";
  EXPECT_EQ(asked.size(), 5u);
}

TEST(InstructionCache, AnSmsFirstBlockWaitsForItsFirstInstruction) {
  spec::GpuSpec chip = bench_chip();
  const Cycle before = run(chip, {{"IADD3 R1, R2, R5, RZ", 4}}).end;
  chip.fetch.first_latency = 200;
  EXPECT_EQ(run(chip, {{"IADD3 R1, R2, R5, RZ", 4}}).end,
            before + 199);  // the bench's code is there after one cycle
}

std::vector<Line> loads(int count, std::uint32_t stride, int bank) {
  std::vector<Line> lines;
  for (int i = 0; i < count; ++i) {
    lines.push_back({"ULDC UR4, c[0x" + std::to_string(bank) + "][0x" +
                         [&] {
                           char hex[16];
                           std::snprintf(hex, sizeof hex, "%x", 0x200 + static_cast<unsigned>(i) * stride);
                           return std::string(hex);
                         }() +
                         "]",
                     2});
  }
  return lines;
}

std::uint64_t held(const Ran& ran) {
  return ran.counters.state[static_cast<std::size_t>(stats::WarpState::imc_miss)];
}

TEST(Constants, AParameterThatTheSubCoreLacksHoldsTheWarp) {
  const spec::GpuSpec chip = bench_chip();
  EXPECT_EQ(held(run(chip, loads(1, 4, 0))), chip.constant.l0_miss);
  EXPECT_EQ(held(run(chip, loads(16, 4, 0))), chip.constant.l0_miss) << "one line of 64 bytes";
  EXPECT_EQ(held(run(chip, loads(3, 64, 0))), 3 * chip.constant.l0_miss);
}

TEST(Constants, ASubCoreKeepsItsLinesAndNoMore) {
  const spec::GpuSpec chip = bench_chip();
  const int lines = static_cast<int>(chip.constant.l0_bytes / 64);
  for (const int more : {0, 1}) {
    std::vector<Line> twice = loads(lines + more, 64, 0);
    const std::vector<Line> again = twice;
    twice.insert(twice.end(), again.begin(), again.end());
    const Ran ran = run(chip, twice);
    EXPECT_EQ(ran.counters.constant_l0_misses, static_cast<std::uint64_t>(more ? 2 * (lines + 1) : lines));
  }
}

TEST(Constants, AWarpThatWaitedTakesItsConstantThoughOthersTookTheLine) {
  spec::GpuSpec chip = bench_chip();
  chip.constant.l0_bytes = 64;
  const Ran ran = run(chip, loads(8, 64, 0), 32);  // eight warps per sub-core, one line
  EXPECT_EQ(ran.counters.inst_executed, 32u * 9u);
  EXPECT_GE(ran.counters.constant_l0_misses, 4u * 8u);
}

TEST(Constants, EachLineIsAskedOfTheGpcsCacheWhereALaunchsParametersAre) {
  const spec::GpuSpec chip = bench_chip();
  for (const int bank : {0, 3}) {
    const Ran ran = run(chip, loads(8, 64, bank));
    ASSERT_EQ(ran.constants.size(), 8u);
    for (const memory::CodeRequest& request : ran.constants) {
      EXPECT_EQ(request.use, memory::CodeUse::operand);
      EXPECT_EQ(request.resident, bank == 0);
    }
    EXPECT_EQ(ran.constants[1].address - ran.constants[0].address, 64u);
  }
}

TEST(Constants, AnIndexedLoadMissesItsOwnCache) {
  const spec::GpuSpec chip = bench_chip();
  const std::vector<Line> uniform = {{"LDC R4, c[0x0][0x240]", 2, 0}, {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}};
  std::vector<Line> twice = uniform;
  twice.insert(twice.end(), uniform.begin(), uniform.end());
  const Ran once = run(chip, uniform), both = run(chip, twice);
  EXPECT_EQ(once.counters.constant_l1_misses, 1u);
  EXPECT_EQ(both.counters.constant_l1_misses, 1u);
  const auto wait = [](const Ran& ran) {
    return ran.counters.state[static_cast<std::size_t>(stats::WarpState::short_scoreboard)];
  };
  EXPECT_EQ(wait(once) - (wait(both) - wait(once)), chip.constant.l1_miss);
}

TEST(Constants, AnIndexedLoadThatWaitsForItsLineGoesThroughItsUnitAgain) {
  const spec::GpuSpec chip = bench_chip();
  const std::vector<Line> beside = {{"LDC R4, c[0x0][0x240]", 2, 0},
                                    {"LDC R6, c[0x0][0x248]", 2, 1}};  // one line, on its way for both
  std::vector<Line> after = {beside[0], {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}, beside[1]};
  EXPECT_EQ(run(chip, beside).counters.constant_l1_replays, 2u);
  EXPECT_EQ(run(chip, after).counters.constant_l1_replays, 1u) << "the line is there by then";
  EXPECT_EQ(run(chip, {{"LDC R4, c[0x0][0x240]", 2, 0, 7, 0, 0}}).counters.constant_l1_replays, 0u)
      << "no lane asks";
}

/// Cycles of an LDC whose lanes lie `stride` bytes from each other, its lines there: by the wait of what needs it.
std::uint64_t indexed(const spec::GpuSpec& chip, std::int64_t stride) {
  std::vector<Line> lines = {{"LDC R4, c[0x0][R2+0x240]", 2, 0, 7, 0, ~0u, 0x240, stride},
                             {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}};
  std::vector<Line> twice = lines;
  twice.insert(twice.end(), lines.begin(), lines.end());
  const auto wait = [](const Ran& ran) {
    return ran.counters.state[static_cast<std::size_t>(stats::WarpState::short_scoreboard)];
  };
  return wait(run(chip, twice)) - wait(run(chip, lines));
}

TEST(Constants, AnIndexedLoadPassesOnceForEachDifferentAddressOfItsLanes) {
  const spec::GpuSpec chip = bench_chip();
  const std::uint64_t same = indexed(chip, 0);
  EXPECT_EQ(indexed(chip, 4) - same, 31u * 11u) << "two lines, 32 words";
  const auto passes = [&](std::int64_t stride, std::uint32_t executed) {
    const Line load{"LDC R4, c[0x0][R2+0x240]", 2, 0, 7, 0, executed, 0x240, stride};
    return run(chip, {load, {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}, load}).counters.constant_l1_replays;
  };
  EXPECT_EQ(passes(0, ~0u), 1u) << "the first goes again for its line";
  EXPECT_EQ(passes(4, 0xffu), 1u + 2u * 7u);
  EXPECT_EQ(passes(4, ~0u), 2u + 2u * 31u);
}

TEST(Constants, AMissingLineOfAnIndexedLoadHoldsUpItsNextWord) {
  const spec::GpuSpec chip = bench_chip();
  const auto wait = [&](std::int64_t stride, std::uint32_t lanes) {
    return run(chip,
               {{"LDC R4, c[0x0][R2]", 2, 0, 7, 0, lanes, 0, stride}, {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}})
        .counters.state[static_cast<std::size_t>(stats::WarpState::short_scoreboard)];
  };
  EXPECT_EQ(wait(64, 0xfu) - wait(64, 0x1u), 3u * (11u + chip.constant.l1_miss));
}

TEST(Constants, LinesOfAnIndexedLoadAreAskedOfTheGpcsCacheOneByOne) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran =
      run(chip, {{"LDC R4, c[0x0][R2]", 2, 0, 7, 0, 0xfu, 0, 64}, {"IADD3 R5, R4, R4, RZ", 4, 7, 7, 1}});
  ASSERT_EQ(ran.constants.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(ran.constants[i].use == memory::CodeUse::load && ran.constants[i].resident);
    EXPECT_EQ(ran.constants[i].address - ran.constants[0].address, 64 * i);
    if (i == 0) continue;
    EXPECT_EQ(ran.constants[i].time - ran.constants[i - 1].time,
              chip.constant.l1_miss + chip.constant.word_interval);
  }
  EXPECT_EQ(ran.counters.constant_l1_replays, 3u + 4u)
      << "three words more, and each goes again for its line";
}

TEST(Constants, AWordWhoseLineIsLateAsksAgain) {
  spec::GpuSpec chip = bench_chip();
  const auto replays = [&](Cycle interval) {
    chip.constant.line_interval =
        static_cast<std::uint32_t>(interval);  // the second line comes so much after the first
    return run(chip, {{"LDC R4, c[0x0][R2]", 2, 0, 7, 0, 0x3u, 0, 64},
                      {"LDC R6, c[0x0][R2+0x400]", 2, 1, 7, 0, 0x3u, 0x400, 64}})
        .counters.constant_l1_replays;
  };
  const std::uint64_t in_time = replays(1);
  EXPECT_EQ(in_time, 2u + 4u);
  EXPECT_EQ(replays(chip.constant.ask_again), in_time);
  EXPECT_GT(replays(4 * chip.constant.ask_again), in_time);
}

}  // namespace
}  // namespace foretrace::sm_tests
