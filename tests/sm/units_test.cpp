// The units of an SM's front end by themselves: scoreboards, the scheduler, the ADU, a block's barriers, groups of copies.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/acknowledgements.h"
#include "model/sm/adu.h"
#include "model/sm/block_barriers.h"
#include "model/sm/copy_groups.h"
#include "model/sm/scheduler.h"
#include "model/sm/scoreboards.h"

namespace foretrace::sm {
namespace {

TEST(Scoreboards, HoldAnInstructionUntilTheLastOperationIsDone) {
  Scoreboards scoreboards;
  StaticInstruction waits;
  waits.wait_mask = 1 << 2 | 1 << 4;
  scoreboards.raise(2, true);
  scoreboards.raise(2, true);
  scoreboards.raise(4, false);
  scoreboards.raise(7, true);  // names none
  EXPECT_FALSE(scoreboards.clear_for(waits));
  EXPECT_TRUE(scoreboards.waits_long(waits));
  scoreboards.release(2);
  EXPECT_TRUE(scoreboards.waits_long(waits));
  scoreboards.release(2);
  EXPECT_FALSE(scoreboards.clear_for(waits));
  EXPECT_FALSE(scoreboards.waits_long(waits));  // only the short one is left
  scoreboards.release(4);
  EXPECT_TRUE(scoreboards.clear_for(waits));
}

TEST(Scoreboards, DepbarGoesAtItsCount) {
  Scoreboards scoreboards;
  StaticInstruction depbar;
  depbar.action = Action::depbar;
  depbar.depbar_scoreboard = 1;
  depbar.depbar_count = 2;
  for (int i = 0; i < 3; ++i) scoreboards.raise(1, true);
  EXPECT_FALSE(scoreboards.clear_for(depbar));
  EXPECT_TRUE(scoreboards.waits_long(depbar));
  scoreboards.release(1);
  EXPECT_TRUE(scoreboards.clear_for(depbar));
}

/// Two classes: one of the ALU, one that needs room in the memory queue.
std::vector<IssueClass> classes() {
  std::vector<IssueClass> both(2);
  both[0].first = spec::Pipe::alu;
  both[1].first = spec::Pipe::lsu;
  both[1].queue = true;
  return both;
}

TEST(Scheduler, TakesTheWarpThatWentLastElseTheOneThatWaitedLongest) {
  Scheduler scheduler;
  const std::uint64_t ages[] = {5, 9, 7};
  const auto age = [&](int slot) { return ages[slot]; };
  EXPECT_EQ(scheduler.choose(0b111, 10, age), 1);
  EXPECT_EQ(scheduler.choose(0b111, 11, age), 1);
  EXPECT_EQ(scheduler.choose(0b101, 12, age), 2);  // the last one cannot go
  EXPECT_EQ(scheduler.choose(0b111, 13, age), 2);
  scheduler.remove_warp(2);
  EXPECT_EQ(scheduler.choose(0b011, 14, age), 0) << "it has waited longer than the youngest";
}

TEST(Scheduler, TheFirstBlocksWarpsTakeTurns) {
  Scheduler scheduler;
  constexpr std::uint64_t kFirst = 2 << kWarpBitsOfAge, kSecond = 1 << kWarpBitsOfAge;
  const std::uint64_t ages[] = {kFirst, kFirst + 1, kFirst + 2, kSecond, kSecond + 1};
  const auto age = [&](int slot) { return ages[slot]; };
  std::vector<int> order;
  std::uint32_t stalled = 0;  // who went last, for a cycle
  for (Cycle now = 10; now < 17; ++now) {
    order.push_back(scheduler.choose(0b11111 & ~stalled, now, age));
    stalled = 1u << order.back();
  }
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0, 2, 1, 0, 2})) << "and the second block's none";
  EXPECT_EQ(scheduler.choose(0b11000, 17, age), 4);
  EXPECT_EQ(scheduler.choose(0b01111 & ~(1u << 2), 18, age), 1);
  scheduler.add_warp(0);
  EXPECT_EQ(scheduler.choose(0b01101, 19, age), 0) << "a warp that has just begun has had no turn";
}

TEST(Scheduler, PipesHoldTheirClassAlone) {
  const auto both = classes();
  Scheduler scheduler;
  scheduler.resident = 0b11;
  scheduler.add_candidate(0, 0);
  scheduler.add_candidate(1, 1);
  scheduler.pipe_free[static_cast<std::size_t>(spec::Pipe::alu)] = 12;
  EXPECT_EQ(scheduler.eligible(both.data(), true, 11), 0b10u);
  EXPECT_EQ(scheduler.eligible(both.data(), true, 12), 0b11u);
  EXPECT_EQ(scheduler.eligible(both.data(), false, 13), 0b01u);
  EXPECT_EQ(scheduler.free_cycles[0], 2u);
  EXPECT_EQ(scheduler.free_cycles[1], 2u);
  scheduler.remove_candidate(0, 0);
  EXPECT_EQ(scheduler.eligible(both.data(), true, 14), 0b10u);
}

TEST(Scheduler, HeldDispatchLetsNobodyGoAndIsCounted) {
  const auto both = classes();
  Scheduler scheduler;
  scheduler.add_candidate(3, 0);
  scheduler.dispatch_free = 21;
  EXPECT_EQ(scheduler.eligible(both.data(), true, 20), 0u);
  EXPECT_EQ(scheduler.allocate_cycles[0], 1u);
  EXPECT_EQ(scheduler.free_cycles[0], 0u);
  EXPECT_EQ(scheduler.eligible(both.data(), true, 21), 1u << 3);
}

