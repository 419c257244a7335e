// Units of the memory pipe by themselves: when each refuses, when it takes, and what it tells.

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/data_stage.h"
#include "model/sm/load_order.h"
#include "model/sm/memory_queues.h"
#include "model/sm/texture_unit.h"
#include "model/sm/write_back.h"
#include "tests/sm/bench.h"

namespace foretrace::sm {
namespace {

using Turn = MemoryQueues::Turn;
constexpr auto kAnything = [](std::uint32_t) { return Turn::goes; };

spec::LsuSpec queue_spec() {
  spec::LsuSpec spec;
  spec.queue = 3;
  spec.issue_latency = 5;
  spec.address_latency = 6;
  spec.address_interval = 4;
  spec.uniform_interval = 2;
  spec.sm_interval = 2;
  return spec;
}

TEST(MemoryQueues, AnInstructionIsTakenWhenItsAddressIsThereAndNotBefore) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  const auto address = queues.enter(1, 7, 4, 100);
  EXPECT_EQ(address.start, 105u);
  EXPECT_EQ(address.ready, 111u);
  EXPECT_EQ(queues.take(110, kAnything), MemoryQueues::kNone);
  EXPECT_EQ(queues.take(111, kAnything), 7u);
  EXPECT_EQ(queues.take(200, kAnything), MemoryQueues::kNone) << "it has left";
}

TEST(MemoryQueues, WhatHoldsTheWayInHoldsUpTheNextOfItsSubCore) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  EXPECT_EQ(queues.enter(0, 1, 4, 100).start, 105u);
  EXPECT_EQ(queues.enter(0, 2, 2, 101).start, 109u) << "behind the first";
  EXPECT_EQ(queues.enter(0, 3, 2, 102).start, 111u);
  EXPECT_EQ(queues.enter(1, 4, 2, 102).start, 107u) << "another sub-core has its own";
}

TEST(MemoryQueues, APlaceIsFreeOnceTheMemoryUnitHasTakenTheFirst) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(queues.has_room(2));
    queues.enter(2, i, 2, 100);
  }
  EXPECT_FALSE(queues.has_room(2));
  EXPECT_TRUE(queues.has_room(3));
  EXPECT_EQ(queues.take(111, kAnything), 0u);
  EXPECT_TRUE(queues.has_room(2));
}

TEST(MemoryQueues, SubCoresAreServedInTurnAnIntervalApartPastThoseThatCannotGo) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  for (const int sub_core : {0, 1, 3}) queues.enter(sub_core, static_cast<std::uint32_t>(sub_core), 2, 100);
  queues.enter(0, 10, 2, 100);
  EXPECT_EQ(queues.take(111, kAnything), 0u);
  EXPECT_EQ(queues.take(112, kAnything), MemoryQueues::kNone) << "one every two cycles";
  EXPECT_EQ(queues.take(113, [](std::uint32_t id) { return id == 1 ? Turn::is_passed : Turn::goes; }), 3u);
  EXPECT_EQ(queues.take(115, kAnything), 10u) << "behind sub-core 3 it is the turn of 0";
  EXPECT_EQ(queues.take(117, kAnything), 1u);
}

TEST(MemoryQueues, WhatHoldsUpLeavesThoseBehindItWhereTheyAreUntilItGoes) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  for (const int sub_core : {0, 1, 2}) queues.enter(sub_core, static_cast<std::uint32_t>(sub_core), 2, 100);
  const auto second_waits = [](std::uint32_t id) { return id == 1 ? Turn::holds_up : Turn::goes; };
  EXPECT_EQ(queues.take(111, second_waits), 0u) << "its turn is before";
  EXPECT_EQ(queues.take(113, second_waits), MemoryQueues::kNone);
  EXPECT_EQ(queues.take(114, kAnything), 1u);
  EXPECT_EQ(queues.take(116, second_waits), 2u);
}

TEST(MemoryQueues, TheFirstOfEachQueueIsLookedAtWithItsTime) {
  const spec::LsuSpec spec = queue_spec();
  MemoryQueues queues(spec);
  queues.enter(0, 1, 4, 100);  // ready at 111
  queues.enter(0, 2, 4, 100);
  queues.enter(2, 3, 4, 104);  // at 115
  std::vector<std::pair<std::uint32_t, Cycle>> seen;
  const auto look = [&](std::uint32_t id, Cycle when) { seen.push_back({id, when}); };
  queues.for_each_first(105, look);
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint32_t, Cycle>>{{1, 111}, {3, 115}}));
  seen.clear();
  queues.take(111, kAnything);
  queues.for_each_first(115,
                        look);  // 2 is ready at 115, too; a cycle later is the first that can be asked for
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint32_t, Cycle>>{{2, 116}, {3, 116}}));
}

