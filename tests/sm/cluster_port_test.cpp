// An SM's way to the other SMs of its clusters by itself: when a block tells the others, and when their word ends a phase.

#include <gtest/gtest.h>

#include "tests/sm/parts.h"

namespace foretrace::sm {
namespace {

constexpr std::uint32_t kWait = 0, kNext = 1, kInit = 2, kTest = 3;

/// A block of two warps, rank 1 of a cluster of three on SMs 5, 0 and 6.
struct Cluster : Parts {
  Cluster()
      : Parts({{"UCGABAR_WAIT", 1},
               {"NOP", 1},
               {"SYNCS.EXCH.64 URZ, [UR4], UR6", 1},
               {"SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2", 2, 0}},
              sm_tests::bench_chip(), 2, 1),
        way(chip.cluster.barrier_latency) {
    blocks[0].places = {5, 0, 6};
    blocks[0].rank = 1;
    blocks[0].cluster = 40;
    for (std::uint16_t id = 0; id < 2; ++id) stand(id, kNext, {}, 0, id);
  }
  Block& block() { return blocks[0]; }
  void arrive(std::uint16_t id, Cycle now) { cluster.arrive(block(), table.warps[id], now); }
  /// The warp waits at the barrier from `now` on.
  const Warp& wait(std::uint16_t id, Cycle now) {
    held.hold(table.warps[id], id, {kWait, ~0u, ~0u, 0}, now + 1, now + 1, now);
    return table.warps[id];
  }
  ClusterMessage word(ClusterMessage::Kind kind, Cycle time, std::uint32_t offset = 0) const {
    ClusterMessage message;
    message.time = time;
    message.cluster = 40;
    message.rank = 1;
    message.kind = kind;
    message.offset = offset;
    return message;
  }
  void hear(ClusterMessage::Kind kind, Cycle time, std::uint32_t phase) {
    cluster.receive(word(kind, time, phase & 1));
  }
  const Cycle way;
};
using Kind = ClusterMessage::Kind;

TEST(ClusterPort, TheLastWarpThatComesTellsAllOtherBlocks) {
  Cluster parts;
  parts.arrive(0, 100);
  EXPECT_TRUE(parts.messages.empty());
  parts.arrive(1, 120);
  ASSERT_EQ(parts.messages.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(parts.messages[i].time, 120 + parts.way);
    EXPECT_EQ(parts.messages[i].kind, Kind::barrier);
    EXPECT_EQ(parts.messages[i].cluster, 40u);
    EXPECT_EQ(parts.messages[i].offset, 1u) << "the first phase";
  }
  EXPECT_EQ(parts.messages[0].sm, 5u);
  EXPECT_EQ(parts.messages[0].rank, 0u);
  EXPECT_EQ(parts.messages[1].sm, 6u);
  EXPECT_EQ(parts.messages[1].rank, 2u);
}

TEST(ClusterPort, APhaseEndsWhereTheLastBlocksWordHasCome) {
  Cluster parts;
  parts.arrive(0, 100);
  parts.arrive(1, 120);
  const Warp& warp = parts.wait(0, 130);
  parts.hear(Kind::barrier, 150, 1);
  parts.hear(Kind::barrier, 400, 1);
  parts.run(400);
  EXPECT_EQ(warp.phase, Phase::barrier) << "two of three have come";
  parts.run(401);
  EXPECT_EQ(parts.block().cluster_phase, 1u);
  EXPECT_EQ(warp.phase, Phase::timed);
  EXPECT_EQ(warp.ready_at, 401u);
}

TEST(ClusterPort, ItsOwnWordTakesAsLongAsTheOthers) {
  Cluster parts;
  parts.hear(Kind::barrier, 101, 1);
  parts.hear(Kind::barrier, 102, 1);
  parts.arrive(0, 100);
  parts.arrive(1, 120);
  const Warp& warp = parts.wait(0, 130);
  parts.run(120 + parts.way);
  EXPECT_EQ(warp.phase, Phase::barrier);
  parts.run(121 + parts.way);
  EXPECT_EQ(warp.ready_at, 121 + parts.way);
}

TEST(ClusterPort, ABlockThatIsAPhaseAheadIsCountedForTheNext) {
  Cluster parts;
  parts.hear(Kind::barrier, 50, 1);
  parts.hear(Kind::barrier, 60,
             2);  // the same block, a phase on: impossible in one cluster of two, here it is early
  parts.hear(Kind::barrier, 70, 1);
  parts.arrive(0, 100);
  parts.arrive(1, 100);
  parts.run(101 + parts.way);
  EXPECT_EQ(parts.block().cluster_phase, 1u);
  parts.hear(Kind::barrier, 300, 2);
  parts.arrive(0, 310);
  parts.arrive(1, 310);
  parts.run(310 + parts.way);
  EXPECT_EQ(parts.block().cluster_phase, 1u);
  parts.run(311 + parts.way);
  EXPECT_EQ(parts.block().cluster_phase, 2u);
}

TEST(ClusterPort, ABlockThatHasEndedHasComeToAllPhases) {
  Cluster parts;
  parts.hear(Kind::left, 50, 0);
  parts.hear(Kind::left, 200, 0);
  parts.arrive(0, 100);
  parts.arrive(1, 100);
  parts.run(200);
  EXPECT_EQ(parts.block().cluster_phase, 0u) << "its own word has come, one block has neither come nor ended";
  parts.run(201);
  EXPECT_EQ(parts.block().cluster_phase, 1u);
}

TEST(ClusterPort, AWarpThatEndsIsNotWaitedFor) {
  Cluster parts;
  parts.arrive(0, 100);
  --parts.block().live_warps;
  parts.cluster.leave(parts.block(), 130);
  ASSERT_EQ(parts.messages.size(), 2u);
  EXPECT_EQ(parts.messages[0].kind, Kind::barrier);
  EXPECT_EQ(parts.messages[0].time, 130 + parts.way);
  parts.messages.clear();
  --parts.block().live_warps;
  parts.cluster.leave(parts.block(), 150);
  ASSERT_EQ(parts.messages.size(), 2u);
  EXPECT_EQ(parts.messages[0].kind, Kind::left);
  EXPECT_EQ(parts.messages[0].time, 150 + parts.way);
}

TEST(ClusterPort, ArrivalsOfOtherBlocksComeToItsMbarrier) {
  Cluster parts;
  sm_tests::Line how;
  how.executed = 1;
  how.base = 1u << 24 | 0x80;  // its own rank
  how.operand = 3;
  parts.barriers.execute(parts.barriers.add(parts.stand(3, kInit, how), 3), 10, 10);
  how.operand = work::kPhaseEnded;
  parts.barriers.execute(parts.barriers.add(parts.stand(2, kTest, how), 2), 60, 30);
  ClusterMessage message = parts.word(Kind::arrival, 200, 0x80);
  message.arrival = {1, 0, false};
  message.times = 2;
  parts.cluster.receive(message);
  EXPECT_EQ(parts.released_at(2), kNever) << "two of three";
  message.time = 300;
  message.times = 1;
  parts.cluster.receive(message);
  EXPECT_GE(parts.released_at(2), 301u);
  EXPECT_NE(parts.released_at(2), kNever);
}

TEST(ClusterPort, BytesOfAMulticastAreToldWhenTheyAreWritten) {
  Cluster parts;
  sm_tests::Line how;
  how.executed = 1;
  how.base = 1u << 24 | 0x80;
  how.operand = 1;
  parts.barriers.execute(parts.barriers.add(parts.stand(3, kInit, how), 3), 10, 10);
  parts.barriers.arrive_here(0, 0x80, {1, 32, false}, 1, false, 20);  // expects 32 bytes
  how.operand = work::kPhaseEnded;
  parts.barriers.execute(parts.barriers.add(parts.stand(2, kTest, how), 2), 60, 30);
  ClusterMessage message = parts.word(Kind::copied, 200, 0x80);
  message.arrival = {0, -32, false};
  message.times = 32;
  Parts beside({{"NOP", 1}});
  const Cycle written = beside.copies.engine.bring(32, 200) + parts.chip.tma.write_latency;
  parts.cluster.receive(message);
  parts.run(written);
  EXPECT_TRUE(parts.released.empty());
  EXPECT_EQ(parts.released_at(2), written + 1) << "not in the cycle that tells it";
}

TEST(ClusterPort, WhatComesForABlockThatHasEndedIsDropped) {
  Cluster parts;
  for (std::uint32_t i = 0; i < 3; ++i) parts.hear(Kind::barrier, 50 + i, 1);
  parts.block().used = false;
  parts.run(100);
  EXPECT_EQ(parts.block().cluster_phase, 0u);
}

}  // namespace
}  // namespace foretrace::sm
