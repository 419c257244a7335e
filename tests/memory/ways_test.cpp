// The parts on a request's way to its slice, each alone: the SM's link, the ways into L2, the slices' ports, the link between partitions.

#include <gtest/gtest.h>

#include "model/memory/partition_link.h"
#include "model/memory/slice_ports.h"
#include "model/memory/sm_link.h"
#include "model/memory/sm_ways.h"
#include "tests/memory/driver.h"
#include "tests/memory/parts.h"

namespace foretrace::memory_tests {
namespace {

using memory::Event;
using memory::EventKind;
using memory::Shared;
using memory::SlicePorts;
using Kind = memory::Packet::Kind;

// Ports of an SM move 64 bytes per cycle, all clocks are alike, the way takes 50 cycles.
class SmLink : public testing::Test {
 protected:
  std::vector<std::uint64_t> arrivals() {
    std::vector<std::uint64_t> times;
    for (const Timed& each : taken(link.arrivals())) times.push_back(each.time);
    return times;
  }
  Shared shared{small_chip()};
  memory::SmLink link{shared};
};

TEST_F(SmLink, ReadsOfAnSmLeaveOneACycleThoseOfAnotherBeside) {
  link.submit(read_request(7, 0, 1, 0b1111), {});
  link.submit(read_request(7, 0, 2, 0b0001), {});
  link.submit(read_request(7, 1, 3, 0b0001), {});
  EXPECT_EQ(arrivals(), (std::vector<std::uint64_t>{57, 57, 58}));
  EXPECT_EQ(shared.counters.tex_requests, 3u);
  EXPECT_EQ(shared.counters.tex_sectors_read, 6u);
}

TEST_F(SmLink, WritesTakeThePortByTheirPieces) {
  link.submit(read_request(0, 0, 1, 0b0001), {});
  link.submit(write_request(0, 0, 2, 0b1111), {});      // 128 bytes
  link.submit(write_request(0, 0, 3, 0b1111, 1u), {});  // and which of them: 160 bytes
  link.submit(read_request(0, 0, 4, 0b0001), {});
  EXPECT_EQ(arrivals(), (std::vector<std::uint64_t>{50, 52, 55, 56}));
  EXPECT_EQ(shared.writes.live(), 2u);
}

TEST_F(SmLink, AtomicsSayHowLongTheirSliceWillWork) {
  memory::Request request = atomic_request(0, 0, 1, 0b0011, 3);
  request.data = spec::AtomicData::single_precision;
  request.lone = 2;
  link.submit(request, {});
  const memory::Transaction& atomic = shared.pool[0];
  EXPECT_EQ(atomic.visits, 6u);
  // Cycles of 64 bytes: 1.5 for each of four sectors and of two lone words, up to 3 for a word once more.
  EXPECT_EQ(atomic.home_bytes, 6 * 96);
  EXPECT_EQ(atomic.lone, 2u);
  EXPECT_EQ(atomic.again_bytes, 192 - 96);
  EXPECT_EQ(shared.counters.tex_requests, 3u);
  EXPECT_EQ(shared.counters.tex_sectors_atomic, 6u);
}

// A slice's queue holds 256 cycles of work.
class SmWays : public testing::Test {
 protected:
  Shared shared{small_chip()};
  memory::SmWays ways{shared};
  Event event(std::uint32_t sm, std::uint64_t line) {
    const std::uint32_t index = packet(shared, sm, line, 1);
    return {index, EventKind::arrive, shared.pool[index], false};
  }
};

TEST_F(SmWays, WorkThatTheQueueHoldsBlocksNothing) {
  ways.hold(0, 256);
  EXPECT_TRUE(ways.passes(event(0, 1)));
}

TEST_F(SmWays, WorkBeyondTheQueueBlocksTheSmUntilItIsDone) {
  ways.hold(0, 256 + 3);
  ways.hold(0, 256 + 2);
  EXPECT_FALSE(ways.passes(event(0, 1)));
  EXPECT_TRUE(ways.passes(event(1, 2))) << "another SM's way";
  EXPECT_FALSE(ways.passes(event(0, 3)));
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{3, EventKind::way, 0}})) << "woken once";
  std::vector<std::uint32_t> entered;
  const auto enter = [&](const Event& e) { entered.push_back(e.index()); };
  shared.now = 2;
  ways.open(0, enter);
  EXPECT_TRUE(entered.empty());
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{3, EventKind::way, 0}}));
  shared.now = 3;
  ways.open(0, enter);
  EXPECT_EQ(entered, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(ways.passes(event(0, 4)));
}

