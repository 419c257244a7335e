// Which stores leave an SM as one, and when.

#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/store_buffer.h"
#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

Line store(std::uint64_t base, std::int64_t stride, std::uint32_t executed = ~0u) {
  return {"STG.E desc[UR4][R2.64], R4", 2, 7, 7, 0, executed, base, stride};
}
std::vector<memory::Request> writes(Ran ran) {
  std::erase_if(ran.requests, [](const memory::Request& r) { return r.kind != memory::RequestKind::write; });
  return ran.requests;
}
std::size_t writes_of(const std::vector<Line>& lines) { return writes(run(bench_chip(), lines)).size(); }

TEST(StoresOfAWarp, PartsOfTheSameLinesLeaveAsOnePacketALine) {
  const std::vector<memory::Request> left =
      writes(run(bench_chip(), {store(4096, 16), store(4100, 16), store(4104, 16), store(4108, 16)}));
  ASSERT_EQ(left.size(), 4u);
  for (const memory::Request& request : left) {
    EXPECT_EQ(request.sectors, 0xf);
    EXPECT_EQ(request.flits, 4) << "whole sectors need not say which of their bytes";
    for (const std::uint32_t bytes : request.bytes) EXPECT_EQ(bytes, ~0u);
  }
}

TEST(StoresOfAWarp, OnesToOtherLinesBetweenKeepThemApart) {
  EXPECT_EQ(writes_of({store(4096, 4), store(4096, 4)}), 1u);
  EXPECT_EQ(writes_of({store(4096, 4), store(8192, 4), store(4096, 4), store(8192, 4)}), 4u);
  // One line of two is written again: the other one leaves, and does not come back.
  EXPECT_EQ(writes_of({store(4096, 8), store(4096, 4), store(4224, 4)}), 3u);
}

TEST(StoresOfAWarp, LoadsBetweenDoNot) {
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 1 << 20};
  EXPECT_EQ(writes_of({store(4096, 4), load, store(4096, 4)}), 1u);
}

TEST(StoresOfAWarp, AsManyLinesAsTheBufferHoldsMeetOneMoreDoesNot) {
  const std::uint32_t lines = bench_chip().l1.store_lines;
  ASSERT_LT(lines, 32u);
  const std::uint32_t most = (1u << lines) - 1;
  EXPECT_EQ(writes_of({store(4096, 128, most), store(4100, 128, most)}), lines);
  EXPECT_EQ(writes_of({store(4096, 128, ~0u), store(4100, 128, ~0u)}), 64u);
}

TEST(StoresOfSeveralWarps, MeetInAFewCyclesAndShareTheRoom) {
  EXPECT_EQ(writes(run_warps(bench_chip(), {{store(4096, 4)}, {store(4096, 4)}})).size(), 1u);
  // Records of 7 words of four warps: 28 lines. Of 8 words: 32, of which each pushes out what the next store would have met.
  const auto records = [](std::int64_t bytes) {
    std::vector<std::vector<Line>> warps;
    for (std::uint64_t w = 0; w < 4; ++w) {
      std::vector<Line> lines;
      for (std::uint64_t word = 0; word < 4; ++word)
        lines.push_back(store(4096 + w * 32 * static_cast<std::uint64_t>(bytes) + 4 * word, bytes));
      warps.push_back(lines);
    }
    return writes(run_warps(bench_chip(), warps)).size();
  };
  EXPECT_EQ(records(28), 28u);
  EXPECT_EQ(records(32), 4u * 4u * 8u);
}

/// Three pieces for an address, two for a sector.
sm::WayPieces way_pieces() {
  spec::L1Spec spec;
  spec.way_address_bytes = 3 * spec::kWayPieceBytes;
  spec.way_sector_bytes = 2 * spec::kWayPieceBytes;
  return sm::WayPieces(spec);
}

TEST(StoreBuffer, SaysWhatAStoreAddsToWhatTheLineTakesOfTheWay) {
  sm::StoreBuffer buffer(16, 64, 20, 16, way_pieces());
  const auto no = [](const memory::Request&, Cycle) { FAIL(); };
  memory::Request request;
  request.sectors = 1;
  request.bytes[0] = 0xf;
  EXPECT_EQ(buffer.hold(1, request, 1, 100, no).pieces, 3u) << "a lone word";
  EXPECT_EQ(buffer.hold(1, request, 1, 100, no).pieces, 0u) << "the same again";
  request.bytes[0] = 0xf0;
  EXPECT_EQ(buffer.hold(1, request, 1, 100, no).pieces, 2u) << "two words: a sector";
  request.sectors = 0b1110;
  request.bytes = {0, 1, 1, 1};
  EXPECT_EQ(buffer.hold(1, request, 1, 100, no).pieces, 6u);
  buffer.end_instruction(1, 100, no);
  std::uint32_t pieces = 0;
  buffer.leave_all([&](const memory::Request& left, Cycle) { pieces = left.id; });
  EXPECT_EQ(pieces, 11u);
}

