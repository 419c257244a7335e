// What one request, or a handful, costs and counts: latencies to the cycle, hits, copies, write-back,
// granularity.

#include "model/memory/memory_system.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "model/memory/topology.h"
#include "model/units/error.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::MemorySystem;
using spec::GpuSpec;

// SM 0 is beside partition 0 (GPC 0 of 4), SM 4 beside partition 1 (GPC 2).
constexpr std::uint32_t kNearSm = 0, kOtherSm = 4;

class SmallChip : public testing::Test {
 protected:
  const GpuSpec chip = small_chip();
  MemorySystem memory{chip};
  const std::uint64_t near_line = line_at_home(chip, 0), far_line = line_at_home(chip, 1);
  const Cycle hit = 50 + 70 + 60;
  const Cycle closed_row = 20 + 22;  // activate and read
  const Cycle miss = hit + 100 + closed_row;
  const Cycle far = 2 * 40;
  const Cycle atomic_more = 80 - 70;  // an atomic's latency less a read's
};

TEST_F(SmallChip, SmsAndPartitionsAreMappedByGpc) {
  EXPECT_EQ(memory::gpc_of_sm(chip.sm, 5), 2u);
  EXPECT_EQ(memory::partition_of_sm(chip, kNearSm), 0u);
  EXPECT_EQ(memory::partition_of_sm(chip, kOtherSm), 1u);
}

TEST_F(SmallChip, ReadThatMissesTakesItsWayAndTheDeviceTiming) {
  // One access of 64 bytes takes four cycles of 16 bytes.
  EXPECT_EQ(latency_of(memory, read_request(0, kNearSm, near_line, 0b0001)), miss + 4);
  EXPECT_EQ(memory.counters().dram_bytes_read, 64u);
  EXPECT_EQ(memory.counters().tex_sectors_read, 1u);
  EXPECT_EQ(memory.counters().tex_sectors_miss, 2u);  // what it brings
}

TEST_F(SmallChip, AnswersAndAcknowledgementsTakeTheSmsOwnWays) {
  GpuSpec steps = chip;
  steps.sm.gpcs = 2;  // of two TPCs, the second nearer than the first
  steps.network.tpc_step = 12;
  MemorySystem placed(steps);
  constexpr std::uint32_t kNext = kNearSm + 4;  // the next TPC of the same GPC
  latency_of(placed, read_request(0, kNearSm, near_line, 0b0001));
  EXPECT_EQ(latency_of(placed, read_request(1000, kNearSm, near_line, 0b0001)), hit + 6);
  EXPECT_EQ(latency_of(placed, read_request(2000, kNext, near_line, 0b0001)), hit - 6);
  EXPECT_EQ(placed.lookahead(), static_cast<Cycle>(50 - 3 + 60 - 3));
  const auto written = [&](Cycle time, std::uint32_t sm) {
    memory::Request request = write_request(time, sm, near_line, 0b0001);
    request.wants_reply = true;
    return latency_of(placed, request);
  };
  EXPECT_EQ(written(3000, kNearSm) - written(4000, kNext), 12u);
}

TEST_F(SmallChip, ReadOfAWholeLineMovesTwoAccesses) {
  EXPECT_EQ(latency_of(memory, read_request(0, kNearSm, near_line, 0b1111)), miss + 8);
  EXPECT_EQ(memory.counters().dram_bytes_read, 128u);
}

TEST_F(SmallChip, SecondReadHits) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b0001));
  EXPECT_EQ(latency_of(memory, read_request(1000, kNearSm, near_line, 0b0001)), hit);
  EXPECT_EQ(memory.counters().tex_sectors_hit, 1u);
  EXPECT_EQ(memory.counters().dram_bytes_read, 64u);
}

TEST_F(SmallChip, NeighbourInTheAccessWasFilledTheOtherHalfWasNot) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b0001));
  EXPECT_EQ(latency_of(memory, read_request(1000, kNearSm, near_line, 0b0010)), hit);
  EXPECT_GT(latency_of(memory, read_request(2000, kNearSm, near_line, 0b0100)), hit);
}

