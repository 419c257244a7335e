// The lines of L2 beside plain references: the queue of a slice's dirty lines, and what an invalidation leaves.
#include <algorithm>
#include <cstdint>
#include <list>
#include <random>

#include <gtest/gtest.h>

#include "model/memory/l2_tags.h"

namespace foretrace::memory {
namespace {

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
