// A branch by the step after it: fallen through, taken by all, split, and lanes that come together again.
#include <gtest/gtest.h>

#include "model/rules/branches.h"

namespace foretrace::rules {
namespace {

Branch after(std::uint32_t index, std::uint32_t active) {
  work::Step branch, next;
  branch.index = 7;
  branch.active = 0xff;
  next.index = index;
  next.active = active;
  return branch_between(branch, next);
}

TEST(Branches, AreDivergentWhereTheWarpGoesOnElsewhereWithOtherLanes) {
  EXPECT_FALSE(after(8, 0xff).jumps);
  EXPECT_TRUE(after(3, 0xff).jumps);
  EXPECT_FALSE(after(3, 0xff).divergent()) << "all lanes took it";
  EXPECT_TRUE(after(8, 0x0f).other_lanes);
  EXPECT_FALSE(after(8, 0x0f).divergent()) << "the lanes behind it go first";
  EXPECT_TRUE(after(20, 0xf0).divergent());
}

}  // namespace
}  // namespace foretrace::rules
