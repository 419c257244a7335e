// What requests and replies pass on their way, each by itself: ports of limited width, the ratio of two clocks, replies that wait for their time.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "model/memory/clock_ratio.h"
#include "model/memory/outgoing.h"
#include "model/memory/port.h"

namespace foretrace::memory {
namespace {

TEST(Port, AFreePathLetsTheLastBytePassWhenItIsReady) {
  Port port(32);
  EXPECT_EQ(port.pass(0, 64), 0u);  // cut-through: what came before it passed earlier
  EXPECT_EQ(port.pass(10, 64), 10u);
  EXPECT_EQ(port.last(), 10u);
}

TEST(Port, WhatFollowsWaitsAsLongAsItsBytesTake) {
  Port port(32);
  EXPECT_EQ(port.pass(10, 64), 10u);
  EXPECT_EQ(port.pass(10, 64), 12u);
  EXPECT_EQ(port.pass(12, 16), 13u);  // cycle 12 is full
  EXPECT_EQ(port.pass(13, 16), 13u);  // the other half of 13
  EXPECT_EQ(port.pass(13, 1), 14u);
  EXPECT_EQ(port.pass(10, 160), 19u);  // 161 bytes from 14 on
}

TEST(Port, KeepsTheRestOfACycleAndNotThatOfAnIdleOne) {
  Port port(48);
  EXPECT_EQ(port.pass(5, 32), 5u);
  EXPECT_EQ(port.pass(5, 32), 6u);  // 16 bytes in cycle 5, 16 in cycle 6
  EXPECT_EQ(port.pass(6, 32), 6u);
  EXPECT_EQ(port.pass(6, 1), 7u);

  Port idle(48);
  EXPECT_EQ(idle.pass(5, 32), 5u);
  EXPECT_EQ(idle.pass(6, 32), 6u);  // none of it was there in cycle 5
  EXPECT_EQ(idle.pass(6, 16), 6u);
  EXPECT_EQ(idle.pass(6, 1), 7u);
}

TEST(Port, ForgetsWhatPassedBeforeReset) {
  Port port(32);
  port.pass(1000, 320);
  port.reset();
  EXPECT_EQ(port.last(), 0u);
  EXPECT_EQ(port.pass(3, 32), 3u);
}

TEST(ClockRatio, ThreeCyclesOfOneAreTwoOfTheOther) {
  const ClockRatio ratio(1'500'000'000, 1'000'000'000);
  EXPECT_EQ(ratio.from(), 3u);
  EXPECT_EQ(ratio.to(), 2u);
  const std::vector<std::uint64_t> up{0, 1, 2, 2, 3, 4, 4}, down{0, 0, 1, 2, 2, 3, 4};
  for (std::uint64_t cycle = 0; cycle < up.size(); ++cycle) {
    EXPECT_EQ(ratio.up(cycle), up[cycle]) << cycle;
    EXPECT_EQ(ratio.down(cycle), down[cycle]) << cycle;
  }
}

TEST(ClockRatio, NothingDriftsWhereProductsExceedAWord) {
  const ClockRatio ratio(1'980'000'000, 1'712'345'679);
  const std::uint64_t periods = 10'000;
  EXPECT_EQ(ratio.up(periods * ratio.from()), periods * ratio.to());
  EXPECT_EQ(ratio.up(periods * ratio.from() + 1), periods * ratio.to() + 1);
  EXPECT_EQ(ratio.down(periods * ratio.from()), periods * ratio.to());
  EXPECT_EQ(ratio.down(periods * ratio.from() - 1), periods * ratio.to() - 1);
}

class WaitingReplies : public testing::Test {
 protected:
  std::vector<std::uint32_t> data(std::uint32_t sm, Cycle known) {
    replies = {};
    outgoing.hand_out(known, replies);
    return ids(replies.of_sm[sm].data);
  }
  static std::vector<std::uint32_t> ids(const std::vector<Reply>& list) {
    std::vector<std::uint32_t> found;
    for (const Reply& reply : list) found.push_back(reply.id);
    return found;
  }
  using Ids = std::vector<std::uint32_t>;
  const ClockRatio twice{1, 2};  // an SM's clock runs at twice L2's
  Outgoing outgoing{2, twice, 10};
  Replies replies;
};

TEST_F(WaitingReplies, DataAreHandedOutWhenDueInOrderOfTimeThenOfSubmission) {
  outgoing.put({50, 0, 7}, 2, false);
  outgoing.put({50, 0, 8}, 1, false);
  outgoing.put({40, 0, 9}, 3, false);
  EXPECT_EQ(outgoing.next(0), 40u);
  EXPECT_EQ(data(0, 40), Ids{});  // due before 40: none
  EXPECT_EQ(data(0, 50), Ids{9});
  EXPECT_FALSE(outgoing.empty());
  EXPECT_EQ(data(0, 51), (Ids{8, 7}));
  EXPECT_TRUE(outgoing.empty());
}

TEST_F(WaitingReplies, AcknowledgementsTakeTheLatencyAndMeetInOrderOfTime) {
  EXPECT_EQ(outgoing.time_of(5), 30u);           // (5 + 10) cycles of L2
  outgoing.acknowledge(1, 1, 20, false, false);  // at 60
  outgoing.acknowledge(1, 2, 15, true, false);   // at 50
  EXPECT_EQ(outgoing.next(21), 50u);             // both have left
  EXPECT_EQ(outgoing.next(16), 40u);             // the write leaves at 20 of L2
  EXPECT_EQ(data(1, 60), Ids{});                 // they are no data
  EXPECT_EQ(ids(replies.of_sm[1].acknowledgements), Ids{2});
  EXPECT_EQ(replies.of_sm[1].acknowledgements[0].time, 50u);
  data(1, 61);
  EXPECT_EQ(ids(replies.of_sm[1].acknowledgements), Ids{1});
  EXPECT_EQ(outgoing.next(100), kNever);
}

TEST_F(WaitingReplies, CodeIsHandedOutByTimeThenSm) {
  outgoing.put({70, 1, 3}, 0, true);
  outgoing.put({70, 0, 4}, 1, true);
  outgoing.put({69, 1, 5}, 2, true);
  data(0, 70);
  EXPECT_EQ(ids(replies.of_code), Ids{5});
  data(0, 71);
  EXPECT_EQ(ids(replies.of_code), (Ids{4, 3}));
}

TEST_F(WaitingReplies, AreForgottenTogether) {
  outgoing.put({50, 0, 7}, 0, false);
  outgoing.put({50, 0, 8}, 1, true);
  outgoing.acknowledge(0, 1, 20, true, true);
  outgoing.clear();
  EXPECT_TRUE(outgoing.empty());
  EXPECT_EQ(data(0, 1000), Ids{});
  EXPECT_TRUE(replies.of_code.empty());
}

}  // namespace
}  // namespace foretrace::memory