TEST_F(SmWays, WhoFollowsOneThatBlocksAnewWaitsOn) {
  ways.hold(0, 256 + 1);
  EXPECT_FALSE(ways.passes(event(0, 1)));
  EXPECT_FALSE(ways.passes(event(0, 2)));
  taken(shared.events);
  shared.now = 1;
  int entered = 0;
  ways.open(0, [&](const Event&) {
    ++entered;
    ways.hold(0, 1 + 256 + 9);
  });
  EXPECT_EQ(entered, 1);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{10, EventKind::way, 0}}));
}

TEST_F(SmWays, SmsOfACpcShareItsWayOut) {
  EXPECT_EQ(ways.leave_cpc(0, 64), 0u);
  EXPECT_EQ(ways.leave_cpc(1, 64), 1u);
  EXPECT_EQ(ways.leave_cpc(2, 64), 0u) << "another CPC";
  EXPECT_EQ(ways.leave_cpc(0, 96), 3u);
  EXPECT_FALSE(ways.passes(event(1, 1))) << "the way out is taken";
  EXPECT_TRUE(ways.passes(event(2, 2)));
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{3, EventKind::way, 8}}))
      << "way 8 is the first CPC's, behind the eight SMs'";
  std::vector<std::uint32_t> entered;
  const auto enter = [&](const Event& e) { entered.push_back(e.index()); };
  shared.now = 3;
  ways.open(8, enter);
  EXPECT_EQ(entered, (std::vector<std::uint32_t>{0}));
}

TEST_F(SmWays, WhatBlocksAnSmAndItsCpcWaitsForBoth) {
  ways.hold(0, 256 + 2);
  EXPECT_FALSE(ways.passes(event(0, 1)));
  ways.leave_cpc(1, 64);
  EXPECT_EQ(ways.leave_cpc(1, 256), 4u);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{2, EventKind::way, 0}}));
  int entered = 0;
  const auto enter = [&](const Event&) { ++entered; };
  shared.now = 2;
  ways.open(0, enter);
  EXPECT_EQ(entered, 0);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{4, EventKind::way, 8}}));
  shared.now = 4;
  ways.open(8, enter);
  EXPECT_EQ(entered, 1);
}

// The way in beside a partition takes a sector per cycle; a CPC has four places before it.
TEST(SmWaysOfAPartition, ACpcThatHasTakenItsPlacesWaitsAndOthersDoNot) {
  spec::GpuSpec chip = small_chip();
  chip.network.cpc_request_bytes = 4096;
  chip.network.partition_request_bytes = 32;
  chip.network.cpc_queue = 4;
  Shared shared{chip};
  memory::SmWays ways{shared};
  const auto passes = [&](std::uint32_t sm) {
    const std::uint32_t index = packet(shared, sm, 1, 1);
    return ways.passes({index, EventKind::arrive, shared.pool[index], false});
  };
  EXPECT_EQ(ways.leave_cpc(0, 32), 0u);
  EXPECT_EQ(ways.leave_cpc(0, 64), 2u);
  EXPECT_EQ(ways.leave_cpc(2, 32), 3u) << "another CPC beside this partition";
  EXPECT_EQ(ways.leave_cpc(4, 32), 0u) << "one beside the other partition";
  EXPECT_EQ(ways.leave_cpc(1, 32), 4u);
  EXPECT_TRUE(passes(0)) << "one place is left: the first sector is in";
  EXPECT_EQ(ways.leave_cpc(0, 32), 5u);
  EXPECT_FALSE(passes(0));
  EXPECT_TRUE(passes(3));
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{2, EventKind::way, 8}}))
      << "when the next two sectors are in";
}

// 64 bytes per cycle; a write takes 1.5 times its bytes at its home, parts of a sector come three cycles apart; what the other partition's
// slice reads takes half a cycle.
class Ports : public testing::Test {
 protected:
  static spec::GpuSpec made() {
    spec::GpuSpec chip = small_chip();
    chip.l2.partly_interval = 3;
    chip.l2.tag_interval = 1;
    chip.l2.read_pass_interval = 0.5;
    return chip;
  }
  const spec::GpuSpec chip = made();
  Shared shared{chip};
  SlicePorts ports{shared};
  const std::uint64_t near_line = line_at_home(chip, 0), far_line = line_at_home(chip, 1);
  std::uint64_t read(std::uint8_t sectors, bool here) {
    return ports.pass_read(shared.pool[packet(shared, 0, near_line, sectors)], here);
  }
};

