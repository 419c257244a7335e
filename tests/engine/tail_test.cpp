// What the end of a launch costs, where the answer is known.
#include <gtest/gtest.h>

#include "sim/engine/tail.h"

namespace foretrace::engine_tests {
namespace {

engine::TailSetup four_sms_of_two(std::uint64_t blocks, double shared) {
  engine::TailSetup setup;
  setup.blocks = blocks;
  setup.sms = 4;
  setup.per_sm = 2;
  setup.shared = shared;
  setup.spread = 0;
  return setup;
}

TEST(Tail, WholeFullsCostNothingMore) {
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(24, 1)), 0, 1e-9);
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(24, 0)), 0, 1e-9);
}

TEST(Tail, OneMoreBlockTakesItsTime) {
  // 25 blocks are 3.125 fulls. The last block runs alone: a whole block's time at its own pace, half of it with an SM for itself.
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(25, 0)), 4 - 3.125, 1e-9);
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(25, 1)), 3.5 - 3.125, 1e-9);
}

TEST(Tail, DoesNotDependOnHowManyFullsCameBefore) {
  const double few = engine::tail_beyond_work(four_sms_of_two(8 * 50 + 3, 1));
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(8 * 1'000'000 + 3, 1)), few, 1e-9);
}

TEST(Tail, ALaunchThatDoesNotFillTheChipTakesABlocksTime) {
  // One block on each of four SMs that hold two: all end together, and the chip had no more to do at any time.
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(4, 1)), 0, 1e-9);
  EXPECT_NEAR(engine::tail_beyond_work(four_sms_of_two(3, 0)), 0, 1e-9);
}

TEST(Drain, TakesTheYoungestBlocksTimeUnlessTheyShare) {
  engine::TailSetup setup = four_sms_of_two(80, 0);
  std::vector<double> ages;
  for (int i = 0; i < 100; ++i) ages.push_back((i + 0.5) / 100);
  EXPECT_NEAR(engine::drain_time(setup, ages), 1, 0.01);
  setup.shared = 1;  // what is left is half of the work
  EXPECT_NEAR(engine::drain_time(setup, ages), 0.5, 0.01);
  EXPECT_NEAR(engine::drain_time(setup, std::vector<double>(100, 0.0)), 1, 1e-9);  // just placed, all of them
  EXPECT_NEAR(engine::drain_time(setup, std::vector<double>(100, 1.2)), 0, 1e-9);  // overdue
}

TEST(Tail, TheLongestBlocksLastCostMost) {
  engine::TailSetup setup = four_sms_of_two(800, 0);
  setup.work = {0.5, 1.5};
  const double late = engine::tail_beyond_work(setup);
  setup.work = {1.5, 0.5};
  setup.spread = 0.1;
  const double early = engine::tail_beyond_work(setup);
  setup.work = {0.5, 1.5};
  EXPECT_GT(engine::tail_beyond_work(setup), early);
  EXPECT_GE(late, -1e-9);
}

}  // namespace
}  // namespace foretrace::engine_tests
