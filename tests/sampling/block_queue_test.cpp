// What the end of a launch costs, where the answer is known.
#include <gtest/gtest.h>

#include "sim/sampling/block_queue.h"

namespace foretrace::sampling_tests {
namespace {

sampling::BlockQueue four_sms_of_two(std::uint64_t blocks, double shared) {
  sampling::BlockQueue setup;
  setup.blocks = blocks;
  setup.sms = 4;
  setup.per_sm = 2;
  setup.shared = shared;
  setup.spread = 0;
  return setup;
}

TEST(BlockQueue, WholeWavesCostNothingMore) {
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(24, 1)), 0, 1e-9);
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(24, 0)), 0, 1e-9);
}

TEST(BlockQueue, OneMoreBlockTakesItsTime) {
  // 25 blocks are 3.125 waves. The last block runs alone: a whole block's time at its own pace, half of it with an SM for itself.
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(25, 0)), 4 - 3.125, 1e-9);
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(25, 1)), 3.5 - 3.125, 1e-9);
}

TEST(BlockQueue, DoesNotDependOnHowManyWavesCameBefore) {
  const double few = sampling::beyond_work(four_sms_of_two(8 * 50 + 3, 1));
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(8 * 1'000'000 + 3, 1)), few, 1e-9);
}

TEST(BlockQueue, ALaunchThatDoesNotFillTheChipTakesABlocksTime) {
  // One block on each of four SMs that hold two: all end together, and the chip had no more to do at any time.
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(4, 1)), 0, 1e-9);
  EXPECT_NEAR(sampling::beyond_work(four_sms_of_two(3, 0)), 0, 1e-9);
}

TEST(BlockQueue, TheLongestBlocksLastCostMost) {
  sampling::BlockQueue setup = four_sms_of_two(800, 0);
  setup.work = {0.5, 1.5};
  const double late = sampling::beyond_work(setup);
  setup.work = {1.5, 0.5};
  setup.spread = 0.1;
  const double early = sampling::beyond_work(setup);
  setup.work = {0.5, 1.5};
  EXPECT_GT(sampling::beyond_work(setup), early);
  EXPECT_GE(late, -1e-9);
}

TEST(BlockQueue, WorkAlongTheGridGoesToItsBlocks) {
  sampling::BlockQueue setup{.blocks = 4, .sms = 2, .per_sm = 1, .spread = 0, .work = {1, 1, 1, 3}};
  EXPECT_NEAR(sampling::beyond_work(setup), 4 - 3, 1e-9);  // 1 and 1, then 1 and 3; 6 in all
  setup.work = {3, 1, 1, 1};
  EXPECT_NEAR(sampling::beyond_work(setup), 0, 1e-9);  // 3 beside 1, 1 and 1
  setup.blocks = setup.sms = 3;
  setup.work = {0.5, 1.5};  // 0.5, 0.5 and 1.5: the middle block stands in the first half
  EXPECT_NEAR(sampling::beyond_work(setup), 1.5 - 2.5 / 3, 1e-9);
}

TEST(BlockQueue, TheSpreadIsTheStandardDeviationOfEqualChances) {
  // Of a thousand blocks at once the longest is longer by nearly the square root of 3 standard deviations.
  const sampling::BlockQueue setup{.blocks = 1000, .sms = 1000, .per_sm = 1, .spread = 0.1, .work = {}};
  EXPECT_NEAR(sampling::beyond_work(setup), 0.1732, 0.005);
}

}  // namespace
}  // namespace foretrace::sampling_tests
