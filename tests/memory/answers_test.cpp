// The way back alone: the ports of GPC and SM, shared answers, acknowledgements, and where a read's time went.

#include "model/memory/answers.h"

#include <gtest/gtest.h>

#include "tests/memory/driver.h"
#include "tests/memory/parts.h"

namespace foretrace::memory_tests {
namespace {

using memory::Shared;
using memory::Transaction;

// All clocks are alike; 60 cycles to the SM, whose port moves 64 bytes per cycle, the GPC's 128.
class Answers : public testing::Test {
 protected:
  explicit Answers(std::uint32_t gpc_reply_bytes = 128) : shared(chip(gpc_reply_bytes)) {}
  static spec::GpuSpec chip(std::uint32_t gpc_reply_bytes) {
    spec::GpuSpec made = small_chip();
    made.l2.merged_reads = 4;
    made.network.gpc_reply_bytes = gpc_reply_bytes;
    return made;
  }
  /// A read of a whole line that reached its slice at 50 and was found at 120.
  std::uint32_t read(std::uint32_t sm, std::uint32_t id) {
    const std::uint32_t index = packet(shared, sm, 1, 0b1111);
    Transaction& transaction = shared.pool[index];
    transaction.id = id;
    transaction.order = id;
    transaction.reached = 50;
    transaction.segments.l2 = 70;
    return index;
  }
  std::vector<std::pair<Cycle, std::uint32_t>> known(Cycle before) {
    memory::Replies replies;
    answers.hand_out(before, replies);
    std::vector<std::pair<Cycle, std::uint32_t>> all;
    for (const memory::Reply& each : in_order(replies)) all.emplace_back(each.time, each.id);
    return all;
  }
  using Known = std::vector<std::pair<Cycle, std::uint32_t>>;
  Shared shared;
  memory::ReadMerging merging{shared};
  memory::Answers answers{shared, merging};
};

TEST_F(Answers, AreHandedOutWhenTheirTimeIsKnown) {
  const std::uint32_t index = read(0, 1);
  shared.now = 120;
  answers.answer(index);
  EXPECT_FALSE(answers.empty());
  EXPECT_EQ(known(180), Known{});
  EXPECT_EQ(known(181), (Known{{180, 1}}));
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(shared.pool.live(), 0u);
}

TEST_F(Answers, SmsShareTheirGpcsPortAndHaveTheirOwn) {
  const std::uint32_t a = read(0, 1), b = read(0, 2), c = read(1, 3), d = read(2, 4);
  shared.now = 120;
  for (const std::uint32_t index : {a, b, c, d}) answers.answer(index);
  // Of SM 0's GPC one line crosses a cycle; SM 0's own port takes two cycles for the second. SM 2 is of another GPC.
  EXPECT_EQ(known(1000), (Known{{180, 1}, {180, 4}, {182, 2}, {182, 3}}));
}

TEST_F(Answers, ReadsThatWereTakenAlongCrossToTheGpcOnce) {
  const std::uint32_t first = read(0, 1), joined = read(1, 2), last = read(0, 3);
  merging.join(first);
  merging.join(joined);
  shared.pool[joined].reached = 100;
  shared.now = 120;
  answers.answer(first);
  answers.answer(last);
  EXPECT_EQ(merging.lines(), 0u);
  EXPECT_EQ(known(1000), (Known{{180, 1}, {180, 2}, {182, 3}}));
}

// The GPC's port moves a line in four cycles, an SM's in two.
class AnswersOfANarrowGpc : public Answers {
 protected:
  AnswersOfANarrowGpc() : Answers(32) {}
};

TEST_F(AnswersOfANarrowGpc, EachFurtherReadOfOneSmCrossesItself) {
  const std::uint32_t first = read(0, 1), other = read(1, 2), same = read(0, 3), other_again = read(1, 4);
  for (const std::uint32_t index : {first, other, same, other_again}) merging.join(index);
  for (const std::uint32_t index : {other, same, other_again}) shared.pool[index].reached = 100;
  shared.now = 120;
  answers.answer(first);
  EXPECT_EQ(known(1000), (Known{{180, 1}, {180, 4}, {184, 3}, {188, 2}}));
}

TEST_F(Answers, AcknowledgementsTakeNoPort) {
  answers.acknowledge(0, 7, 120, false, false);
  answers.acknowledge(0, 8, 120, false, false);
  EXPECT_EQ(answers.next(120), 120u) << "another leaves";
  EXPECT_EQ(answers.next(121), 180u) << "it has left";
  EXPECT_EQ(known(181), (Known{{180, 7}, {180, 8}}));
}

TEST_F(Answers, ALatencysSegmentsSumToIt) {
  const std::uint32_t index = read(0, 1);
  shared.pool[index].segments = {.l2 = 30, .partition = 10, .dram_queue = 5, .dram = 25};
  shared.now = 120;
  answers.answer(index);
  memory::Shared& counted = shared;
  answers.count(counted.counters);
  EXPECT_EQ(counted.counters.read_latency, 180u);
  EXPECT_EQ(counted.counters.segment_network, 110u);
  EXPECT_EQ(counted.counters.segment_l2, 30u);
  EXPECT_EQ(counted.counters.segment_partition, 10u);
  EXPECT_EQ(counted.counters.segment_dram_queue, 5u);
  EXPECT_EQ(counted.counters.segment_dram, 25u);
}

TEST_F(Answers, AReadThatWasTakenAlongWaitedForTheLastOfIt) {
  const std::uint32_t first = read(0, 1), joined = read(1, 2);
  merging.join(first);
  merging.join(joined);
  shared.pool[first].reached = 0;
  shared.pool[first].segments = {.l2 = 75, .partition = 0, .dram_queue = 5, .dram = 40};
  shared.pool[joined].reached =
      10;  // its 110 cycles: 70 of the slice's latency and the last 40 before, which are DRAM's
  std::vector<memory::ReadJourney> journeys;
  answers.observe(&journeys);
  shared.now = 120;
  answers.answer(first);
  ASSERT_EQ(journeys.size(), 2u);
  EXPECT_EQ(journeys[0].id, 2u);
  EXPECT_EQ(journeys[0].reached, 10u);
  EXPECT_EQ(journeys[0].l2, 80u);
  EXPECT_EQ(journeys[0].dram_queue, 80u);
  EXPECT_EQ(journeys[0].dram, 120u);
}

}  // namespace
}  // namespace foretrace::memory_tests
