// What keeps order inside the memory system, beside plain references: the calendar of events, and the queue of a slice's dirty lines.
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/memory/calendar.h"
#include "model/memory/l2_tags.h"

namespace foretrace::memory {
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

TEST(L2Tags, DirtyLinesLeaveInTheOrderInWhichTheyWereWrittenLast) {
  constexpr std::uint32_t kSets = 4, kWays = 16;
  L2Tags tags(2, kSets, kWays);
  std::list<std::uint32_t> expected[2];  // slots by slice, oldest first
  std::mt19937 random(3);
  for (std::uint32_t slot = 0; slot < 2 * kSets * kWays; ++slot) tags.install(slot, slot);
  for (int round = 0; round < 20'000; ++round) {  // far more than the queue holds before it is tidied
    const auto slot = static_cast<std::uint32_t>(random() % (2 * kSets * kWays)),
               slice = slot / kWays / kSets;
    std::list<std::uint32_t>& lines = expected[slice];
    const auto there = std::find(lines.begin(), lines.end(), slot);
    ASSERT_EQ(tags.listed_dirty(slot), there != lines.end());
    if (random() % 3 == 0 && there != lines.end()) {
      lines.erase(there);
      tags.remove_dirty(slot);
    } else {
      if (there != lines.end()) lines.erase(there);
      lines.push_back(slot);
      tags.put_newest_dirty(slot);
    }
    ASSERT_EQ(tags.dirty_count(slice), lines.size());
    if (!lines.empty()) { ASSERT_EQ(tags.oldest_dirty(slice), lines.front()); }
  }
}

TEST(L2Tags, NothingIsLeftAfterInvalidationHoweverMuchWasThere) {
  constexpr std::uint32_t kSets = 64, kWays = 4;
  L2Tags tags(1, kSets, kWays);
  for (const std::uint32_t lines : {1u, 15u, 16u, kSets * kWays}) {
    for (std::uint32_t i = 0; i < lines; ++i) {
      const std::uint32_t slot = tags.victim(i % kSets, true, false);
      tags.install(slot, 100 + i);
      tags[slot].valid = 15;
      tags.put_newest_dirty(slot);
    }
    EXPECT_NE(tags.find(0, 100), kNone);
    tags.invalidate_all();
    EXPECT_EQ(tags.dirty_count(0), 0u);
    for (std::uint32_t i = 0; i < lines; ++i) EXPECT_EQ(tags.find(i % kSets, 100 + i), kNone);
    for (std::uint32_t slot = 0; slot < kSets * kWays; ++slot) EXPECT_EQ(tags[slot].valid, 0) << slot;
  }
}

}  // namespace
}  // namespace foretrace::memory
