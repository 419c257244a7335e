// Classes, and the split into open and sealed kernels.
#include "sim/compare/launch_class.h"

#include <gtest/gtest.h>

#include <string>

namespace foretrace::compare {
namespace {

TEST(LaunchClass, TheSuitesFoldersNameClassesAndALessonIsItsOwn) {
  EXPECT_EQ(class_of("kernels/transpose.toml"), "transpose");
  EXPECT_EQ(class_of("suite/scan/blelloch.toml"), "scan");
  EXPECT_EQ(class_of("somewhere/validate/suite/scan/blelloch.toml"), "scan");
  EXPECT_EQ(class_of("validate/published/copy.toml"), "copy");
}

TEST(LaunchClass, TheHashOfTheStemSeals) {
  // SHA-256 of "abc" begins with ba7816bf, which is 3128432319: three divides it (FIPS 180-4's example).
  EXPECT_TRUE(is_sealed("suite/scan/abc.toml"));
  EXPECT_TRUE(is_sealed("suite/sort/abc.toml"));      // the folder does not matter
  EXPECT_FALSE(is_sealed("suite/scan/prefix.toml"));  // leaves two
  EXPECT_FALSE(is_sealed("kernels/abc.toml"));        // a lesson is open
  EXPECT_FALSE(is_sealed("published/abc.toml"));      // so is what others published
}

TEST(LaunchClass, AThirdIsSealed) {
  int sealed = 0;
  for (int i = 0; i < 3000; ++i)
    sealed += is_sealed("suite/any/kernel_" + std::to_string(i) + ".toml") ? 1 : 0;
  EXPECT_GT(sealed, 900);
  EXPECT_LT(sealed, 1100);
}

}  // namespace
}  // namespace foretrace::compare
