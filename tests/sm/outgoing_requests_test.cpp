// What leaves an SM for L2: in what order, when, and what waits for what.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/outgoing_requests.h"

namespace foretrace::sm {
namespace {

memory::Request store_of(std::uint64_t line, std::uint8_t sectors = 1) {
  memory::Request request;
  request.kind = memory::RequestKind::write;
  request.line = line;
  request.sectors = sectors;
  return request;
}

spec::L1Spec out_spec() {
  spec::L1Spec spec;
  spec.store_sectors_in_flight = 4;
  spec.store_lines = 2;
  spec.store_cycles = 50;
  spec.store_line_cycles = 30;
  spec.store_way_ahead = 2;
  spec.store_merge_cycles = 4;
  spec.way_address_bytes = 3 * spec::kWayPieceBytes;
  spec.way_sector_bytes = 2 * spec::kWayPieceBytes;
  return spec;
}

TEST(OutgoingRequests, OnePieceLeavesPerCycle) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 9, outbox);
  memory::Request load;
  load.line = 1;
  out.send_load(load, 17, 100);
  out.send_load(load, 18, 100);
  memory::Request store = store_of(2);
  store.flits = 5;
  out.send_store(store, 100);
  out.send_load(load, 19, 120);
  ASSERT_EQ(outbox.size(), 4u);
  EXPECT_EQ(outbox[0].time, 100u);
  EXPECT_EQ(outbox[0].id, 17u);
  EXPECT_EQ(outbox[0].sm, 9u);
  EXPECT_EQ(outbox[1].time, 101u);
  EXPECT_EQ(outbox[2].time, 106u) << "with the last of its flits";
  EXPECT_EQ(outbox[3].time, 120u);
  EXPECT_EQ(out.last_out(), 120u);
}

TEST(OutgoingRequests, TakeStoresOnlyALittleBeforeTheWayIsFree) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 9, outbox);
  EXPECT_EQ(out.takes_stores_from(), 0u);
  memory::Request store = store_of(2);
  store.flits = 5;
  out.send_store(store, 100);
  EXPECT_EQ(out.last_out(), 104u);
  EXPECT_EQ(out.takes_stores_from(), 102u);
}

TEST(OutgoingRequests, AnAcknowledgementBringsBackWhatAReductionTakesOfTheWay) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  memory::Request reduction = store_of(1, 0b0011);
  reduction.kind = memory::RequestKind::reduction;
  reduction.visits = 32;
  reduction.flits = 64;
  out.send_store(reduction, 100, 1, 160);
  out.send_store(store_of(2), 100);
  EXPECT_FALSE(out.store_room());
  EXPECT_EQ(out.acknowledged(outbox[0].id), 160u);
  EXPECT_TRUE(out.store_room());
  EXPECT_EQ(out.acknowledged(outbox[1].id), 0u) << "a store";
  EXPECT_TRUE(out.idle());
}

TEST(OutgoingRequests, StoresInFlightAreBoundedInSectorsUntilTheyAreAcknowledged) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  EXPECT_TRUE(out.idle());
  out.send_store(store_of(1, 0b0111), 100);
  EXPECT_TRUE(out.store_room());
  out.send_store(store_of(2, 0b1111), 100);
  EXPECT_FALSE(out.store_room()) << "seven sectors";
  out.acknowledged(outbox[0].id);
  EXPECT_FALSE(out.store_room()) << "four";
  out.acknowledged(outbox[1].id);
  EXPECT_TRUE(out.store_room());
  EXPECT_TRUE(out.idle());
  out.send_load({}, 3, 200);
  EXPECT_FALSE(out.idle());
  out.answered();
  EXPECT_TRUE(out.idle());
}