TEST(StoreBuffer, LinesLeaveAtTheirTime) {
  sm::StoreBuffer buffer(16, 64, 20, 16, way_pieces());
  memory::Request request;
  request.line = 3;
  request.sectors = 0b0010;
  const auto no = [](const memory::Request&, Cycle) {
    FAIL() << "nothing leaves with the first instruction";
  };
  EXPECT_EQ(buffer.due(), kNever);
  EXPECT_EQ(buffer.hold(1, request, 1, 100, no).sectors, 1u);
  buffer.end_instruction(1, 100, no);
  EXPECT_EQ(buffer.due(), 164u);
  request.sectors = 0b0110;
  EXPECT_TRUE(buffer.joins(3, 1, 110));
  EXPECT_TRUE(buffer.joins(3, 2, 115)) << "another warp, a few cycles later";
  EXPECT_FALSE(buffer.joins(3, 2, 116));
  EXPECT_EQ(buffer.hold(1, request, 3, 110, no).sectors, 1u) << "one of its sectors is held already";
  buffer.end_instruction(1, 100, no);
  std::vector<Cycle> times;
  const auto leave = [&](const memory::Request& left, Cycle when, Cycle due) {
    EXPECT_EQ(left.sectors, 0b0110);
    EXPECT_EQ(due, 174u);
    times.push_back(when);
  };
  const auto free = [] { return Cycle{172}; };
  buffer.leave_due(173, free, leave);
  EXPECT_TRUE(times.empty());
  buffer.leave_due(174, free, leave);
  EXPECT_EQ(times, std::vector<Cycle>{174}) << "64 cycles are more than three lines at 20";
  EXPECT_EQ(buffer.due(), kNever);
}

TEST(StoreBuffer, LinesStayAndAreJoinedWhileNothingCanLeave) {
  sm::StoreBuffer buffer(16, 64, 20, 16, way_pieces());
  memory::Request request;
  request.sectors = 1;
  std::vector<std::uint64_t> left;
  const auto leave = [&](const memory::Request& one, Cycle) { left.push_back(one.line); };
  request.line = 1;
  buffer.hold(1, request, 1, 100, leave);
  buffer.end_instruction(1, 100, leave);
  buffer.stays(true);
  request.line = 2;
  buffer.hold(1, request, 1, 110, leave);
  buffer.end_instruction(1, 110, leave);
  EXPECT_TRUE(left.empty()) << "the warp wrote another line, and the first cannot leave";
  EXPECT_EQ(buffer.due(), 110u) << "it would have";
  EXPECT_TRUE(buffer.joins(1, 1, 500));
  EXPECT_TRUE(buffer.joins(2, 7, 500)) << "any warp's store joins, however late";
  EXPECT_FALSE(buffer.joins(3, 7, 500));
  buffer.stays(false);
  EXPECT_FALSE(buffer.joins(2, 7, 500));
  request.line = 3;
  buffer.hold(1, request, 1, 510, leave);
  buffer.end_instruction(1, 510, leave);
  EXPECT_EQ(left, (std::vector<std::uint64_t>{1, 2})) << "as before";
}

TEST(StoreBuffer, WhatIsDueFirstLeavesFirstAndNotBeforeTheWayIsFree) {
  sm::StoreBuffer buffer(16, 64, 20, 16, way_pieces());
  memory::Request request;
  request.sectors = 1;
  const auto no = [](const memory::Request&, Cycle) { FAIL(); };
  request.line = 1;
  buffer.hold(1, request, 10, 100, no);  // until 300
  request.line = 2;
  buffer.hold(2, request, 1, 110, no);  // until 174
  std::vector<std::pair<std::uint64_t, Cycle>> left;
  const auto leave = [&](const memory::Request& one, Cycle when, Cycle) {
    left.emplace_back(one.line, when);
  };
  buffer.leave_due(
      180, [] { return Cycle{181}; }, leave);
  EXPECT_TRUE(left.empty());
  buffer.leave_due(
      400, [] { return Cycle{181}; }, leave);
  EXPECT_EQ(left, (std::vector<std::pair<std::uint64_t, Cycle>>{{2, 181}, {1, 300}}));
}