TEST(LoadOrder, AWarpsMissWaitsForTheOneBeforeItAndNotForOtherWarps) {
  MemoryOperations operations;
  LoadOrder order(64);
  std::uint32_t id[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    id[i] = operations.take();
    operations[id[i]].warp = i < 2 ? 5 : 6;
    operations[id[i]].waiting = i == 0 ? 1 : 0;
    operations[id[i]].ready = 100 + i;
    order.enter();
    order.miss(operations, id[i]);
  }
  EXPECT_EQ(order.release(operations, 5, 110), kNever) << "the first has no data";
  EXPECT_FALSE(order.returns());
  EXPECT_EQ(order.release(operations, 6, 90), 102u) << "not before its tags";
  EXPECT_EQ(order.next(), id[2]);
  operations[id[0]].waiting = 0;
  EXPECT_EQ(order.release(operations, 5, 300), 300u);
  EXPECT_EQ(operations[id[1]].ready, 300u) << "its data were there, it had to wait";
  EXPECT_EQ(order.in_flight(), 3u);
  for (const std::uint32_t expected : {id[2], id[0], id[1]}) {
    EXPECT_EQ(order.next(), expected);
    order.pop();
  }
  EXPECT_FALSE(order.returns());
  EXPECT_EQ(order.in_flight(), 0u);
}

TEST(LoadOrder, AHitPassesTheMissesOfItsWarp) {
  MemoryOperations operations;
  LoadOrder order(64);
  const std::uint32_t missed = operations.take(), hit = operations.take();
  operations[missed].warp = operations[hit].warp = 3;
  operations[missed].waiting = 1;
  order.enter();
  order.miss(operations, missed);
  order.enter();
  order.pass(hit);
  ASSERT_TRUE(order.returns());
  EXPECT_EQ(order.next(), hit);
  order.pop();
  EXPECT_FALSE(order.returns());
  operations[missed].waiting = 0;
  order.release(operations, 3, 50);
  EXPECT_EQ(order.next(), missed);
}

TEST(HitQueue, APlaceIsFreeWhenItsOwnerHasBeenTaken) {
  HitQueue hits(2);
  EXPECT_EQ(hits.room_from(), 0u);
  EXPECT_FALSE(hits.waits(0));
  hits.enter(100);
  EXPECT_EQ(hits.room_from(), 0u);
  hits.enter(108);
  EXPECT_EQ(hits.room_from(), 100u) << "the first has been taken by then";
  EXPECT_TRUE(hits.waits(107));
  EXPECT_FALSE(hits.waits(108));
  hits.enter(116);
  EXPECT_EQ(hits.room_from(), 108u);
}

TEST(ProductReads, OthersGetTheCyclesThatAreLeft) {
  ProductReads reads(50);
  reads.take(100, 200, 50);  // every other cycle
  reads.take(200, 300, 100);
  reads.take(300, 300, 7);
  EXPECT_EQ(reads.beside(99, 4), 4u) << "they have not begun";
  EXPECT_EQ(reads.beside(100, 4), 8u);
  EXPECT_EQ(reads.beside(199, 4), 8u);
  EXPECT_EQ(reads.beside(200, 4), 200u) << "one in 50 where none is left";
  EXPECT_EQ(reads.beside(300, 4), 4u);
}

/// A stage of which each test says what it needs.
struct Stage {
  spec::GpuSpec chip = sm_tests::bench_chip();
  stats::LaunchCounters counters;
  DataStage data{chip, 4096, counters};
};

TEST(DataStage, OneThingAtATime) {
  Stage s;
  EXPECT_EQ(s.data.pass(100, 4), 100u);
  EXPECT_EQ(s.data.takes_from(0, 200), 103u) << "what is taken then begins a cycle later";
  EXPECT_EQ(s.data.shared_start(102), 104u);
  EXPECT_EQ(s.data.shared_start(104), 105u);
  EXPECT_EQ(s.data.pass(101, 1), 104u);
  EXPECT_EQ(s.data.pass(110, 1), 110u);
  EXPECT_EQ(s.counters.l1_data_wavefronts, 6u);
}

TEST(DataStage, StoresWhoseLinesWaitTakeItForAnIntervalPerWavefront) {
  Stage s;
  s.chip.l1.store_interval = 2;
  EXPECT_EQ(s.data.take_store(100, 8, 0), 100u);
  EXPECT_EQ(s.data.pass(100, 1), 116u);
  EXPECT_EQ(s.data.takes_stores_from(), 0u) << "nothing leaves";
}