TEST(OutgoingRequests, HeldStoresLeaveWhenTheyAreDueBeforeWhatIsSentLater) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  out.hold(4, store_of(7, 0b0011), 1, 100);
  out.end_instruction(4, 100);
  EXPECT_FALSE(out.idle());
  EXPECT_EQ(out.held().due(), 150u);
  out.leave_due(149);
  EXPECT_TRUE(outbox.empty());
  out.send_load({}, 1, 160);
  ASSERT_EQ(outbox.size(), 2u);
  EXPECT_EQ(outbox[0].line, 7u);
  EXPECT_EQ(outbox[0].time - outbox[0].flits + (outbox[0].flits ? 1u : 0u), 150u) << "when it was due";
  EXPECT_EQ(outbox[1].time, 160u);
  out.hold(4, store_of(8, 0b1111), 1, 200);
  EXPECT_FALSE(out.store_room()) << "held sectors count: two in flight and four";
  out.leave_all(201);
  EXPECT_EQ(outbox.size(), 3u);
}

TEST(OutgoingRequests, HeldStoresWaitWhileTheWayToL2IsFull) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  const auto words = [](std::uint8_t sectors) {
    memory::Request store = store_of(7, sectors);
    store.bytes = {0xff, 0xff, 0xff, 0xff};
    return store;
  };
  EXPECT_EQ(out.hold(4, words(0b0011), 1, 100), 7u) << "an address and two sectors";
  out.end_instruction(4, 100);
  out.way_is_full(true, 120);
  EXPECT_EQ(out.held_due(), kNever);
  out.leave_due(500);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(out.hold(4, words(0b0110), 1, 520), 2u) << "and so others join them";
  out.end_instruction(4, 520);
  EXPECT_EQ(out.hold(5, words(0b0001), 1, 540), 0u) << "of other warps, too";
  out.end_instruction(5, 540);
  EXPECT_TRUE(out.held_wait());
  EXPECT_TRUE(out.way_is_full(false, 600));
  EXPECT_FALSE(out.held_wait());
  EXPECT_EQ(out.held_due(), 600u);
  out.leave_due(599);
  EXPECT_TRUE(outbox.empty());
  out.leave_due(600);
  ASSERT_EQ(outbox.size(), 1u);
  EXPECT_GE(outbox[0].time, 600u);
  EXPECT_EQ(outbox[0].sectors, 0b0111);
  EXPECT_EQ(out.acknowledged(outbox[0].id), 9u);
  EXPECT_TRUE(out.idle());
}

TEST(OutgoingRequests, HeldStoresWaitLongerWhereTheirInstructionWroteMoreAndForTheWay) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  std::vector<Cycle> left;
  const auto note = [&](std::uint64_t, std::uint8_t, Cycle when) { left.push_back(when); };
  for (const std::uint64_t line : {7u, 8u}) out.hold(4, store_of(line), 2, 100);
  out.end_instruction(4, 100);
  EXPECT_EQ(out.held_due(), 160u) << "two lines at 30 cycles are more than 50";
  out.leave_due(159);
  EXPECT_TRUE(outbox.empty());
  out.leave_due(160);
  ASSERT_EQ(outbox.size(), 1u) << "one of them, of two flits: its data and which of its bytes";
  EXPECT_EQ(outbox[0].time, 161u);
  EXPECT_EQ(out.held_due(), 161u + 1) << "the way is free";
  out.leave_due(161);
  EXPECT_EQ(outbox.size(), 1u);
  out.leave_due(162);
  EXPECT_EQ(outbox.size(), 2u);
  EXPECT_EQ(out.held_due(), kNever);
  out.for_each_left(note);
  EXPECT_EQ(left, (std::vector<Cycle>{161, 163})) << "their last flits";
  out.for_each_left(note);
  EXPECT_EQ(left.size(), 2u) << "each is told once";
}

TEST(OutgoingRequests, TheCopyEnginesStoresFollowEachOther) {
  std::vector<memory::Request> outbox;
  OutgoingRequests out(out_spec(), 0, outbox);
  memory::Request store = store_of(1, 0b1111);
  store.flits = 5;
  EXPECT_EQ(out.send_copied_store(store, 100), 105u);
  EXPECT_EQ(out.send_copied_store(store, 105), 110u);
  out.for_each_left([](auto...) { FAIL() << "L1 is not told"; });
  memory::Request load;
  load.id = 0x1000'0001;
  out.send_copied_load(load, 110);
  EXPECT_EQ(outbox.back().time, 110u);
  EXPECT_EQ(outbox.back().id, 0x1000'0001u);
}

}  // namespace
}  // namespace foretrace::sm