TEST(Scheduler, LooksAgainWhenTheFirstWarpOrPipeIsReady) {
  const auto both = classes();
  Scheduler scheduler;
  EXPECT_EQ(scheduler.next_look(both.data(), true, 10, kNever), kNever);
  EXPECT_EQ(scheduler.idle_reason, Scheduler::no_warp);
  scheduler.resident = 0b1;
  scheduler.timed = 0b1;
  scheduler.ready[0] = 30;
  EXPECT_EQ(scheduler.next_look(both.data(), true, 10, kNever), 30u);
  EXPECT_EQ(scheduler.idle_reason, Scheduler::none_eligible);
  scheduler.add_candidate(1, 0);
  scheduler.pipe_free[static_cast<std::size_t>(spec::Pipe::alu)] = 14;
  EXPECT_EQ(scheduler.next_look(both.data(), true, 10, kNever), 14u);
  EXPECT_EQ(scheduler.idle_reason, Scheduler::pipe_busy);
  EXPECT_EQ(scheduler.next_look(both.data(), true, 10, 12), 12u);
  EXPECT_EQ(scheduler.next_look(both.data(), true, 20, kNever), 21u);  // not in the same cycle
  scheduler.remove_candidate(1, 0);
  scheduler.add_candidate(1, 1);
  EXPECT_EQ(scheduler.next_look(both.data(), false, 10, kNever),
            30u);  // the queue says itself when it has room
  EXPECT_EQ(scheduler.idle_reason, Scheduler::queue_full);
}

TEST(Adu, TakesInstructionsOneAfterTheOther) {
  Adu adu;
  EXPECT_EQ(adu.take(4, 10), 10u);
  EXPECT_EQ(adu.take(4, 11), 14u);
  EXPECT_EQ(adu.take(4, 18), 18u);
}

TEST(Adu, WhatGoesOnceMoreComesBeforeTheNext) {
  Adu adu;
  EXPECT_EQ(adu.take(4, 10), 10u);
  adu.replay(30, 4);
  adu.replay(26, 4);
  EXPECT_EQ(adu.take(4, 25), 25u);  // before the pass
  EXPECT_EQ(adu.take(4, 26), 37u);  // 29, and two passes
  EXPECT_EQ(adu.take(4, 50), 50u);
}

TEST(AduQueue, HasPlacesUntilTheOldestHasLeft) {
  AduQueue queue;
  EXPECT_EQ(queue.push(100, 2), 1u);
  EXPECT_EQ(queue.push(110, 2), 101u);
  EXPECT_EQ(queue.push(120, 2), 111u);
  EXPECT_EQ(queue.hold_last(150, 2), 111u);
  EXPECT_EQ(queue.push(160, 2), 151u);
}

TEST(BlockBarriers, LetGoThoseThatWaitWhenAllHaveCome) {
  BlockBarriers barriers;
  std::uint64_t released = 0;
  barriers.arrive(1, 3, 0b001);
  barriers.arrive(1, 3, 0);  // BAR.ARV
  EXPECT_FALSE(barriers.complete(1, 8, released));
  EXPECT_FALSE(barriers.complete(2, 0, released));  // nobody has come
  barriers.arrive(1, 3, 0b100);
  EXPECT_TRUE(barriers.complete(1, 8, released));
  EXPECT_EQ(released, 0b101u);
  EXPECT_FALSE(barriers.complete(1, 8, released));  // it begins anew
}

TEST(BlockBarriers, OfTheWholeBlockCountThoseThatLive) {
  BlockBarriers barriers;
  std::uint64_t released = 0;
  barriers.arrive(0, 0, 0b1);
  barriers.arrive(0, 0, 0b10);
  EXPECT_FALSE(barriers.complete(0, 3, released));
  EXPECT_TRUE(barriers.complete(0, 2, released));  // one has ended
  EXPECT_EQ(released, 0b11u);
}

TEST(CopyGroups, AreDoneInTheirOrder) {
  CopyGroups groups;
  const std::uint16_t warp = 7;
  std::vector<int> done;
  const auto settle = [&] {
    groups.settle(warp, [&](const CopyGroups::Group& group) { done.push_back(group.scoreboard); });
  };
  settle();
  EXPECT_EQ(groups.open(warp), 0);
  groups.add(warp);
  groups.add(warp);
  groups.commit(warp, 1);
  EXPECT_EQ(groups.open(warp), 1);
  groups.add(warp);
  groups.commit(warp, 2);
  groups.end(warp, 1);  // the second group first
  groups.end(warp, 0);
  settle();
  EXPECT_TRUE(done.empty());
  groups.end(warp, 0);
  settle();
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
  groups.commit(warp, 3);  // an empty group is done at once
  settle();
  EXPECT_EQ(done.back(), 3);
  groups.add(warp);
  groups.start_warp(warp);
  EXPECT_EQ(groups.open(warp), 0);
}

TEST(Acknowledgements, AreTakenWhenTheyHaveCome) {
  Acknowledgements acknowledgements;
  EXPECT_EQ(acknowledgements.next(), kNever);
  std::vector<memory::Reply> replies(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    replies[i].time = 10 * (i + 1);
    replies[i].id = i;
  }
  acknowledgements.add(replies);
  std::vector<std::uint32_t> taken;
  const auto take = [&](std::uint32_t id) { taken.push_back(id); };
  acknowledgements.take(9, take);
  EXPECT_TRUE(taken.empty());
  acknowledgements.take(20, take);
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(acknowledgements.next(), 30u);
  acknowledgements.take(30, take);
  EXPECT_EQ(acknowledgements.next(), kNever);
}

}  // namespace
}  // namespace foretrace::sm
