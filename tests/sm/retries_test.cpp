// Loops that try a compare-and-swap again: a round whose swap came too late is gone through once more.

#include <gtest/gtest.h>

#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

/// An addition of floats in shared memory, as compilers make it: each lane to a word of its own from `base` on.
std::vector<Line> add(std::uint64_t base) {
  return {{"LDS R8, [R2]", 1, 0, 7, 0, ~0u, base},
          {"FADD R9, R7, R8", 4, 7, 7, 1},
          {"ATOMS.CAST.SPIN R9, [R2], R8, R9", 1, 0, 7, 0, ~0u, base},
          {"ISETP.EQ.U32.AND P0, PT, R9, 0x1, PT", 13, 7, 7, 1},
          {"@!P0 BRA `(first)", 5}};
}

TEST(Retries, WarpsThatAddToOtherWordsNeedOneRoundEach) {
  const Ran ran = run_warps(bench_chip(), {add(0), add(128)});
  EXPECT_EQ(ran.counters.inst_executed, 2 * 6u);
}

TEST(Retries, TheOneThatComesSecondGoesThroughTheLoopAgain) {
  const Ran ran = run_warps(bench_chip(), {add(0), add(0)});
  EXPECT_EQ(ran.counters.inst_executed, 2 * 6u + 5);
  EXPECT_EQ(ran.counters.inst_shared_atom, 3u);
  const Ran apart = run_warps(bench_chip(), {add(0), add(128)});
  EXPECT_GT(ran.end, apart.end);
}

TEST(Retries, EachSuccessSendsAllOthersBack) {
  // Four warps read together: 4 + 3 + 2 + 1 rounds at most, 4 + 3 at least, as those that fail come apart.
  const Ran ran = run_warps(bench_chip(), {add(0), add(0), add(0), add(0)});
  const std::uint64_t rounds = ran.counters.inst_shared_atom;
  EXPECT_GE(rounds, 7u);
  EXPECT_LE(rounds, 10u);
  EXPECT_EQ(ran.counters.inst_executed, 4u + 5 * rounds);
}

}  // namespace
}  // namespace foretrace::sm_tests