TEST_F(SmallChip, AccessGranularityIsTheSpecs) {
  GpuSpec fine = chip;
  fine.dram.access_bytes = 32;
  MemorySystem one(fine);
  latency_of(one, read_request(0, kNearSm, near_line, 0b0001));
  EXPECT_EQ(one.counters().dram_bytes_read, 32u);
  EXPECT_GT(latency_of(one, read_request(1000, kNearSm, near_line, 0b0010)), hit);
  GpuSpec coarse = chip;
  coarse.dram.access_bytes = 128;
  MemorySystem line(coarse);
  latency_of(line, read_request(0, kNearSm, near_line, 0b0001));
  EXPECT_EQ(line.counters().dram_bytes_read, 128u);
  EXPECT_EQ(latency_of(line, read_request(1000, kNearSm, near_line, 0b1000)), hit);
}

TEST_F(SmallChip, FarReadCrossesTwiceAndLeavesACopy) {
  EXPECT_EQ(latency_of(memory, read_request(0, kNearSm, far_line, 0b0001)), miss + 4 + far);
  EXPECT_EQ(memory.counters().lts_sectors, 3u);  // looked up on both sides, at home the whole access
  EXPECT_EQ(memory.counters().partition_sectors, 2u);
  EXPECT_EQ(latency_of(memory, read_request(1000, kNearSm, far_line, 0b0001)), hit);
  EXPECT_EQ(memory.counters().lts_sectors, 4u);
}

TEST_F(SmallChip, FarHitCostsTwoCrossings) {
  latency_of(memory, read_request(0, kOtherSm, far_line, 0b0001));
  EXPECT_EQ(latency_of(memory, read_request(1000, kNearSm, far_line, 0b0001)), hit + far);
}

TEST_F(SmallChip, WriteAtHomeDropsTheOtherSidesCopy) {
  latency_of(memory, read_request(0, kNearSm, far_line, 0b0001));
  latency_of(memory, write_request(1000, kOtherSm, far_line, 0b0001));
  EXPECT_EQ(latency_of(memory, read_request(2000, kNearSm, far_line, 0b0001)), hit + far);
}

TEST_F(SmallChip, FarWriteKeepsItsOwnCopyCurrent) {
  latency_of(memory, read_request(0, kNearSm, far_line, 0b0001));
  EXPECT_EQ(latency_of(memory, write_request(1000, kNearSm, far_line, 0b0001)), hit + far);
  EXPECT_EQ(latency_of(memory, read_request(2000, kNearSm, far_line, 0b0001)), hit);
}

TEST_F(SmallChip, FarWriteOfWholeSectorsLeavesACopyBesideItsSm) {
  latency_of(memory, read_request(0, kOtherSm, far_line, 0b1111));  // its home has it
  EXPECT_EQ(latency_of(memory, write_request(1000, kNearSm, far_line, 0b0101)), hit + far);
  EXPECT_EQ(latency_of(memory, read_request(2000, kNearSm, far_line, 0b0001)), hit);
  EXPECT_EQ(latency_of(memory, read_request(3000, kNearSm, far_line, 0b0101)), hit);
  EXPECT_EQ(latency_of(memory, read_request(4000, kNearSm, far_line, 0b0010)), hit + far) << "another sector";
  latency_of(memory, write_request(5000, kOtherSm, far_line, 0b0001));
  EXPECT_EQ(latency_of(memory, read_request(6000, kNearSm, far_line, 0b0001)), hit + far)
      << "written at home since";
}

TEST_F(SmallChip, FarWriteOfAPartOfASectorLeavesNone) {
  latency_of(memory, read_request(0, kOtherSm, far_line, 0b1111));
  latency_of(memory, write_request(1000, kNearSm, far_line, 0b0001, 0xffffu));
  EXPECT_EQ(latency_of(memory, read_request(2000, kNearSm, far_line, 0b0001)), hit + far);
}

TEST_F(SmallChip, WholeSectorsAreWrittenWithoutAFill) {
  EXPECT_EQ(latency_of(memory, write_request(0, kNearSm, near_line, 0b1111)), hit);
  EXPECT_EQ(memory.counters().dram_bytes_read, 0u);
  EXPECT_EQ(memory.counters().dram_bytes_write, 0u);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 4u);
  EXPECT_EQ(latency_of(memory, read_request(1000, kNearSm, near_line, 0b1111)), hit);
}

