// Parts of the memory pipe by themselves: operations under way, loads and reductions on their way to L2, what a request says of its access.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/access_shapes.h"
#include "model/sm/memory_requests.h"
#include "model/sm/misses.h"
#include "model/sm/store_way.h"
#include "tests/sm/bench.h"

namespace foretrace::sm {
namespace {

TEST(MemoryOperations, NumbersAreUsedAgainAndTheirDetailsStay) {
  MemoryOperations operations;
  EXPECT_TRUE(operations.empty());
  const std::uint32_t first = operations.take(), second = operations.take();
  MemoryDetail* const detail = operations[first].detail;
  EXPECT_NE(detail, operations[second].detail);
  EXPECT_EQ(operations.number_of(operations[second]), second);
  operations.give_back(first);
  EXPECT_FALSE(operations.empty());
  EXPECT_EQ(operations.take(), first);
  EXPECT_EQ(operations[first].detail, detail);
  operations.give_back(first);
  operations.give_back(second);
  EXPECT_TRUE(operations.empty());
}

TEST(Misses, LinesAreBounded) {
  Misses misses(2, 100);
  misses.take(1, 0b0001);
  EXPECT_TRUE(misses.room(4));
  const std::uint32_t last = misses.take(2, 0b0001);
  EXPECT_FALSE(misses.room(1));
  misses.end(last, [](std::uint32_t) {});
  EXPECT_TRUE(misses.room(1));
  EXPECT_EQ(misses.take(3, 0b0001), last) << "its number is free again";
}

TEST(Misses, SectorsAreBoundedUnlessNoneIsUnderWay) {
  Misses misses(8, 3);
  EXPECT_TRUE(misses.room(4)) << "else it could never leave";
  misses.take(1, 0b0011);
  EXPECT_TRUE(misses.room(1));
  EXPECT_FALSE(misses.room(2));
}

TEST(Misses, WaitersGoOnByAge) {
  Misses misses(8, 8);
  const std::uint32_t one = misses.take(1, 0b0001), other = misses.take(2, 0b0001);
  misses.wait(one, 7);
  misses.wait(other, 9);
  misses.wait(one, 5);
  misses.wait(one, 6);
  std::vector<std::uint32_t> went;
  const auto go_on = [&](std::uint32_t operation) { went.push_back(operation); };
  misses.end(one, go_on);
  EXPECT_EQ(went, (std::vector<std::uint32_t>{7, 5, 6}));
  const std::uint32_t again = misses.take(3, 0b0001);
  misses.end(again, go_on);
  EXPECT_EQ(went.size(), 3u) << "nobody waits for what has its number now";
  misses.end(other, go_on);
  EXPECT_EQ(went.back(), 9u);
}

TEST(Misses, LeaveTheirLinesListWhereverTheyStand) {
  Misses misses(8, 8);
  std::int32_t first = -1;
  std::uint32_t numbers[3];
  for (std::uint32_t& number : numbers) {  // the newest stands first
    number = misses.take(1, 0b0001);
    misses[number].next = first;
    first = static_cast<std::int32_t>(number);
  }
  EXPECT_TRUE(misses.unlink(first, numbers[1]));
  EXPECT_FALSE(misses.unlink(first, numbers[1]));
  EXPECT_EQ(first, static_cast<std::int32_t>(numbers[2]));
  EXPECT_EQ(misses[numbers[2]].next, static_cast<std::int32_t>(numbers[0]));
  EXPECT_TRUE(misses.unlink(first, numbers[2]));
  EXPECT_TRUE(misses.unlink(first, numbers[0]));
  EXPECT_EQ(first, -1);
}

/// An atomic of 32-bit words at `stride` bytes from lane to lane, for its first line.
memory::Request packets_of(isa::Access access, std::uint64_t stride, isa::AtomicKind kind = {}) {
  isa::MemoryForm form;
  form.access = access;
  form.atomic = kind;
  form.bytes = 4;
  work::LaneAddresses addresses{};
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = lane * stride;
  memory::Request request;
  put_packets(request, form, addresses, ~0u);
  return request;
}

TEST(MemoryRequests, NeighbouringWordsLeaveInOnePacketOfAnAddressAndFourSectors) {
  EXPECT_EQ(packets_of(isa::Access::reduction, 4).packets, 1);
  EXPECT_EQ(packets_of(isa::Access::reduction, 4).flits, 1 + 4);
  EXPECT_EQ(packets_of(isa::Access::reduction, 4, isa::AtomicKind::compare).flits, 2 * (1 + 4));
}

TEST(MemoryRequests, LoneWordsFitIntoTheirAddressesPiece) {
  const memory::Request reduction = packets_of(isa::Access::reduction, 128);
  EXPECT_EQ(reduction.packets, 1);
  EXPECT_EQ(reduction.lone, 1);
  EXPECT_EQ(reduction.flits, 1);
  EXPECT_EQ(packets_of(isa::Access::atomic, 128).flits, 2) << "the flit of the answer";
}

TEST(MemoryRequests, OnlyTheLastOfAnAccesssLinesTellsAndWaits) {
  MemoryOperation operation;
  operation.tells = 1;
  operation.waits = true;
  operation.warp = 4;
  memory::Request request;
  put_signal(request, operation, false);
  EXPECT_EQ(request.tells, 0);
  EXPECT_EQ(request.waits, 0);
  put_signal(request, operation, true);
  EXPECT_EQ(request.tells, 1);
  EXPECT_EQ(request.waits, 5);
}

spec::L1Spec way_spec(std::uint32_t bytes, std::uint32_t places) {
  spec::L1Spec spec;
  spec.way_bytes = bytes;
  spec.way_instructions = places;
  spec.way_address_bytes = 48;
  spec.way_sector_bytes = 32;
  return spec;
}

TEST(WayPieces, AnAddressHasRoomForALoneWordAndSectorsComeOnTop) {
  const WayPieces way(way_spec(160, 2));
  const auto pieces = [&way](int packets, int visits, int lone) {
    memory::Request reduction;
    reduction.packets = static_cast<std::uint8_t>(packets);
    reduction.visits = static_cast<std::uint8_t>(visits);
    reduction.lone = static_cast<std::uint8_t>(lone);
    return way.of_reduction(reduction);
  };
  EXPECT_EQ(pieces(1, 1, 1), 3u) << "a word";
  EXPECT_EQ(pieces(32, 32, 32), 96u) << "32 lanes on it";
  EXPECT_EQ(pieces(1, 1, 0), 5u) << "words of one sector";
  EXPECT_EQ(pieces(1, 4, 0), 11u) << "a line";
  memory::Request store;
  store.sectors = 1;
  store.bytes[0] = 0xf;
  EXPECT_EQ(way.of_store(store), 3u) << "a word";
  store.bytes[0] = 0x1f;
  EXPECT_EQ(way.of_store(store), 5u) << "a byte more";
  store.sectors = 0b1111;
  EXPECT_EQ(way.of_store(store), 11u);
}

TEST(StoreWay, InstructionsWaitBehindWhatIsSentAndInOrder) {
  StoreWay way(way_spec(160, 2));  // ten pieces
  std::vector<std::uint32_t> left;
  const auto leaves = [&](std::uint32_t id) { left.push_back(id); };
  EXPECT_TRUE(way.enter(1, 9));
  EXPECT_FALSE(way.full());
  EXPECT_TRUE(way.enter(2, 8)) << "a piece of room is enough to go";
  EXPECT_TRUE(way.full());
  EXPECT_FALSE(way.enter(3, 1));
  EXPECT_TRUE(way.has_room());
  EXPECT_FALSE(way.enter(4, 20));
  EXPECT_FALSE(way.has_room()) << "two wait";
  EXPECT_TRUE(way.waits());
  way.served(7, leaves);
  EXPECT_TRUE(left.empty()) << "ten pieces of the first two";
  way.served(1, leaves);
  EXPECT_EQ(left, (std::vector<std::uint32_t>{3})) << "nine of them, and the third's one";
  EXPECT_TRUE(way.has_room());
  way.served(1, leaves);
  EXPECT_EQ(left, (std::vector<std::uint32_t>{3, 4}));
  EXPECT_FALSE(way.waits());
  EXPECT_FALSE(way.enter(5, 1)) << "29";
  way.served(29, leaves);  // in whatever order L2 does them
  EXPECT_EQ(left.back(), 5u);
  EXPECT_TRUE(way.enter(6, 30));
}

TEST(AccessShapes, InstructionsAreCountedByWhatTheirOpcodeNames) {
  const spec::GpuSpec chip = sm_tests::bench_chip();
  const StaticProgram program(sm_tests::program_of({{"NOP"}}), chip);
  const DataArray array(chip.l1.unified_bytes, 0, 1);
  stats::LaunchCounters counters;
  AccessShapes shapes(program, array, counters);
  isa::MemoryForm form;
  form.access = isa::Access::load;
  form.space = isa::Space::global;
  shapes.count_instruction(form);
  form.space = isa::Space::local;
  shapes.count_instruction(form);
  form.space = isa::Space::generic;
  shapes.count_instruction(form);  // of no space
  form.access = isa::Access::atomic;
  shapes.count_instruction(form);  // ATOM is one of global memory
  EXPECT_EQ(counters.inst_global_ld, 1u);
  EXPECT_EQ(counters.inst_local_ld, 1u);
  EXPECT_EQ(counters.inst_shared_ld, 0u);
  EXPECT_EQ(counters.inst_global_atom, 1u);
}

}  // namespace
}  // namespace foretrace::sm
