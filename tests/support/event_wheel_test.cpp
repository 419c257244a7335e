// The event wheel beside a sorted map: order of time, and of insertion within a cycle, near and far.
#include <cstdint>
#include <iterator>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "model/support/event_wheel.h"

namespace foretrace::support {
namespace {

TEST(EventWheel, AgreesWithASortedMap) {
  std::mt19937 random(5);
  EventWheel<int> wheel;
  std::multimap<Cycle, int> expected;  // keeps the order of insertion within a key
  const Cycle spans[] = {1, 8, 100, 1023, 1024, 1025, 40'000};
  Cycle now = 0;
  int number = 0;
  const auto push = [&](Cycle time) {
    wheel.push(time, number);
    expected.emplace(time, number++);
  };
  for (int round = 0; round < 4000; ++round) {
    for (auto i = random() % 5; i > 0; --i) push(now + random() % spans[random() % std::size(spans)]);
    if (expected.empty()) continue;
    ASSERT_EQ(wheel.next(), expected.begin()->first);
    now = wheel.next();
    wheel.run(now, [&](int event) {
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(expected.begin()->first, now);
      ASSERT_EQ(event, expected.begin()->second);
      expected.erase(expected.begin());
      if (event % 16 == 0) push(now);  // runs in the same call
    });
    ASSERT_TRUE(expected.empty() || expected.begin()->first > now);
  }
}

}  // namespace
}  // namespace foretrace::support
