// The ring: first in, first out, also where it grows while its first element stands in the middle.
#include <cstddef>

#include <gtest/gtest.h>

#include "model/support/large_pages.h"
#include "model/support/ring.h"

namespace foretrace::support {
namespace {

TEST(Ring, KeepsItsOrderWhereItGrows) {
  Ring<int> ring;
  EXPECT_TRUE(ring.empty());
  for (int i = 0; i < 16; ++i) ring.push(i);  // full
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ring.pop(), i);
  for (int i = 16; i < 40; ++i) ring.push(i);  // round the end, then twice as large
  ASSERT_EQ(ring.size(), 30u);
  for (std::size_t i = 0; i < ring.size(); ++i) EXPECT_EQ(ring[i], 10 + static_cast<int>(i));
  ring.front() = 7;
  EXPECT_EQ(ring.pop(), 7);
  EXPECT_EQ(ring.front(), 11);
  ring.clear();
  EXPECT_TRUE(ring.empty());
  ring.push(3);
  EXPECT_EQ(ring.pop(), 3);
}

TEST(LargeVector, HoldsSmallAndLargeArraysAlike) {
  for (const std::size_t count :
       {std::size_t{5}, std::size_t{3} << 20}) {  // the second: more than a large page
    LargeVector<int> numbers(count, 4);
    numbers.push_back(9);
    EXPECT_EQ(numbers[count - 1], 4);
    EXPECT_EQ(numbers[count], 9);
    EXPECT_EQ(numbers.size(), count + 1);
  }
}

}  // namespace
}  // namespace foretrace::support
