// Classes, and the split into development and held-out kernels.
#include "sim/validate/launch_class.h"

#include <gtest/gtest.h>

#include <string>

namespace foretrace::validate {
namespace {

TEST(LaunchClass, TheSuitesFoldersNameClassesAndAnExampleIsItsOwn) {
  EXPECT_EQ(class_of("kernels/transpose.toml"), "transpose");
  EXPECT_EQ(class_of("suite/scan/blelloch.toml"), "scan");
  EXPECT_EQ(class_of("somewhere/validate/suite/scan/blelloch.toml"), "scan");
  EXPECT_EQ(class_of("validate/published/copy.toml"), "copy");
}

TEST(LaunchClass, TheHashOfTheStemSeals) {
  // SHA-256 of "abc" begins with ba7816bf, which is 3128432319: three divides it (FIPS 180-4's example).
  EXPECT_TRUE(is_held_out("suite/scan/abc.toml"));
  EXPECT_TRUE(is_held_out("suite/sort/abc.toml"));      // the folder does not matter
  EXPECT_FALSE(is_held_out("suite/scan/prefix.toml"));  // leaves two
  EXPECT_FALSE(is_held_out("kernels/abc.toml"));        // an example is not
  EXPECT_FALSE(is_held_out("published/abc.toml"));      // nor is what others published
}

TEST(LaunchClass, AThirdIsHeldOut) {
  int held_out = 0;
  for (int i = 0; i < 3000; ++i)
    held_out += is_held_out("suite/any/kernel_" + std::to_string(i) + ".toml") ? 1 : 0;
  EXPECT_GT(held_out, 900);
  EXPECT_LT(held_out, 1100);
}

}  // namespace
}  // namespace foretrace::validate