TEST_F(Ports, ReadsTakeTheirSectorsTime) {
  EXPECT_EQ(read(0b0001, true), 0u);
  EXPECT_EQ(read(0b1111, true), 2u);
  EXPECT_EQ(read(0b1111, false), 3u);
  EXPECT_EQ(read(0b1111, false), 3u) << "half a cycle each";
  EXPECT_EQ(read(0b1111, false), 4u);
  EXPECT_EQ(shared.counters.l2_slice_busy, 1u + 2 + 1 + 1 + 1);
}

TEST_F(Ports, ASliceLooksForOneLinePerCycle) {
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(read(0b0001, false), i) << "two of them could have their data's turn in a cycle";
  EXPECT_EQ(ports.pass_write(written(shared, 0, near_line, 0b0001), false).cycle, 4u)
      << "a write's looks are among them";
  EXPECT_EQ(shared.counters.l2_slice_busy, 4u * 1 + 1);
}

TEST_F(Ports, WritesAtHomeTakeLongerThanTheirBytes) {
  EXPECT_EQ(read(0b0001, true), 0u);
  const SlicePorts::Turn first = ports.pass_write(written(shared, 0, near_line, 0b1111), false);
  EXPECT_EQ(first.cycle, 2u) << "behind the read, 128 bytes";
  EXPECT_EQ(first.until, 2u);
  EXPECT_EQ(ports.pass_write(written(shared, 0, near_line, 0b1111), false).cycle, 4u) << "as reads would";
  EXPECT_EQ(ports.pass_write(written(shared, 0, near_line, 0b1111), false).cycle, 6u)
      << "they come in 3 cycles apart";
  EXPECT_EQ(ports.pass_write(written(shared, 0, near_line, 0b1111), false).cycle, 9u);
  EXPECT_EQ(shared.counters.l2_slice_busy, 1u + 4 * 2);
  EXPECT_EQ(ports.pass_write(written(shared, 0, near_line, 0b0001, 1u), false).cycle, 11u);
  EXPECT_EQ(shared.counters.l2_slice_busy, 9u + 2) << "a part of a sector: 96 bytes";
}

TEST_F(Ports, AWriteIntoACopyTakesItsTimeBesideTheSmToo) {
  const auto turn_of_next = [&](bool follows) {
    SlicePorts slices{shared};
    slices.pass_write(written(shared, 0, far_line, 0b0011, 1u), follows);
    return slices.pass_write(written(shared, 0, far_line, 0b0011, 1u), follows).cycle;
  };
  EXPECT_EQ(turn_of_next(false), 1u) << "a look each";
  EXPECT_EQ(turn_of_next(true), 2u) << "two sectors of 48 bytes";
  const auto whole = [&](bool follows) {
    SlicePorts slices{shared};
    slices.pass_write(written(shared, 0, far_line, 0b1111), follows);
    return slices.pass_write(written(shared, 0, far_line, 0b1111), follows).cycle;
  };
  EXPECT_EQ(whole(true), whole(false)) << "whole sectors leave a copy, and take no time for it";
}

TEST_F(Ports, TheSliceThatDoesMostIsCounted) {
  ports.pass_write(written(shared, 0, near_line, 0b1111), false);  // 128 bytes: 2 cycles
  const std::uint32_t index = packet(shared, 0, near_line, 0b0001, Kind::atomic);
  shared.pool[index].home_bytes = 96;
  for (int i = 0; i < 4; ++i) ports.pass_atomic(shared.pool[index]);
  stats::MemoryCounters counters;
  ports.count(counters);
  EXPECT_EQ(counters.l2_busiest_slice, 8u) << "an atomic's cycle and a half are not rounded";
  const std::uint32_t slice = shared.slice_of(written(shared, 0, near_line, 1));
  std::uint64_t other = near_line;
  while (shared.slice_of(written(shared, 0, other, 1)) == slice) other = line_at_home(chip, 0, other + 1);
  ports.pass_write(written(shared, 0, other, 0b1111), false);
  ports.count(counters);
  EXPECT_EQ(counters.l2_busiest_slice, 8u);
  ports.restart();
  ports.count(counters);
  EXPECT_EQ(counters.l2_busiest_slice, 0u);
}

TEST_F(Ports, WritesThatArePassedOnTakeTheirTurnAndALookAtTheTags) {
  const Event far = written(shared, 0, far_line, 0b1111);  // SM 0 is beside partition 0
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(ports.pass_write(far, false).cycle, i) << "a look per cycle";
  const std::uint32_t slice = shared.slice_of(far);
  EXPECT_EQ(ports.last(slice), 0u) << "no data";
  std::uint64_t line = near_line;
  while (shared.slice_of(written(shared, 0, line, 0b1111)) != slice)
    line = line_at_home(shared.spec, 0, line + 1);
  EXPECT_EQ(ports.pass_write(written(shared, 0, line, 0b0001), false).cycle, 3u)
      << "a sector, behind their looks";
  const std::uint64_t busy = ports.pass_write(written(shared, 0, line, 0b1111), false).cycle;
  EXPECT_EQ(busy, 5u) << "128 bytes behind it";
  EXPECT_EQ(ports.pass_write(far, false).cycle, busy) << "behind what came before";
}