TEST_F(SmallChip, PartlyWrittenSectorIsFilledWhenItIsRead) {
  latency_of(memory, write_request(0, kNearSm, near_line, 0b0001, 0x0000ffff));
  EXPECT_EQ(memory.counters().dram_bytes_read, 0u);
  EXPECT_GT(latency_of(memory, read_request(1000, kNearSm, near_line, 0b0001)), hit);
  EXPECT_EQ(memory.counters().fill_sectors, 1u);
  EXPECT_EQ(memory.counters().dram_bytes_read, 64u);  // as any read
}

TEST_F(SmallChip, BytesOfSeveralWritesCompleteASector) {
  latency_of(memory, write_request(0, kNearSm, near_line, 0b0001, 0x0000ffff));
  latency_of(memory, write_request(1000, kNearSm, near_line, 0b0001, 0xffff0000));
  EXPECT_EQ(latency_of(memory, read_request(2000, kNearSm, near_line, 0b0001)), hit);
  EXPECT_EQ(memory.counters().fill_sectors, 0u);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 1u);
}

TEST_F(SmallChip, WritesNeedNoReplyUnlessAsked) {
  memory::Request write = write_request(0, kNearSm, near_line, 0b0001);
  write.wants_reply = false;
  EXPECT_TRUE(play(memory, {write}).empty());
  EXPECT_EQ(memory.counters().tex_sectors_write, 1u);
}

TEST_F(SmallChip, AtomicIsDoneAtHomeAndDirtiesItsSector) {
  latency_of(memory, read_request(0, kOtherSm, far_line, 0b0001));
  EXPECT_EQ(latency_of(memory, atomic_request(1000, kNearSm, far_line, 0b0001, 1)), hit + atomic_more + far);
  EXPECT_EQ(memory.counters().tex_sectors_atomic, 1u);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 1u);
  EXPECT_EQ(latency_of(memory, atomic_request(2000, kOtherSm, far_line, 0b0001, 1)), hit + atomic_more);
}

TEST_F(SmallChip, PacketsOfAtomicsFollowAtTheAtomicInterval) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b1111));
  // Two SMs with 32 packets of a sector each, then one with a packet of four; SMs 0 and 2 leave by GPCs of their own.
  std::vector<memory::Request> requests = {atomic_request(1000, 0, near_line, 0b0001, 32, 0),
                                           atomic_request(1000, 1, near_line, 0b1111, 1, 1),
                                           atomic_request(1000, 2, near_line, 0b0001, 32, 2)};
  for (memory::Request& request : requests)
    request.kind = memory::RequestKind::reduction;  // answers without data
  const std::vector<memory::Reply> replies = play(memory, requests, 1000);
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].time, 1000 + hit + atomic_more);
  EXPECT_EQ(replies[1].time, replies[0].time + 40);  // at 1.25 cycles per sector
  EXPECT_EQ(replies[2].time, replies[1].time + 5);
  EXPECT_EQ(memory.counters().tex_sectors_reduction, 2u * 32u + 4u);
  EXPECT_EQ(memory.counters().tex_requests, 1u + 2u * 32u + 1u);
}

TEST_F(SmallChip, AnAtomicTakesItsSliceByWhatItAdds) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b1111));
  using Data = spec::AtomicData;
  Cycle at = 1000;
  // Reductions of SMs 0 and 1 on `first` and `second`, then one more: all are done so many cycles after the first one.
  const auto time_of = [&](Data data, std::uint8_t first, std::uint8_t second, std::uint8_t packets,
                           bool lone) {
    std::vector<memory::Request> requests = {
        atomic_request(at, 0, near_line, first, packets, 0),
        atomic_request(at, 1, near_line, second, packets, 1),
        atomic_request(at + (lone ? 12 : 0), 2, near_line, 0b1000, 1, 2)};
    for (memory::Request& request : requests) {
      request.kind = memory::RequestKind::reduction;
      request.data = data;
      if (lone) request.lone = request.packets;
    }
    const std::vector<memory::Reply> replies = play(memory, requests, at);
    at += 1000;
    return replies.at(2).time - replies.at(lone ? 0 : 1).time;
  };
  // Several words of four sectors.
  EXPECT_EQ(time_of(Data::integer, 0b0001, 0b1111, 1, false), 5u);  // 1.25 cycles per sector
  EXPECT_EQ(time_of(Data::wide, 0b0001, 0b1111, 1, false), 4u);
  EXPECT_EQ(time_of(Data::compare, 0b0001, 0b1111, 1, false), 8u);
  EXPECT_EQ(time_of(Data::single_precision, 0b0001, 0b1111, 1, false), 6u);
  EXPECT_EQ(time_of(Data::double_precision, 0b0001, 0b1111, 1, false), 8u);
}