TEST(StoresOfAWarp, MeetWhileTheFirstIsHeldNotLater) {
  // Cycles between two stores to a line: one less than it is held, and as many.
  spec::GpuSpec chip = bench_chip();
  const auto apart = [&](std::uint32_t cycles) {
    std::vector<Line> lines{store(4096, 4)};
    lines[0].stall = 1;
    for (std::uint32_t left = cycles - 1; left != 0; left -= std::min(left, 15u))
      lines.push_back({"NOP", static_cast<std::uint8_t>(std::min(left, 15u))});
    lines.push_back(store(4096, 4));
    return writes(run(chip, lines)).size();
  };
  EXPECT_EQ(apart(chip.l1.store_cycles - 1), 1u);
  EXPECT_EQ(apart(chip.l1.store_cycles), 2u);
}

TEST(StoreBuffer, AnEndedBlockLeavesNothingBehind) {
  // The last store leaves when the warp ends, not when its time has come.
  const spec::GpuSpec chip = bench_chip();
  const Ran ran = run(chip, {store(4096, 4)});
  const std::vector<memory::Request> left = writes(ran);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_LT(left[0].time, ran.end + chip.l1.store_cycles / 2);
}

// A store that finds much in front of it on the way out waits, and what its warp does next with it.
TEST(StoresOfAWarp, WaitForTheWayOutInFrontOfL1) {
  const auto waited = [](std::uint32_t ahead) {
    spec::GpuSpec chip = bench_chip();
    chip.l1.store_way_ahead = ahead;
    chip.l1.store_queue = 1000;  // the data stage goes on
    const Line load{"LDS R0, [R2]", 2, 0, 7, 0, ~0u, 0, 4};
    return state(run(chip, {store(1 << 16, 128), store(1 << 17, 128), load, {"NOP", 1, 7, 7, 1}}),
                 stats::WarpState::short_scoreboard);
  };
  EXPECT_EQ(waited(4), waited(20) + 16);
  EXPECT_GT(waited(20), waited(1000));
}

TEST(LocalMemory, ALineIsWrittenByTheLanesThatAreOnIt) {
  const std::vector<memory::Request> left =
      writes(run(bench_chip(), {{"STL [R2], R0", 2, 7, 0, 0, 0x3, 256, 4}}));
  ASSERT_EQ(left.size(), 2u);
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    EXPECT_EQ(left[lane].bytes[0], 0xfu << (4 * lane));
    EXPECT_EQ(left[lane].flits, 2) << "the sector, and which of its bytes";
  }
}

// H100, partial_local: a word that the same lanes wrote is there, whoever else has left; bytes are not, nor a word that nobody wrote.
TEST(LocalMemory, WordsThatSomeLanesWroteAreThereForThem) {
  const auto hits = [](const char* store, const char* load, std::uint32_t wrote, std::uint32_t reads,
                       std::uint64_t at) {
    return run(bench_chip(),
               {{store, 2, 7, 0, 0, wrote, 256, 0}, {load, 2, 0, 7, 1, reads, at, 0}, {"NOP", 1, 7, 7, 1}})
        .counters.l1_hits_local_ld;
  };
  EXPECT_EQ(hits("STL [R2], R0", "LDL R1, [R2]", 0x7f, 0x7f, 256), 1u);
  EXPECT_EQ(hits("STL [R2], R0", "LDL R1, [R2]", 0x7f, 0x0f, 256), 1u);
  EXPECT_EQ(hits("STL [R2], R0", "LDL R1, [R2]", 0x7f, 0xff, 256), 0u) << "one lane's word was not written";
  EXPECT_EQ(hits("STL [R2], R0", "LDL R1, [R2]", 0x7f, 0x7f, 260), 0u) << "another word";
  EXPECT_EQ(hits("STL.U8 [R2], R0", "LDL.U8 R1, [R2]", 0x7f, 0x7f, 256), 0u) << "bytes";
  EXPECT_EQ(hits("STL [R2], R0", "LDL R1, [R2]", ~0u, ~0u, 256), 4u);
}

// H200, own_arrays: each lane's words lie in a bank of its own, whatever lines they are of.
TEST(LocalMemory, PassesTheDataStageOncePerWordOfALane) {
  const auto wavefronts = [](const char* load, std::int64_t stride) {
    return run(bench_chip(), {{load, 2, 0, 7, 0, ~0u, 256, stride}, {"NOP", 1, 7, 7, 1}})
        .counters.l1_data_wavefronts;
  };
  EXPECT_EQ(wavefronts("LDL R0, [R2]", 0), 1u);
  EXPECT_EQ(wavefronts("LDL R0, [R2]", 4), 1u) << "32 lines";
  EXPECT_EQ(wavefronts("LDL.64 R0, [R2]", 0), 2u);
  EXPECT_EQ(wavefronts("LDL.128 R0, [R2]", 16), 4u);
}

}  // namespace
}  // namespace foretrace::sm_tests