TEST(DataStage, ItStandsStillWhileTheQueueOfStoresLinesIsFull) {
  Stage s;
  s.chip.l1.store_interval = 2;
  s.chip.l1.store_queue = 16;
  s.chip.l1.store_way_ahead = 10;
  EXPECT_EQ(s.data.take_store(100, 32, 32),
            100u);  // the last line leaves at 164, the sixteenth before it at 132
  EXPECT_EQ(s.data.takes_stores_from(), 154u);
  EXPECT_EQ(s.data.pass(100, 1), 132u) << "32 wavefronts";
  EXPECT_EQ(s.data.take_store(133, 32, 32), 133u);  // leaves from 164 on, until 228
  EXPECT_EQ(s.data.pass(100, 1), 196u) << "16 lines are left";
  EXPECT_EQ(s.data.take_store(197, 1, 8), 197u);
  EXPECT_EQ(s.data.pass(100, 1), 212u);
}

TEST(DataStage, ConflictsOfALoadTakeItsSubCoresPathTwiceAsLong) {
  Stage s;
  s.chip.shared.sub_core_interval = 2;
  EXPECT_EQ(s.data.load({.sub_core = 1, .busy = 8, .conflicts = 7, .hit = false}, 100), 101u);
  EXPECT_EQ(s.data.takes_from(0, 200), 108u) << "the stage, from 109 on";
  EXPECT_EQ(s.data.takes_from(1, 200), 115u) << "its path, from 101 + 8 + 7 on";
  EXPECT_EQ(s.data.load({.sub_core = 2, .busy = 1, .conflicts = 1, .hit = false}, 100), 109u);
  EXPECT_EQ(s.data.load({.sub_core = 1, .busy = 2, .conflicts = 1, .hit = false}, 100), 116u);
  EXPECT_EQ(s.data.load({.sub_core = 1, .busy = 1, .conflicts = 0, .hit = false}, 100), 112u)
      << "without conflicts it needs the stage alone";
}

TEST(DataStage, HitsWaitInALimitedNumber) {
  Stage s;
  s.chip.lsu.data_queue = 1;
  DataStage data(s.chip, 0, s.counters);
  EXPECT_EQ(data.takes_hits_from(), 0u);
  data.load({.sub_core = 0, .busy = 4, .conflicts = 0, .hit = false}, 100);
  EXPECT_EQ(data.takes_hits_from(), 0u) << "a load that waited for its data waits elsewhere";
  data.load({.sub_core = 0, .busy = 4, .conflicts = 0, .hit = true}, 100);
  EXPECT_EQ(data.takes_hits_from(), 104u) << "taken at 105, when the first has been";
  data.load({.sub_core = 0, .busy = 4, .conflicts = 0, .hit = true}, 100);
  EXPECT_EQ(data.takes_hits_from(), 108u);
}

TEST(DataStage, ASharedAccessWaitsBehindHitsInOneOfTheirPlaces) {
  Stage s;
  s.chip.lsu.data_queue = 3;
  DataStage data(s.chip, 0, s.counters);
  data.load({.sub_core = 0, .busy = 32, .conflicts = 0, .hit = false}, 100);
  EXPECT_EQ(data.takes_from(1, 101), 132u) << "no hit waits: not before the stage is free";
  data.load({.sub_core = 0, .busy = 32, .conflicts = 0, .hit = true}, 101);
  EXPECT_EQ(data.takes_from(1, 102), 0u) << "two places are left";
  EXPECT_EQ(data.shared_start(102), 165u);
  data.take_shared(1, 165, 1, 1);
  EXPECT_EQ(data.take_other(104, 2), 166u) << "a shuffle takes the last of them";
  EXPECT_EQ(data.takes_from(2, 105), 132u) << "until the hit has been taken, at 133";
  EXPECT_EQ(data.takes_from(2, 165), 132u) << "the shuffle still waits";
  EXPECT_EQ(data.takes_from(2, 166), 167u) << "none waits";
  EXPECT_EQ(data.takes_hits_from(), 132u);
}

TEST(DataStage, ASharedAccessTakesTheStageAndItsPath) {
  Stage s;
  s.chip.shared.sub_core_interval = 2;
  EXPECT_EQ(s.data.take_shared(3, s.data.shared_start(99), 4, 4), 4u);
  EXPECT_EQ(s.data.takes_from(0, 200), 103u);
  EXPECT_EQ(s.data.takes_from(3, 200), 107u) << "four wavefronts, every other cycle";
  s.data.take_for_products(200, 300, 50);
  EXPECT_EQ(s.data.take_shared(3, 200, 4, 4), 8u) << "half of the cycles are the tensor cores'";
  EXPECT_EQ(s.counters.l1_data_wavefronts, 4u + 50u + 4u);
  EXPECT_EQ(s.counters.shared_wavefronts_product, 50u);
}