TEST_F(SmallChip, SumsOfFloatsOnAWordTakeLongerByTheShareOfTheSlicesLastOnes) {
  // Of so many reductions of eight lanes on a word, one every `period` is on the line looked at, the others on one in the same slice.
  const memory::AddressMap map(chip);
  std::uint64_t other = near_line + 1;
  while (map.place(other).home != map.place(near_line).home ||
         map.place(other).index != map.place(near_line).index)
    ++other;
  const auto busy = [&](spec::AtomicData data, std::uint32_t lines) {
    MemorySystem system(chip);
    std::vector<memory::Request> requests;
    latency_of(system, read_request(0, kNearSm, near_line, 0b1111));
    latency_of(system, read_request(1000, kNearSm, other, 0b1111));
    const std::uint64_t before = system.counters().l2_slice_busy;
    for (std::uint32_t i = 0; i < 80; ++i) {
      requests.push_back(
          atomic_request(2000 + 400 * i, kNearSm, i % lines ? other : near_line, 0b0001, 8, i));
      requests.back().kind = memory::RequestKind::reduction;
      requests.back().data = data;
      requests.back().lone = 8;
    }
    play(system, requests, 2000);
    return system.counters().l2_slice_busy - before;
  };
  using Data = spec::AtomicData;
  EXPECT_EQ(busy(Data::integer, 1), busy(Data::integer, 2));
  const double plain = static_cast<double>(busy(Data::integer, 1)),
               one = static_cast<double>(busy(Data::single_precision, 1)),
               two = static_cast<double>(busy(Data::single_precision, 2));
  EXPECT_GT(one, 1.8 * plain) << "2.4 once the last eight are known";
  EXPECT_NEAR(two - plain, (one - plain) / 2, 80) << "each of 80 is rounded up to a cycle";
}

TEST_F(SmallChip, ASliceHasLittleWorkWithReadsThatItGetsFromTheOtherPartition) {
  // Beside the SMs 0 to 3, a slice that holds a line, and is asked for four of the other partition's just before.
  const memory::AddressMap map(chip);
  std::vector<std::uint64_t> lines;
  for (std::uint64_t line = far_line; lines.size() < 4; ++line) {
    const memory::Place place = map.place(line);
    if (place.home == 1 && place.index == map.place(near_line).index) lines.push_back(line);
  }
  const auto delay = [&](double interval) {
    GpuSpec slow = chip;
    slow.l2.read_pass_interval = interval;
    MemorySystem system(slow);
    latency_of(system, read_request(0, 1, near_line, 0b0001));
    std::vector<memory::Request> requests;
    for (std::uint32_t sm = 0; sm < 4; ++sm)
      requests.push_back(read_request(2000, sm, lines[sm], 0b0001, sm));
    requests.push_back(read_request(2001, 3, near_line, 0b0001, 9));
    for (const memory::Reply& reply : play(system, requests, 2000)) {
      if (reply.id == 9) return reply.time - 2001 - hit;
    }
    return kNever;
  };
  EXPECT_EQ(delay(0.25), 0u);  // four quarters of a cycle
  EXPECT_EQ(delay(0.5), 1u);
  EXPECT_EQ(delay(1), 3u);
  EXPECT_EQ(delay(2), 6u);  // of the first only its last cycle counts
}

TEST_F(SmallChip, SlicesPassFarAtomicsOnFaster) {
  latency_of(memory, read_request(0, kOtherSm, far_line, 0b0001));
  std::vector<memory::Request> requests;
  for (std::uint32_t sm : {0u, 1u}) requests.push_back(atomic_request(1000, sm, far_line, 0b0001, 32, sm));
  // The near slice passes 32 packets on in 16 cycles; home, not the way, sets the pace.
  const std::vector<memory::Reply> replies = play(memory, requests, 1000);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_GE(replies[1].time - replies[0].time, 40u);
  EXPECT_LT(replies[1].time - replies[0].time, 48u);
  EXPECT_EQ(memory.counters().partition_sectors, 2u * 2u * 32u);
}

