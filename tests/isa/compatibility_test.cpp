// Which chips code runs on: CUDA's rule at each of its edges.
#include "model/isa/compatibility.h"

#include <gtest/gtest.h>

namespace foretrace::isa {
namespace {

TEST(Compatibility, PlainCodeRunsOnEqualAndHigherMinorNumbersOfItsMajorNumber) {
  EXPECT_TRUE(runs_on(80, Target::plain, 80));
  EXPECT_TRUE(runs_on(80, Target::plain, 86));
  EXPECT_TRUE(runs_on(86, Target::plain, 89));
  EXPECT_FALSE(runs_on(89, Target::plain, 86)) << "a lower minor number";
  EXPECT_FALSE(runs_on(86, Target::plain, 80));
  EXPECT_FALSE(runs_on(80, Target::plain, 90)) << "another major number";
  EXPECT_FALSE(runs_on(90, Target::plain, 89));
  EXPECT_TRUE(runs_on(120, Target::plain, 121));
  EXPECT_FALSE(runs_on(120, Target::plain, 130));
}

TEST(Compatibility, ArchitectureSpecificCodeRunsOnItsOwnNumberAlone) {
  EXPECT_TRUE(runs_on(90, Target::specific, 90));
  EXPECT_TRUE(runs_on(120, Target::specific, 120));
  EXPECT_FALSE(runs_on(120, Target::specific, 121));
  EXPECT_FALSE(runs_on(100, Target::specific, 103));
}

TEST(Compatibility, FamilyCodeRunsOnTheRestOfItsFamily) {
  EXPECT_TRUE(runs_on(100, Target::family, 100));
  EXPECT_TRUE(runs_on(100, Target::family, 103));
  EXPECT_FALSE(runs_on(103, Target::family, 100));
  EXPECT_FALSE(runs_on(100, Target::family, 120));
}

}  // namespace
}  // namespace foretrace::isa