TEST(DataStage, CopiesWriteBesideItTwoWavefrontsACycle) {
  Stage s;
  EXPECT_EQ(s.data.write_copied(100, 4), 102u);
  EXPECT_EQ(s.data.write_copied(100, 3), 104u) << "behind the first";
  EXPECT_EQ(s.data.write_copied(110, 32), 126u);
  EXPECT_EQ(s.data.takes_from(0, 200), 0u);
}

TEST(DataStage, TheWayToOtherSmsHoldsUpWhatFollows) {
  Stage s;
  s.chip.cluster.remote_bytes = 32;
  EXPECT_EQ(s.data.send_remote(100, 128), 104u);
  EXPECT_EQ(s.data.send_remote(101, 32), 105u);
  EXPECT_EQ(s.data.takes_from(0, 200), 104u);
}

TEST(DataStage, AFillThatMeetsASharedStoreHoldsUpTheStage) {
  Stage s;
  s.chip.l1.sector_interval = 1;
  DataStage data(s.chip, 4096, s.counters);
  const Cycle start = data.shared_start(99);
  EXPECT_EQ(data.again(DataArray::Way::write, 1, start, 4), 0u);
  data.take_shared(0, start, 4, 1);
  data.take_half(DataArray::Way::write, 0, 100, 4);
  EXPECT_EQ(data.takes_from(0, 200), 103u) << "the other half";
  data.take_half(DataArray::Way::write, 1, 102, 4);  // meets its last two passes
  EXPECT_EQ(data.takes_from(0, 200), 105u);
  EXPECT_EQ(s.counters.shared_contention_st, 2u);
  EXPECT_EQ(s.counters.shared_contention_ld, 0u);
  data.copied_in(0, 0, 1, 105);  // the top of shared memory lies in the upper half: its last pass
  EXPECT_EQ(s.counters.shared_contention_st, 3u);
}

TEST(TextureUnit, TakesAPassForEachGroupOfFourLanesItsIntervalApart) {
  spec::TextureSpec spec;
  spec.interval = 8;  // of 32 lanes
  spec.store_passes = 3;
  TextureUnit unit(spec);
  EXPECT_EQ(unit.free(), 0u);
  unit.take(~0u, false, 1, 100);
  EXPECT_EQ(unit.free(), 108u);
  unit.take(0xff, false, 2, 200);  // two groups of eight, two passes
  EXPECT_EQ(unit.free(), 204u);
  unit.take(0xff, true, 1, 300);
  EXPECT_EQ(unit.free(), 306u) << "a store takes three";
  spec::TextureSpec fast;
  TextureUnit least(fast);
  least.take(1, false, 1, 100);
  EXPECT_EQ(least.free(), 101u);
}

TEST(WriteBack, TellsTheWarpWhatItsInstructionNames) {
  MemoryOperations operations;
  Events events;
  WriteBack write_back(operations, events);
  const std::uint32_t id = operations.take();
  operations[id].warp = 3;
  operations[id].generation = 8;
  operations[id].copy_group = 2;
  operations[id].barrier_op = 6;
  write_back.release(operations[id], 7, 100);
  EXPECT_EQ(events.next(), kNever) << "it has no scoreboard";
  write_back.release(operations[id], 5, 120);
  write_back.done(Event::Kind::copy_done, operations[id], 130);
  write_back.reach_barrier(operations[id], 1000, 140);
  std::vector<Event> seen;
  for (const Cycle when : {Cycle{120}, Cycle{130}, Cycle{140}}) {
    EXPECT_EQ(events.next(), when);
    events.run(when, [&](const Event& event) { seen.push_back(event); });
  }
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].kind, Event::Kind::release);
  EXPECT_EQ(seen[0].scoreboard, 5);
  EXPECT_EQ(seen[1].kind, Event::Kind::copy_done);
  EXPECT_EQ(seen[1].id, 2u);
  EXPECT_EQ(seen[2].kind, Event::Kind::barrier);
  EXPECT_EQ(seen[2].id, 5u);
  EXPECT_EQ(seen[2].scoreboard, 255) << "as late as can be said";
  for (const Event& event : seen) {
    EXPECT_EQ(event.warp, 3);
    EXPECT_EQ(event.generation, 8u);
  }
}

}  // namespace
}  // namespace foretrace::sm