TEST_F(SmallChip, AFullSliceHoldsUpWhatAnSmSendsBehindItsAtomics) {
  GpuSpec wide = chip;
  wide.network.request_bytes = wide.network.cpc_request_bytes = wide.network.partition_request_bytes = 4096;
  const auto latency_behind = [&](int atomics, std::uint32_t reader) {
    MemorySystem system(wide);
    std::vector<memory::Request> requests;
    for (int i = 0; i < atomics; ++i) {
      requests.push_back(atomic_request(1000, kNearSm, near_line, 0b0001, 32, static_cast<std::uint32_t>(i)));
      requests.back().kind = memory::RequestKind::reduction;
    }
    std::uint64_t elsewhere = near_line;
    const memory::AddressMap map(wide);
    while (map.place(elsewhere).index == map.place(near_line).index || map.place(elsewhere).home != 0)
      ++elsewhere;
    latency_of(system, read_request(0, reader, near_line, 0b1111));
    latency_of(system, read_request(400, reader, elsewhere, 0b1111));
    requests.push_back(read_request(1001, reader, elsewhere, 0b0001, 99));
    std::stable_sort(requests.begin(), requests.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const memory::Reply& reply : play(system, requests, 1000)) {
      if (reply.id == 99) return reply.time - 1001;
    }
    return Cycle{0};
  };
  // 40 cycles each: the seventh finds 240 cycles of work before it, the eighth 280, which is more than 256.
  EXPECT_LT(latency_behind(7, kNearSm), hit + 10);  // the way out of the SM
  EXPECT_GE(latency_behind(8, kNearSm), hit + 20);
  EXPECT_GE(latency_behind(20, kNearSm), hit + 480);
  EXPECT_LT(latency_behind(20, 2), hit + 10);  // another SM's way is open
}

TEST_F(SmallChip, AFullSlicesEntriesGoToBothPartitionsInTurn) {
  GpuSpec few = chip;
  few.l2.misses = 2;
  MemorySystem system(few);
  const memory::AddressMap map(few);
  constexpr std::uint32_t kNear = 60, kFar = 10, kFirstFar = 100;
  std::vector<memory::Request> requests;
  std::uint64_t line = near_line;
  const auto read = [&](Cycle time, std::uint32_t sm, std::uint32_t id) {  // lines of one slice
    do ++line;
    while (map.place(line).home != 0 || map.place(line).index != map.place(near_line).index);
    requests.push_back(read_request(time, sm, line, 0b0001, id));
  };
  for (std::uint32_t i = 0; i < kNear; ++i) read(i, kNearSm, i);
  for (std::uint32_t i = 0; i < kFar; ++i) read(kNear + i, kOtherSm, kFirstFar + i);
  std::uint32_t near_since = 0, of_far = 0;
  for (const memory::Reply& reply : play(system, requests)) {
    if (reply.id >= kFirstFar) {
      ++of_far;
    } else if (of_far > 0 && of_far < kFar) {
      ++near_since;
    }
  }
  EXPECT_EQ(of_far, kFar);
  EXPECT_GE(near_since, kFar - 2);  // one of each in turn,
  EXPECT_LE(near_since,
            2 * kFar);  // while others would wait for all sixty; what is on its way across has no turn
}

TEST_F(SmallChip, MissesToOneLineAreMerged) {
  std::vector<memory::Request> requests;
  for (std::uint32_t sm : {0u, 1u, 2u, 3u}) requests.push_back(read_request(0, sm, near_line, 0b0001, sm));
  EXPECT_EQ(play(memory, requests).size(), 4u);
  EXPECT_EQ(memory.counters().dram_bytes_read, 64u);
  EXPECT_EQ(memory.counters().tex_sectors_miss, 2u);
  EXPECT_EQ(memory.counters().tex_sectors_hit, 3u);  // on its way is as good as there
}

TEST_F(SmallChip, InstructionLinesAreNoTexTraffic) {
  memory::Request request = read_request(0, kNearSm, near_line, 0b1111);
  request.kind = memory::RequestKind::instruction;
  EXPECT_EQ(latency_of(memory, request), miss + 8);
  EXPECT_EQ(memory.counters().tex_requests, 0u);
  EXPECT_EQ(memory.counters().tex_sectors_read, 0u);
  EXPECT_EQ(memory.counters().lts_sectors, 4u);
}

