// The table of what sampling rests on.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/sampling/constants.h"

namespace foretrace::sampling_tests {
namespace {

TEST(Constants, EachHasAUnitAMeaningASourceAndLiesInItsRange) {
  std::set<std::string> names;
  for (const sampling::Constant& constant : sampling::kConstants) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name << " twice";
    EXPECT_NE(std::string(constant.unit), "") << constant.name;
    EXPECT_NE(std::string(constant.meaning), "") << constant.name;
    EXPECT_LE(constant.low, constant.value) << constant.name;
    EXPECT_GE(constant.high, constant.value) << constant.name;
    const std::string source = constant.source;
    EXPECT_TRUE(source == "fit" || source == "bound" || source.starts_with("judgement") ||
                source.starts_with("the "))
        << constant.name << ": " << source;
  }
}

}  // namespace
}  // namespace foretrace::sampling_tests
