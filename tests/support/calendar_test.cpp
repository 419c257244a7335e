// The calendar of the memory system's events beside a sorted map: order of time, and of insertion within a cycle, near and far.
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/support/calendar.h"

namespace foretrace::support {
namespace {

TEST(Calendar, TakesEventsOfACycleInTheOrderOfInsertionHoweverFarTheyWere) {
  Calendar<int> calendar;
  constexpr std::uint64_t kTime = 700'000;  // beyond what is listed by block
  calendar.push(kTime, 1);
  calendar.push(500'000, 0);
  EXPECT_EQ(calendar.next(), 500'000u);
  std::vector<int> seen;
  calendar.take(500'000, [&](int) { calendar.push(kTime, 2); });  // now listed by block
  calendar.push(kTime - 300, 0);
  calendar.take(kTime - 300, [&](int) { calendar.push(kTime, 3); });
  calendar.push(kTime - 1, 0);
  calendar.take(kTime - 1, [&](int) { calendar.push(kTime, 4); });
  ASSERT_EQ(calendar.next(), kTime);
  calendar.take(kTime, [&](int event) {
    seen.push_back(event);
    if (event == 4) calendar.push(kTime, 5);
  });
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(calendar.next(), kNever);
}

TEST(Calendar, AgreesWithASortedMap) {
  std::mt19937 random(7);
  Calendar<int> calendar;
  std::multimap<std::uint64_t, int> expected;  // keeps the order of insertion within a key
  std::uint64_t now = 0;
  int number = 0;
  const std::uint64_t spans[] = {1, 30, 255, 256, 511, 513, 3000, 262'143, 262'145, 900'000};
  for (int round = 0; round < 4000; ++round) {
    for (auto i = random() % 4; i > 0; --i) {
      const std::uint64_t time = now + random() % spans[random() % std::size(spans)];
      calendar.push(time, number);
      expected.emplace(time, number++);
    }
    if (expected.empty()) continue;
    ASSERT_EQ(calendar.next(), expected.begin()->first);
    now = calendar.next();
    const auto last = expected.upper_bound(now);
    auto at = expected.begin();
    calendar.take(now, [&](int event) {
      ASSERT_TRUE(at != last);
      EXPECT_EQ(event, (at++)->second);
    });
    EXPECT_TRUE(at == last);
    expected.erase(expected.begin(), last);
  }
}

}  // namespace
}  // namespace foretrace::support