TEST_F(SmallChip, WarmLaunchFindsWhatWasLeftColdDoesNot) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b0001));
  memory.begin_launch(true);
  EXPECT_EQ(latency_of(memory, read_request(0, kNearSm, near_line, 0b0001)), hit);
  memory.begin_launch(false);
  EXPECT_EQ(memory.counters().tex_requests, 0u);
  EXPECT_GT(latency_of(memory, read_request(0, kNearSm, near_line, 0b0001)), hit);
}

TEST_F(SmallChip, DirtySectorsSurviveAWarmLaunch) {
  latency_of(memory, write_request(0, kNearSm, near_line, 0b0011));
  memory.begin_launch(true);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 2u);
  memory.begin_launch(false);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 0u);
}

TEST_F(SmallChip, WarmLaunchFindsNothingWhereL2WasEmptied) {
  latency_of(memory, write_request(0, kNearSm, near_line, 0b0011));
  memory.begin_launch(true);
  latency_of(memory, read_request(0, kNearSm, near_line, 0b0011));
  memory.empty_l2();
  memory.begin_launch(true);
  EXPECT_EQ(memory.counters().dirty_sectors_left, 0u);
  EXPECT_GT(latency_of(memory, read_request(0, kNearSm, near_line, 0b0001)), hit);
  memory.begin_launch(true);
  EXPECT_EQ(latency_of(memory, read_request(0, kNearSm, near_line, 0b0001)), hit);
}

TEST_F(SmallChip, ReplyIsKnownOneLookaheadBeforeItIsDueAndNotEarlier) {
  latency_of(memory, read_request(0, kNearSm, near_line, 0b0001));
  ASSERT_EQ(memory.lookahead(), 110u);
  memory.submit(read_request(2000, kNearSm, near_line, 0b0001));
  memory::Replies known;
  const Cycle due = 2000 + hit;
  memory.advance(due - 110, known);
  EXPECT_TRUE(in_order(known).empty());
  memory.advance(due - 109, known);
  const std::vector<memory::Reply> replies = in_order(known);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].time, due);
  EXPECT_TRUE(memory.idle());
  EXPECT_EQ(memory.next_event(), kNever);
}

TEST_F(SmallChip, SegmentsOfAMissSayWhereItWas) {
  latency_of(memory, read_request(0, kNearSm, far_line, 0b0001));
  const stats::MemoryCounters& counters = memory.counters();
  EXPECT_EQ(counters.segment_network, 50u + 60u);
  EXPECT_EQ(counters.segment_l2, 70u);
  EXPECT_EQ(counters.segment_partition, far);
  EXPECT_EQ(counters.segment_dram_queue, 0u);
  EXPECT_EQ(counters.segment_dram, 100u + closed_row + 4);
  EXPECT_EQ(counters.read_latency, miss + 4 + far);
}

TEST(MemorySystem, ClockDomainsScaleTheirOwnParts) {
  GpuSpec chip = small_chip();
  chip.l2.partitions = 1;
  chip.clock = {2'000'000'000, 1'000'000'000, 500'000'000};
  MemorySystem memory(chip);
  EXPECT_EQ(memory.lookahead(), 2 * 110u);
  // An L2 cycle is two SM cycles, a DRAM cycle four.
  const Cycle cold = latency_of(memory, read_request(0, 0, 0, 0b0001));
  EXPECT_EQ(cold, 2 * (50 + 70 + 60 + 100) + 4 * (20 + 22 + 4));
  EXPECT_EQ(latency_of(memory, read_request(1000, 0, 0, 0b0001)), 2 * (50 + 70 + 60));
}

TEST(MemorySystem, RefusesChipsWhosePartsDoNotDivide) {
  GpuSpec chip = small_chip();
  chip.dram.channels = 3;
  EXPECT_THROW(MemorySystem{chip}, InputError);
  chip = small_chip();
  chip.l2.partitions = 3;
  EXPECT_THROW(MemorySystem{chip}, InputError);
  chip = small_chip();
  chip.l2.bytes += 128;
  EXPECT_THROW(MemorySystem{chip}, InputError);
}

}  // namespace
}  // namespace foretrace::memory_tests
