// Another device's memory: what lies there, what leaves the chip and when it is back.

#include "model/memory/peer_link.h"

#include <gtest/gtest.h>

#include "tests/memory/driver.h"
#include "tests/memory/parts.h"

namespace foretrace::memory_tests {
namespace {

using memory::Event;
using memory::EventKind;
using memory::PeerMemory;
using Kind = memory::Packet::Kind;

// All clocks are at 1 GHz: a byte per nanosecond is one per cycle. Lines 8 to 15 are a peer's; it answers after 700 cycles; the link
// carries 64 bytes per cycle, of which 32 go with the data and a question takes 16.
std::shared_ptr<const PeerMemory> peer() {
  auto made = std::make_shared<PeerMemory>();
  made->ranges = {{8 * kLineBytes, 16 * kLineBytes}};
  made->latency = 700;
  made->bandwidth = 64;
  made->header = 32;
  made->question = 16;
  return made;
}
spec::GpuSpec chip() {
  spec::GpuSpec made = small_chip();
  made.clock.sm = made.clock.l2 = made.clock.dram = 1'000'000'000;
  return made;
}

TEST(PeerMemory, HoldsTheLinesOfItsRanges) {
  PeerMemory memory;
  memory.ranges = {{1000, 1001}, {1280, 1536}};
  for (const auto& [line, held] :
       {std::pair{6u, false}, {7u, true}, {8u, false}, {9u, false}, {10u, true}, {11u, true}, {12u, false}})
    EXPECT_EQ(memory.holds(line), held) << line;
}

class PeerLink : public testing::Test {
 protected:
  PeerLink() {
    shared.peer = peer();
    link.restart();
  }
  /// It comes to the link now; the cycle in which it has left.
  std::uint64_t leave(std::uint32_t index) {
    return link.leave({index, EventKind::peer, shared.pool[index], false});
  }
  memory::Shared shared{chip()};
  memory::ReadMerging merging{shared};
  memory::Answers answers{shared, merging};
  memory::PeerLink link{shared, answers};
};

TEST_F(PeerLink, QuestionsAndDataTakeTheWayOutByTheirBytes) {
  std::vector<std::uint32_t> reads;
  for (int i = 0; i < 5; ++i) reads.push_back(packet(shared, 0, 8, 0b1111));
  EXPECT_EQ(leave(reads[0]), 0u) << "four questions per cycle";
  EXPECT_EQ(leave(reads[3]), 0u);
  EXPECT_EQ(leave(reads[1]), 0u);
  EXPECT_EQ(leave(reads[2]), 0u);
  EXPECT_EQ(leave(reads[4]), 1u);
  // 128 bytes, and 32 with them: 16 + 160 bytes are 2.75 cycles, the last byte passes in the third from cycle 1 on.
  Event write = written(shared, 0, 9, 0b1111).as(EventKind::peer);
  EXPECT_EQ(link.leave(write), 3u);
  const std::uint32_t atomic = packet(shared, 0, 9, 0b0001, Kind::atomic);
  EXPECT_EQ(leave(atomic), 4u) << "80 bytes, of which 16 are left of cycle 3's";
}

TEST_F(PeerLink, WhatIsWrittenInPartTakesItsUnitsAndOneForTheirBytes) {
  // Behind a whole line, of which 64 bytes are cycle 0's, and four writes: the cycle of a question of 16 bytes.
  const auto left = [&](std::uint32_t bytes) {
    link.restart();
    link.leave(written(shared, 0, 9, 0b1111).as(EventKind::peer));
    for (int i = 0; i < 4; ++i) link.leave(written(shared, 0, 9, 0b0001, bytes).as(EventKind::peer));
    return leave(packet(shared, 0, 8, 0b0001));
  };
  EXPECT_EQ(left(0xffffu), 4u) << "32 + 16 bytes each";
  EXPECT_EQ(left(~0u), 5u) << "32 + 32";
  EXPECT_EQ(left(0xfu), 5u) << "32 + 16 + 16";
  EXPECT_EQ(left(0x1000fu), 6u) << "32 + 32 + 16";
}

TEST_F(PeerLink, AnswersAreBackAfterItsLatencyAndShareTheWayIn) {
  const std::uint32_t a = packet(shared, 0, 8, 0b1111), b = packet(shared, 0, 9, 0b0001);
  leave(a);
  leave(b);
  const std::vector<Timed> back = taken(shared.events);
  EXPECT_EQ(back, (std::vector<Timed>{{700, EventKind::peer, a}, {700, EventKind::peer, b}}));
  shared.now = 700;
  for (const std::uint32_t index : {a, b}) {
    shared.pool[index].crossed = true;
    link.come_back({index, EventKind::peer, shared.pool[index], false});
  }
  // Both are offered at once: 64 bytes pass one cycle behind the last of the 160.
  EXPECT_EQ(taken(shared.events),
            (std::vector<Timed>{{700, EventKind::reply, a}, {701, EventKind::reply, b}}));
  EXPECT_EQ(shared.pool[a].segments.partition, 700u);
}

// Through the whole system: 50 cycles there, 60 back, as on the way to L2 and from it.
class PeerSystem : public testing::Test {
 protected:
  PeerSystem() {
    system.set_peer(peer());
    system.begin_launch(false);
  }
  /// The time of the reply to it.
  Cycle time_of(const memory::Request& request) {
    system.submit(request);
    memory::Replies replies;
    for (Cycle until = request.time + 1; until < 3000; until += 20) system.advance(until, replies);
    for (const memory::Reply& each : in_order(replies)) {
      if (each.id == request.id) return each.time;
    }
    return 0;
  }
  memory::MemorySystem system{chip()};
};

TEST_F(PeerSystem, AReadOfItIsAnsweredByTheLink) {
  EXPECT_EQ(time_of(read_request(0, 0, 8, 0b0001)), 50u + 700 + 60);
  EXPECT_EQ(system.counters().dram_bytes_read, 0u);
  EXPECT_EQ(system.counters().lts_sectors, 0u);
  EXPECT_TRUE(system.idle());
}

TEST_F(PeerSystem, AgainItIsNoFaster) {
  time_of(read_request(0, 0, 8, 0b0001));
  system.begin_launch(true);
  EXPECT_EQ(time_of(read_request(0, 0, 8, 0b0001)), 50u + 700 + 60);
}

TEST_F(PeerSystem, WritesAndReductionsAreAcknowledgedFromThere) {
  EXPECT_EQ(time_of(write_request(0, 0, 8, 0b1111)), 50u + 700 + 60);
  system.begin_launch(false);
  memory::Request add = atomic_request(0, 0, 8, 0b0001, 1);
  add.kind = memory::RequestKind::reduction;
  EXPECT_EQ(time_of(add), 50u + 700 + 60);
  EXPECT_TRUE(system.idle());
}

TEST_F(PeerSystem, WhatIsWrittenHoldsUpItsSmWhereTheLinkIsBehind) {
  // 400 lines are 1,000 cycles of the link; each SM's 100 pass its port in 200. Behind them SM 0 reads its own memory: it is let go when
  // the link has 256 cycles of work left, as many as a slice may have.
  const auto read_behind = [&](std::uint64_t line) {
    system.begin_launch(false);
    for (std::uint32_t sm = 0; sm < 4; ++sm) {
      for (std::uint32_t i = 0; i < 100; ++i)
        system.submit(write_request(0, sm, line + i % 8, 0b1111, ~0u, 7));
    }
    return time_of(read_request(1, 0, 32, 0b0001, 1));
  };
  const Cycle behind = read_behind(8);
  system.begin_launch(false);
  const Cycle alone = time_of(read_request(0, 0, 32, 0b0001, 1));
  // The first line passes in cycle 50, SM 0's last, the 397th, in 50 + 396 * 2.5.
  EXPECT_EQ(behind, alone - 50 + (1040 - 256));
}

TEST_F(PeerSystem, TheDevicesOwnMemoryIsAsWithoutPeers) {
  const Cycle with = time_of(read_request(0, 0, 16, 0b0011));
  system.set_peer(nullptr);
  system.begin_launch(false);
  EXPECT_EQ(time_of(read_request(0, 0, 16, 0b0011)), with);
}

}  // namespace
}  // namespace foretrace::memory_tests
