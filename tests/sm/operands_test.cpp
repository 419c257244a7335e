// Where operands come from, and swaps in shared memory, each by itself: register banks and their reuse cache, constant lines, lost swaps.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "model/sm/constant_cache.h"
#include "model/sm/register_file.h"
#include "model/sm/swaps.h"

namespace foretrace::sm {
namespace {

/// Reads of registers in bank 0 by operands 0, 1, 2.
std::vector<RegisterRead> of_one_bank(int count, bool reuse = false) {
  std::vector<RegisterRead> reads;
  for (int i = 0; i < count; ++i) {
    RegisterRead read;
    read.number = static_cast<std::uint8_t>(4 * i + 4);
    read.slot = static_cast<std::uint8_t>(i);
    read.reuse = reuse;
    reads.push_back(read);
  }
  return reads;
}

TEST(RegisterFile, AWindowOfThreeCyclesTakesThreeReadsOfABankAndHoldsUpTheNext) {
  RegisterFile file({.banks = 2, .ports = 1, .window = 3, .allocate_latency = 2});
  EXPECT_EQ(file.allocate(of_one_bank(3), 0, 100), 0u);  // cycles 102 to 104
  EXPECT_EQ(file.allocate(of_one_bank(3), 0, 101), 2u);  // 105 to 107; its window ends with 105
  EXPECT_EQ(file.allocate(of_one_bank(3), 0, 106), 0u);
}

TEST(RegisterFile, AnotherBankIsFree) {
  RegisterFile file({.banks = 2, .ports = 1, .window = 1, .allocate_latency = 2});
  std::vector<RegisterRead> other = of_one_bank(1);
  other[0].bank = 1;
  EXPECT_EQ(file.allocate(of_one_bank(1), 0, 100), 0u);
  EXPECT_EQ(file.allocate(other, 0, 100), 0u);
  EXPECT_EQ(file.allocate(other, 0, 100), 1u);
}

TEST(RegisterFile, TwoPortsReadTwoRegistersACycle) {
  RegisterFile file({.banks = 2, .ports = 2, .window = 2, .allocate_latency = 2});
  EXPECT_EQ(file.allocate(of_one_bank(3), 0, 100), 0u);  // 102 and 103
  EXPECT_EQ(file.allocate(of_one_bank(3), 0, 101), 1u);  // 104 and 105; its window ends with 104
}

TEST(RegisterFile, ARegisterThatTwoOperandsNameIsReadOnce) {
  RegisterFile file({.banks = 2, .ports = 1, .window = 1, .allocate_latency = 2});
  std::vector<RegisterRead> twice = of_one_bank(2);
  EXPECT_EQ(file.allocate(twice, 0, 100), 1u);
  twice[1].number = twice[0].number;
  twice[1].first = false;
  EXPECT_EQ(file.allocate(twice, 0, 200), 0u);
}

TEST(RegisterFile, TheReuseCacheServesTheSameWarpRegisterAndOperand) {
  RegisterFile file({.banks = 2, .ports = 1, .window = 1, .allocate_latency = 2});
  const std::vector<RegisterRead> kept = of_one_bank(1, true), last = of_one_bank(1);
  std::vector<RegisterRead> of_other_operand = last;
  of_other_operand[0].slot = 1;
  file.allocate(kept, 5, 100);
  EXPECT_EQ(file.allocate(kept, 5, 100), 0u);              // not read again
  EXPECT_EQ(file.allocate(of_other_operand, 5, 100), 1u);  // kept for operand 0 alone
  EXPECT_EQ(file.allocate(last, 5, 200), 0u);              // the last one: it does not ask to keep it
  EXPECT_EQ(file.allocate(last, 5, 200), 0u);              // so it is read, alone in its cycle
  EXPECT_EQ(file.allocate(last, 5, 200), 1u);

  file.allocate(kept, 5, 300);
  EXPECT_EQ(file.allocate(last, 6, 300),
            1u);  // another warp's register of that number, which ends what was kept
  EXPECT_EQ(file.allocate(last, 5, 300), 2u);
}

TEST(RegisterFile, MemoryInstructionsTakeCyclesAndAreNotHeldUp) {
  RegisterFile file({.banks = 2, .ports = 1, .window = 1, .allocate_latency = 2});
  file.read(of_one_bank(2), 100);  // cycles 102 and 103
  EXPECT_EQ(file.allocate(of_one_bank(1), 0, 100), 2u);
  EXPECT_EQ(file.allocate(of_one_bank(1), 0, 103), 0u);
}

TEST(ConstantCache, ALineIsThereFromItsTimeOnForAllOfItsAddresses) {
  ConstantCache cache(128, 64);
  EXPECT_EQ(cache.lookup(0), kNever);
  cache.insert(0, 100);
  EXPECT_EQ(cache.lookup(63), 100u);
  EXPECT_EQ(cache.lookup(64), kNever);
  cache.insert_or_touch(32, 999);  // it is here
  EXPECT_EQ(cache.lookup(0), 100u);
  cache.insert_or_touch(64, 200);
  EXPECT_EQ(cache.lookup(127), 200u);
}

TEST(ConstantCache, TheLeastRecentlyUsedLineGoes) {
  ConstantCache cache(128, 64);
  cache.insert(0, 100);
  cache.insert(64, 200);
  cache.lookup(0);
  cache.insert(128, 300);
  EXPECT_EQ(cache.lookup(64), kNever);
  EXPECT_EQ(cache.lookup(0), 100u);
  EXPECT_EQ(cache.lookup(128), 300u);
}

TEST(ConstantCache, HasRoomForOneLineAtLeast) {
  ConstantCache cache(32, 64);
  cache.insert(0, 100);
  EXPECT_EQ(cache.lookup(4), 100u);
  cache.insert(64, 200);
  EXPECT_EQ(cache.lookup(0), kNever);
}

/// Lane 0 alone, at word `word` of the block's shared memory.
class SharedSwapsOfTwoWarps : public testing::Test {
 protected:
  static work::LaneAddresses at(std::uint64_t word) {
    work::LaneAddresses addresses{};
    addresses[0] = 4 * word;
    return addresses;
  }
  bool read(std::uint16_t warp, Cycle now) { return swaps.access({}, warp, at(0), 1, now); }
  bool swap(std::uint16_t warp, Cycle now, std::uint64_t word = 0, std::uint16_t block = 0,
            std::uint32_t changes = 1) {
    return swaps.access({.tries = true, .warp = warp, .block = block, .changes = changes, .round = round++},
                        warp, at(word), 1, now);
  }
  SharedSwaps swaps{true};
  std::uint32_t round = 0;
};

TEST_F(SharedSwapsOfTwoWarps, TheSecondFailsWhenTheFirstChangedTheWordAfterItWasRead) {
  EXPECT_FALSE(read(0, 10));
  EXPECT_FALSE(read(1, 11));
  EXPECT_FALSE(swap(0, 20));
  EXPECT_TRUE(swap(1, 21));
  EXPECT_FALSE(swap(1, 30));  // the one at 21 has read what it compares with now
}

TEST_F(SharedSwapsOfTwoWarps, AWordReadInTheCycleOfTheChangeIsTheNewOne) {
  read(0, 10);
  swap(0, 20);
  read(1, 20);
  EXPECT_FALSE(swap(1, 21));
  read(2, 20);
  EXPECT_TRUE(swap(2, 22));  // changed again at 21
}

TEST_F(SharedSwapsOfTwoWarps, OtherWordsOtherBlocksAndSwapsThatChangeNothingAreInNobodysWay) {
  for (std::uint16_t warp = 0; warp < 4; ++warp) read(warp, 10);
  EXPECT_FALSE(swap(0, 20, 0, 0, 0));
  EXPECT_FALSE(swap(1, 21));
  EXPECT_FALSE(swap(2, 22, 1));
  EXPECT_FALSE(swap(3, 23, 0, 1));
}

TEST(SharedSwaps, OfAProgramWithoutSuchLoopsNeverFail) {
  SharedSwaps swaps(false);
  const work::LaneAddresses addresses{};
  const Swap swap{.tries = true, .changes = 1};
  EXPECT_FALSE(swaps.access(swap, 0, addresses, 1, 20));
  EXPECT_FALSE(swaps.access(swap, 1, addresses, 1, 21));
}

}  // namespace
}  // namespace foretrace::sm
