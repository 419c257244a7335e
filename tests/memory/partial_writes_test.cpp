// Writes of a part of a sector: how far behind each other, in which sectors.

#include "model/memory/partial_writes.h"

#include <gtest/gtest.h>

#include "model/memory/memory_system.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::MemorySystem;
using memory::PartialWrites;

TEST(PartialWrites, OfASectorComeTheIntervalApart) {
  PartialWrites writes;
  EXPECT_EQ(writes.pass(10, 0b0001, 3), 10u);
  EXPECT_EQ(writes.pass(10, 0b0001, 3), 13u);
  EXPECT_EQ(writes.pass(15, 0b0001, 3), 16u);  // a cycle early: 16 is the first
  EXPECT_EQ(writes.pass(19, 0b0001, 3), 19u);  // on time
}

TEST(PartialWrites, OfOtherSectorsDoNotWait) {
  PartialWrites writes;
  writes.pass(10, 0b0001, 3);
  EXPECT_EQ(writes.pass(10, 0b0110, 3), 10u);
  EXPECT_EQ(writes.pass(10, 0b1100, 3), 13u);  // for sector 2
  EXPECT_EQ(writes.pass(13, 0b0010, 3), 13u);
  EXPECT_EQ(writes.pass(13, 0b1000, 3), 16u);  // for the one that waited
}

/// Cycles between the acknowledgements of the first and the last of `requests`, which go to one slice.
Cycle time_of(const spec::GpuSpec& chip, const std::vector<memory::Request>& requests) {
  MemorySystem memory(chip);
  const std::vector<memory::Reply> replies = play(memory, requests);
  EXPECT_EQ(replies.size(), requests.size());
  return replies.back().time - replies.front().time;
}

TEST(PartialWrites, OfManySmsPassASliceAtTheInterval) {
  spec::GpuSpec chip = small_chip();
  chip.l2.partitions = 1;
  chip.l2.granule_bytes = chip.l2.partition_bits = 0;
  chip.l2.partly_interval = 5;
  const auto stores = [](std::uint8_t sectors, std::uint8_t others, std::uint32_t bytes) {
    std::vector<memory::Request> requests;
    for (std::uint32_t sm = 0; sm < 8; ++sm)
      requests.push_back(write_request(1000, sm, 0, sm / 2 % 2 ? others : sectors, bytes, sm));
    return requests;
  };
  EXPECT_EQ(time_of(chip, stores(0b0001, 0b0001, 0xf)), 7u * 5u);
  // Two sectors in turn, of which the other one's first write passes the port two cycles later.
  EXPECT_EQ(time_of(chip, stores(0b0001, 0b0010, 0xf)), 3u * 5u + 2u);
  EXPECT_LE(time_of(chip, stores(0b0001, 0b0001, ~0u)), 7u);  // whole sectors, at the port's pace
  chip.l2.partly_interval = 1;
  EXPECT_LE(time_of(chip, stores(0b0001, 0b0001, 0xf)), 11u);
}

TEST(Reductions, AreAcknowledgedWhereTheirLineIsStillOnItsWay) {
  const spec::GpuSpec chip = small_chip();
  const auto answered = [&](memory::RequestKind kind, bool warm) {
    MemorySystem memory(chip);
    std::vector<memory::Request> requests = {read_request(0, 0, warm ? 0 : 64, 0b0001, 100),
                                             atomic_request(5000, 1, 0, 0b0001, 1, 7)};
    requests.back().kind = kind;
    const std::vector<memory::Reply> replies = play(memory, requests);
    EXPECT_EQ(replies.size(), 2u);
    EXPECT_EQ(replies.back().id, 7u);
    return replies.back().time;
  };
  EXPECT_EQ(answered(memory::RequestKind::reduction, false), answered(memory::RequestKind::reduction, true));
  EXPECT_GT(answered(memory::RequestKind::atomic, false), answered(memory::RequestKind::atomic, true) + 100);
}

TEST(PartialWrites, AtomicsWithAndWithoutAnAnswerTakeLongerInTurn) {
  spec::GpuSpec chip = small_chip();
  chip.l2.partitions = 1;
  chip.l2.granule_bytes = chip.l2.partition_bits = 0;
  chip.l2.atomic_interval = 1;
  const auto busy = [&](bool turn, std::uint8_t other, double more) {
    chip.l2.atomic_turn_interval = more;
    std::vector<memory::Request> requests = {read_request(0, 0, 0, 0b0011, 100)};
    for (std::uint32_t i = 0; i < 8; ++i) {
      requests.push_back(atomic_request(2000 + 200 * i, i, 0, i % 2 ? other : 1, 1, i));
      requests.back().lone = 1;
      if (turn && i % 2 == 1) requests.back().kind = memory::RequestKind::reduction;
    }
    MemorySystem memory(chip);
    play(memory, requests);
    return memory.counters().l2_slice_busy;
  };
  const auto plain = busy(false, 1, 3);
  EXPECT_EQ(busy(true, 1, 0), plain);
  EXPECT_EQ(busy(true, 1, 3), plain + 7u * 3u);  // seven come behind one of the other kind
  EXPECT_EQ(busy(true, 2, 3), plain);            // on sectors in turn
}

}  // namespace
}  // namespace foretrace::memory_tests
