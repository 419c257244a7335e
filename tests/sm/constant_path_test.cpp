// The path of constants by itself: operands from a sub-core's cache, LDC from the SM's, and what is asked of the GPC's.

#include <gtest/gtest.h>

#include "model/sm/request_marks.h"
#include "model/work/address_space.h"
#include "tests/sm/parts.h"

namespace foretrace::sm {
namespace {

using sm_tests::Line;
using stats::WarpState;

constexpr std::uint32_t kOperand = 0, kSameLine = 1, kTable = 2, kLoad = 3, kLoadTable = 4, kIndexed = 5,
                        kWalk = 6;

struct Constants : Parts {
  Constants()
      : Parts({{"IADD3 R5, R4, c[0x0][0x240], RZ", 4},
               {"IADD3 R5, R4, c[0x0][0x244], RZ", 4},
               {"IADD3 R5, R4, c[0x3][0x10], RZ", 4},
               {"LDC R4, c[0x0][0x240]", 2, 0},
               {"LDC R4, c[0x3][0x10]", 2, 0},
               {"LDC R4, c[0x0][R2]", 2, 0},
               {"ULDC UR4, c[0x3][UR6+0x8]", 4}}),
        latency(program.code[kLoad].latency), interval(program.code[kLoad].interval) {}
  bool ready(std::uint16_t id, Cycle now) { return constants.operand_ready(table.warps[id], id, now); }
  /// An LDC that is issued at `now` and that the ADU takes at once.
  void load(std::uint16_t id, std::uint32_t index, Cycle now, const Line& how = {}) {
    Warp& warp = stand(id, index, how);
    constants.load(warp, id, how.executed, adu.take(interval, now), now);
  }
  static Line lanes(std::uint32_t executed, std::int64_t stride, std::uint64_t base = 0) {
    Line line;
    line.executed = executed;
    line.stride = stride;
    line.base = base;
    return line;
  }
  const Cycle latency, interval;
};

TEST(ConstantPath, AnOperandsLineIsAskedOfTheGpcsCacheAndHoldsTheWarp) {
  Constants parts;
  Warp& warp = parts.stand(0, kOperand);
  EXPECT_FALSE(parts.ready(0, 100));
  EXPECT_EQ(warp.label, WarpState::imc_miss);
  EXPECT_EQ(warp.phase, Phase::fetch);
  EXPECT_EQ(parts.counters.constant_l0_misses, 1u);
  ASSERT_EQ(parts.code.size(), 1u);
  EXPECT_EQ(parts.code[0].time, 100u);
  EXPECT_EQ(parts.code[0].use, memory::CodeUse::operand);
  EXPECT_TRUE(parts.code[0].resident) << "a launch's parameters are near";
  EXPECT_EQ(parts.code[0].address, work::kConstantBase + 0x240);
  EXPECT_FALSE(parts.ready(0, 199));
  parts.constants.arrived(parts.code[0].id, 200);
  EXPECT_FALSE(parts.ready(0, 199));
  EXPECT_TRUE(parts.ready(0, 200));
}

TEST(ConstantPath, ALineOnItsWayIsWaitedForAndNotAskedForAgain) {
  Constants parts;
  parts.stand(0, kOperand);
  parts.stand(1, kSameLine);
  parts.ready(0, 100);
  EXPECT_FALSE(parts.ready(1, 150));
  ASSERT_EQ(parts.code.size(), 1u);
  EXPECT_EQ(parts.counters.constant_l0_misses, 1u);
  parts.constants.arrived(parts.code[0].id, 200);
  EXPECT_TRUE(parts.ready(0, 200));
  EXPECT_TRUE(parts.ready(1, 200));
  parts.stand(2, kSameLine);
  EXPECT_TRUE(parts.ready(2, 200)) << "now it is there for all";
}

TEST(ConstantPath, EachSubCoreHasACacheOfItsOwn) {
  Constants parts;
  parts.stand(0, kOperand);
  parts.stand(kWarpSlots, kOperand);
  parts.ready(0, 100);
  EXPECT_FALSE(parts.ready(kWarpSlots, 100));
  ASSERT_EQ(parts.code.size(), 2u) << "each asks for itself";
  EXPECT_EQ(parts.counters.constant_l0_misses, 2u);
  parts.constants.arrived(parts.code[1].id, 200);
  EXPECT_TRUE(parts.ready(kWarpSlots, 200));
  EXPECT_FALSE(parts.ready(0, 200));
}

TEST(ConstantPath, ATableIsNotThereByItself) {
  Constants parts;
  parts.stand(0, kTable);
  EXPECT_FALSE(parts.ready(0, 100));
  ASSERT_EQ(parts.code.size(), 1u);
  EXPECT_FALSE(parts.code[0].resident);
  EXPECT_EQ(parts.code[0].address, work::kConstantBase + 0x30000);
}

TEST(ConstantPath, AUniformRegisterSaysWhichLine) {
  Constants parts;
  Line at;
  at.base = 0x1c8;
  parts.stand(0, kWalk, at);
  EXPECT_FALSE(parts.ready(0, 100));
  ASSERT_EQ(parts.code.size(), 1u);
  EXPECT_EQ(parts.code[0].address, work::kConstantBase + 0x301c0);
  parts.constants.arrived(parts.code[0].id, 200);
  EXPECT_TRUE(parts.ready(0, 200));
  at.base = 0x1f8;
  parts.stand(0, kWalk, at);
  EXPECT_TRUE(parts.ready(0, 300)) << "the same line";
  at.base = 0x200;
  parts.stand(0, kWalk, at);
  EXPECT_FALSE(parts.ready(0, 400));
  EXPECT_EQ(parts.code.size(), 2u);
  parts.stand(1, kWalk, at).step.executed = 0;
  EXPECT_FALSE(parts.ready(1, 400));
  ASSERT_EQ(parts.code.size(), 3u);
  EXPECT_EQ(parts.code[2].address, work::kConstantBase + 0x30000) << "no lane says where";
}

TEST(ConstantPath, ALoadOfALineThatIsThereTakesItsLatency) {
  Constants parts;
  parts.load(0, kLoad, 100);
  const Cycle missed = parts.released_at(0);
  EXPECT_EQ(missed, 100 + parts.latency + parts.chip.constant.l1_miss);
  EXPECT_EQ(parts.counters.constant_l1_misses, 1u);
  EXPECT_EQ(parts.counters.constant_l1_replays, 1u);
  parts.load(1, kLoad, 1000);
  EXPECT_EQ(parts.released_at(1), 1000 + parts.latency);
  EXPECT_EQ(parts.counters.constant_l1_misses, 1u);
  EXPECT_EQ(parts.counters.constant_l1_replays, 1u);
}

TEST(ConstantPath, WhatWaitsForALineGoesThroughTheAduOnceMoreOneAfterTheOther) {
  Constants parts;
  parts.load(0, kLoad, 100);
  parts.load(1, kLoad, 110);  // the same line, still on its way
  EXPECT_EQ(parts.released_at(1) - parts.released_at(0), parts.interval);
  EXPECT_EQ(parts.counters.constant_l1_misses, 1u);
  EXPECT_EQ(parts.counters.constant_l1_replays, 2u);
}

TEST(ConstantPath, ALoadThatNoLaneExecutesLooksNothingUp) {
  Constants parts;
  parts.load(0, kLoad, 100, Constants::lanes(0, 0));
  EXPECT_EQ(parts.released_at(0), 100 + parts.latency);
  EXPECT_EQ(parts.counters.constant_l1_misses, 0u);
  EXPECT_FALSE(parts.table.warps[0].scoreboards.clear_for([] {
    StaticInstruction waits;
    waits.wait_mask = 1;
    return waits;
  }()))
      << "its scoreboard is set, and the event releases it";
}

TEST(ConstantPath, ALoadFromATableWaitsForTheGpcsCache) {
  Constants parts;
  parts.load(0, kLoadTable, 100);
  EXPECT_EQ(parts.released_at(0), kNever);
  ASSERT_EQ(parts.code.size(), 1u);
  parts.constants.arrived(parts.code[0].id, 500);
  EXPECT_EQ(parts.released_at(0),
            500 + parts.latency + parts.chip.constant.l1_miss - parts.chip.constant.l0_miss);
}

TEST(ConstantPath, LanesThatDifferGoThroughTheAduWordByWord) {
  const auto time = [](std::uint32_t lanes) {  // all words in one line, which is there
    Constants parts;
    parts.load(1, kIndexed, 0, Constants::lanes(1, 0));
    parts.run(5000);
    parts.load(0, kIndexed, 1000, Constants::lanes(lanes, 4));
    EXPECT_TRUE(parts.code.empty());
    return parts.released_at(0) - 1000 - parts.latency;
  };
  const Cycle word = sm_tests::bench_chip().constant.word_interval;
  EXPECT_EQ(time(0b1), 0u);
  EXPECT_EQ(time(0b11), word);
  EXPECT_EQ(time(0b1111), 3 * word);
}

TEST(ConstantPath, AWordsMissingLineIsAskedForAtItsPassAndOnce) {
  Constants parts;
  parts.load(0, kIndexed, 100, Constants::lanes(0b11, 64));
  parts.load(1, kIndexed, 100, Constants::lanes(0b11, 64));
  ASSERT_EQ(parts.code.size(), 1u);
  EXPECT_EQ(parts.code[0].use, memory::CodeUse::load);
  EXPECT_TRUE(parts.code[0].resident);
  EXPECT_EQ(parts.code[0].time, 100u);
  EXPECT_EQ(parts.code[0].id, kInstructionMark | kConstantMark | kIndexedMark);
  parts.constants.arrived(parts.code[0].id, 100 + parts.chip.constant.l1_miss);
  parts.run(5000);
  ASSERT_EQ(parts.code.size(), 2u) << "the second word's line, once for both";
  EXPECT_EQ(parts.code[1].time, 100 + parts.chip.constant.l1_miss + parts.chip.constant.word_interval);
  EXPECT_TRUE(parts.released.empty());
  const Cycle came = parts.code[1].time + parts.chip.constant.l1_miss;
  parts.constants.arrived(parts.code[1].id, came);
  EXPECT_EQ(parts.released_at(0), came + parts.latency);
}

TEST(ConstantPath, LinesComeAnIntervalApart) {
  Constants parts;
  parts.load(0, kIndexed, 100, Constants::lanes(0b11, 4));
  parts.load(1, kIndexed, 100, Constants::lanes(0b11, 4, 640));
  parts.run(200);
  ASSERT_EQ(parts.code.size(), 2u);
  parts.constants.arrived(parts.code[0].id, 500);
  parts.constants.arrived(parts.code[1].id, 500);
  const Cycle first = parts.released_at(0), second = parts.released_at(1);
  EXPECT_EQ(second - first, parts.chip.constant.line_interval);
}

TEST(ConstantPath, ALateLinesWordAsksAgain) {
  const auto replays = [](Cycle late) {
    Constants parts;
    parts.load(0, kIndexed, 100, Constants::lanes(0b11, 4));
    const std::uint64_t before = parts.counters.constant_l1_replays;
    const Cycle free = parts.adu.free;
    parts.constants.arrived(parts.code.at(0).id, 100 + parts.chip.constant.l1_miss + late);
    const std::uint64_t more = parts.counters.constant_l1_replays - before;
    EXPECT_EQ(parts.adu.free - free, more * parts.interval) << "each takes the ADU";
    return more;
  };
  const Cycle again = sm_tests::bench_chip().constant.ask_again;
  const std::uint64_t in_time = replays(0);
  EXPECT_EQ(replays(again - 1), in_time);
  EXPECT_EQ(replays(again), in_time + 1);
  EXPECT_EQ(replays(3 * again), in_time + 3);
}

}  // namespace
}  // namespace foretrace::sm
