// Launches side by side from their records: the same memory or memory of their own, and how much each was slowed.
#include "sim/engine/beside.h"

#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/emulate/emulator.h"
#include "sim/engine/moved_blocks.h"
#include "sim/engine/sources.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

constexpr std::uint32_t kBlocks = 40, kThreads = 128;

/// Doubles 40 blocks' words; each Doubling has the same addresses.
struct Doubling {
  Launch launch{kDouble, kBlocks, kThreads, std::vector<std::uint32_t>(kBlocks* kThreads, 1),
                kBlocks* kThreads};
  emulate::Emulator emulator;
  Doubling() : emulator((launch.set_word(4, kBlocks * kThreads), launch.assembled.context)) {}
  engine::BesideLaunch beside() const {
    engine::BesideLaunch found;
    found.shape = launch.shape();
    found.open = [this] { return std::make_unique<engine::EmulatedBlocks>(emulator, 1, 1, nullptr); };
    return found;
  }
};

TEST(Beside, EachHasItsInstructionsAndTheTotalIsTheirs) {
  const Doubling first, second;
  const auto outcome = engine::run_beside(first.launch.chip, {first.beside(), second.beside()}, true, 1);
  ASSERT_EQ(outcome.each.size(), 2u);
  for (const auto& each : outcome.each) {
    EXPECT_EQ(each.instructions, each.alone.counters.inst_executed);
    EXPECT_EQ(each.time.blocks, kBlocks);
    EXPECT_GE(each.slowed(), 0.9);
    EXPECT_LT(each.slowed(), 1.5);  // 80 small blocks have an SM each
  }
  EXPECT_EQ(outcome.together.inst_executed, outcome.each[0].instructions + outcome.each[1].instructions);
  EXPECT_LT(outcome.together.elapsed, outcome.one_by_one());
}

TEST(Beside, EqualAddressesAreTheSameMemoryWhereTheyAreSaidToBe) {
  const Doubling first, second;
  const auto read = [&](bool apart) {
    return engine::run_beside(first.launch.chip, {first.beside(), second.beside()}, apart, 1)
        .together.memory.dram_bytes_read;
  };
  const std::uint64_t input = std::uint64_t{4} * kBlocks * kThreads;
  EXPECT_GE(read(true), read(false) + input);
}

TEST(Beside, ALaterOneTakesItsOwnTime) {
  const Doubling first, second;
  engine::BesideLaunch later = second.beside();
  later.begin = 100000;
  const auto outcome = engine::run_beside(first.launch.chip, {first.beside(), later}, true, 1);
  EXPECT_EQ(outcome.each[0].time.end, outcome.each[0].alone.counters.elapsed);
  EXPECT_EQ(outcome.each[1].time.begin, 100000u);
  EXPECT_EQ(outcome.one_by_one(), 100000 + outcome.each[1].alone.counters.elapsed);
  EXPECT_NEAR(outcome.each[1].slowed(), 1, 0.1);  // the caches are not as cold as alone
}

TEST(MovedBlocks, AreTheSameBlocksFurtherOn) {
  const Doubling one;
  const work::Shapes own(*one.launch.shape().program);
  work::Shapes all = own;
  for (work::Shape shape : own.of) {
    shape.slot = static_cast<std::uint16_t>(shape.slot + own.slots);
    all.of.push_back(shape);
  }
  all.slots *= 2;
  const auto count = static_cast<std::uint32_t>(own.of.size());
  engine::EmulatedBlocks plain(one.emulator, 1, 1, nullptr);
  engine::MovedBlocks moved(std::make_unique<engine::EmulatedBlocks>(one.emulator, 1, 1, nullptr), own, all,
                            count, 1 << 20);
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    const auto a = plain.next(), b = moved.next();
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->warps.size(), b->warps.size());
    work::WarpCursor left(own, a->warps[1]), right(all, b->warps[1]);
    work::Step step, other;
    while (left.next(step)) {
      ASSERT_TRUE(right.next(other));
      EXPECT_EQ(other.index, step.index + count);
      EXPECT_EQ(other.executed, step.executed);
      if (own.of[step.index].addresses == 0 || step.executed == 0) continue;
      work::LaneAddresses from, to;
      left.addresses(0, from);
      right.addresses(0, to);
      EXPECT_EQ(to[7], from[7] + (1 << 20));
    }
    EXPECT_FALSE(right.next(other));
  }
  EXPECT_EQ(moved.next(), nullptr);
}

}  // namespace
}  // namespace foretrace::engine_tests