TEST_F(Ports, WritesThatArePassedOnFindWorkAtTheirHome) {
  Event home =
      written(shared, 4, far_line, 0b0001, 1u);  // SM 4 is beside partition 1, a part of a sector: 96 bytes
  EXPECT_EQ(ports.pass_write(home, false).cycle, 0u);
  EXPECT_EQ(ports.pass_write(home, false).cycle, 3u) << "the port has it at 2";
  EXPECT_EQ(ports.pass_write(written(shared, 0, far_line, 0b0010), false).until, 2u) << "the port's";
  EXPECT_EQ(ports.pass_write(written(shared, 0, far_line, 0b0001, 1u), false).until, 6u) << "the sector's";
}

TEST_F(Ports, AtomicsOnTheSameSectorsInTurnKeepTheirHomeLonger) {
  const std::uint32_t index = packet(shared, 0, near_line, 0b0001, Kind::atomic);
  memory::Transaction& atomic = shared.pool[index];
  atomic.home_bytes = 128;
  atomic.turn_bytes = 256;
  EXPECT_EQ(ports.pass_atomic(atomic), 0u);
  EXPECT_EQ(ports.pass_atomic(atomic), 2u);
  atomic.kind = Kind::reduction;
  EXPECT_EQ(ports.pass_atomic(atomic), 8u) << "no answer where the last one had one";
  atomic.sectors = 0b0010;
  atomic.kind = Kind::atomic;
  EXPECT_EQ(ports.pass_atomic(atomic), 10u) << "other sectors";
  ports.restart();
  shared.counters.l2_slice_busy = 0;
  EXPECT_EQ(ports.pass_atomic(atomic), 0u);
  EXPECT_EQ(shared.counters.l2_slice_busy, 2u) << "a new launch knows of no last one";
}

TEST_F(Ports, LonePacketsTakeLongerByTheShareOfTheLastEightThatWereOnTheirLine) {
  const std::uint32_t index = packet(shared, 0, near_line, 0b0001, Kind::reduction);
  memory::Transaction& sums = shared.pool[index];
  sums.home_bytes = 128;
  sums.lone = 2;
  sums.again_bytes =
      128;  // of both packets, if all of the last eight were on the line: four cycles of 64 bytes
  const auto cycles = [&] {
    const std::uint64_t before = shared.counters.l2_slice_busy;
    ports.pass_atomic(sums);
    return shared.counters.l2_slice_busy - before;
  };
  EXPECT_EQ(cycles(), 2u);
  EXPECT_EQ(cycles(), 3u) << "half a cycle, which is rounded up";
  EXPECT_EQ(cycles(), 3u);
  for (int i = 3; i < 8; ++i) cycles();
  EXPECT_EQ(cycles(), 6u);
  EXPECT_EQ(cycles(), 6u) << "no more are remembered";
  const std::uint32_t tag = sums.tag;
  for (std::uint32_t i = 0; i < 4; ++i) {
    sums.tag = tag + 1 + i;
    EXPECT_EQ(cycles(), 2u) << "other lines";
  }
  sums.tag = tag;
  EXPECT_EQ(cycles(), 4u) << "four of eight";
}

TEST_F(Ports, AtomicsThatArePassedOnTakeHalfACycleASector) {
  const std::uint32_t index = packet(shared, 0, far_line, 0b1111, Kind::atomic);
  EXPECT_EQ(ports.pass_atomic(shared.pool[index]), 0u);
  EXPECT_EQ(ports.pass_atomic(shared.pool[index]), 2u);
}

TEST(PartitionLink, SectorsCrossBothWaysApart) {
  Shared shared(small_chip());  // 256 bytes per cycle, 40 cycles
  memory::PartitionLink link(shared);
  EXPECT_EQ(link.cross(false, 8), 40u);
  EXPECT_EQ(link.cross(false, 8), 41u);
  EXPECT_EQ(link.cross(false, 1), 42u);
  EXPECT_EQ(link.cross(true, 4), 40u);
  EXPECT_EQ(shared.counters.partition_sectors, 21u);
}

}  // namespace
}  // namespace foretrace::memory_tests
