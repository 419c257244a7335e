// Which line leaves L1: sets, lines that were used again, stretches of equal age, lines kept back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "model/sm/l1_tags.h"
#include "model/sm/line_ages.h"
#include "model/work/address_space.h"

namespace foretrace::sm {
namespace {

spec::L1Spec spec_of(std::uint32_t sets, std::uint32_t stretch, double again_share, std::uint32_t kept_back,
                     std::uint32_t used_once = 0) {
  spec::L1Spec spec;
  spec.sets = sets;
  spec.replacement_stretch = stretch;
  spec.used_again_share = again_share;
  spec.lines_used_once = used_once;
  spec.lines_kept_back = kept_back;
  return spec;
}

void read(L1Tags& tags, std::uint64_t line) {
  if (L1Tags::Entry* entry = tags.find(line)) {
    tags.use(*entry);
  } else {
    tags.allocate(line);
  }
}

void read_all(L1Tags& tags, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t line = first; line < first + count; ++line) read(tags, line);
}

std::uint64_t here(L1Tags& tags, std::uint64_t first, std::uint64_t count) {
  std::uint64_t found = 0;
  for (std::uint64_t line = first; line < first + count; ++line) found += tags.find(line) != nullptr;
  return found;
}

TEST(L1Tags, AStoreBehindOneThatIsOnItsWayOutLeavesOnlyItsOwnBytes) {
  L1Tags tags(64 * kLineBytes, spec_of(1, 1, 1, 0));
  L1Tags::Entry& entry = tags.allocate(5);
  entry.valid = 0xf;
  constexpr std::array<std::uint32_t, kSectorsPerLine> kWord = {0xf, 0, 0, 0};
  EXPECT_EQ(tags.store(entry, 1, kWord, false, true, 100), 0);
  EXPECT_EQ(entry.valid, 0xf) << "nothing is on its way";
  EXPECT_EQ(tags.store(entry, 1, kWord, true, true, 110), 0) << "it joins what is held";
  EXPECT_EQ(entry.valid, 0xf);
  EXPECT_EQ(tags.store(entry, 1, kWord, false, true, 120), 1) << "held, and not to be joined";
  EXPECT_EQ(entry.valid, 0xe);
  entry.valid = 0xf;
  tags.left(5, 1, 151);
  EXPECT_EQ(tags.store(entry, 1, kWord, false, false, 150), 1) << "its last flit is still to leave";
  EXPECT_EQ(entry.valid, 0xe);
  entry.valid = 0xf;
  EXPECT_EQ(tags.store(entry, 1, kWord, false, false, 151), 0) << "it has left";
  EXPECT_EQ(entry.valid, 0xf);
  tags.left(6, 1, 900);  // a line that is not here
}

TEST(L1Tags, AsManyLinesAsItsBytesHoldLessThoseKeptBack) {
  for (const std::uint32_t kept_back : {0u, 8u}) {
    L1Tags tags(64 * kLineBytes, spec_of(4, 1, 0.5, kept_back));
    read_all(tags, 0, 64 - kept_back);
    EXPECT_EQ(here(tags, 0, 64), 64 - kept_back);
    read(tags, 64 - kept_back);
    EXPECT_EQ(here(tags, 0, 65), 64 - kept_back) << "one came, one went";
  }
}

TEST(L1Tags, LinesAPowerOfTwoApartFillAllSets) {
  for (const std::uint64_t stride : {1u, 2u, 4u, 8u, 64u, 1024u}) {
    L1Tags tags(64 * kLineBytes, spec_of(4, 1, 0.5, 0));
    for (std::uint64_t i = 0; i < 64; ++i) read(tags, i * stride);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < 64; ++i) found += tags.find(i * stride) != nullptr;
    EXPECT_EQ(found, 64u) << "stride " << stride;
  }
}

TEST(L1Tags, LinesUsedAgainStayWhileOthersPass) {
  L1Tags tags(64 * kLineBytes, spec_of(1, 1, 0.5, 0));
  read_all(tags, 0, 32);
  read_all(tags, 0, 32);
  read_all(tags, 1000, 500);
  EXPECT_EQ(here(tags, 0, 32), 32u);
  EXPECT_EQ(here(tags, 1000, 500), 32u) << "the others have what is left";
}

TEST(L1Tags, OfMoreLinesUsedAgainTheOldestCountAsUsedOnce) {
  L1Tags tags(64 * kLineBytes, spec_of(1, 1, 0.5, 0));
  read_all(tags, 0, 33);
  read_all(tags, 0, 33);  // the 33rd takes the place of the first among those used again
  read_all(tags, 1000, 500);
  EXPECT_EQ(tags.find(0), nullptr);
  EXPECT_EQ(here(tags, 1, 32), 32u);
}

TEST(L1Tags, LinesUsedAgainLeaveSoManyToOthers) {
  // Three quarters of 64 lines less 40 are 8; less 48, none: then they go as the others do.
  for (const std::uint32_t used_once : {40u, 48u}) {
    L1Tags tags(64 * kLineBytes, spec_of(1, 1, 0.75, 0, used_once));
    read_all(tags, 0, 8);
    read_all(tags, 0, 8);
    read_all(tags, 1000, 500);
    EXPECT_EQ(here(tags, 0, 8), 48 - used_once);
  }
}

TEST(L1Tags, AUseMakesALineYoung) {
  L1Tags tags(4 * kLineBytes, spec_of(1, 1, 0.75, 0));
  read_all(tags, 0, 3);
  read_all(tags, 0, 3);  // all used again: 0 is the oldest
  read(tags, 0);         // and now the youngest
  read(tags, 3);
  read(tags, 3);  // a fourth: 1 goes back to those used once
  read(tags, 4);
  EXPECT_EQ(tags.find(1), nullptr);
  EXPECT_EQ(here(tags, 0, 1), 1u);
}

TEST(L1Tags, WithinAStretchAnyLineGoes) {
  const auto left = [](std::uint32_t stretch) {  // of the first 32 lines, after 16 more
    L1Tags tags(64 * kLineBytes, spec_of(1, stretch, 0.5, 0));
    read_all(tags, 0, 64);
    read_all(tags, 100, 16);
    std::vector<std::uint64_t> gone;
    for (std::uint64_t line = 0; line < 64; ++line) {
      if (!tags.find(line)) gone.push_back(line);
    }
    EXPECT_EQ(gone.size(), 16u);
    return gone.back();
  };
  EXPECT_EQ(left(1), 15u) << "the oldest sixteen";
  EXPECT_GT(left(32), 15u);
  EXPECT_LT(left(32), 32u) << "none of the second stretch";
  EXPECT_GT(left(64), 31u);
}

TEST(L1Tags, FoundAfterManyCameAndWent) {
  // The table that is searched, against a list: each line that was taken is found until it is given away, and no other.
  L1Tags tags(256 * kLineBytes, spec_of(4, 8, 0.5, 28));
  std::uint32_t state = 1;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::uint64_t line = std::uint64_t{state >> 20} << (i % 3 * 16);
    read(tags, line);
    seen.insert(line);
    ASSERT_NE(tags.find(line), nullptr);
    EXPECT_EQ(tags.find(line)->line, line);
    EXPECT_EQ(tags.at(tags.position(*tags.find(line)), line), tags.find(line));
  }
  const auto kept =
      std::count_if(seen.begin(), seen.end(), [&](std::uint64_t line) { return tags.find(line) != nullptr; });
  EXPECT_EQ(kept, 256 - 28);
}

TEST(L1Tags, InvalidatedLinesHaveNoSectorsAndKeepTheirPlaces) {
  L1Tags tags(64 * kLineBytes, spec_of(4, 8, 0.5, 0));
  const std::uint64_t first_local = work::kLocalBase / kLineBytes,
                      last_local = (work::kLocalBase + work::kLocalBytes) / kLineBytes - 1;
  const std::vector<std::uint64_t> global = {5, first_local - 1, last_local + 1},
                                   kept = {first_local, last_local, 9};
  for (const int round : {1, 2}) {
    for (const auto& lines : {global, kept})
      for (const std::uint64_t line : lines) read(tags, line), tags.find(line)->valid = 0b1011;
    tags.find(9)->by_texture = true;
    tags.invalidate();
    for (const std::uint64_t line : global)
      EXPECT_EQ(tags.find(line)->valid, 0) << line << " in round " << round;
    for (const std::uint64_t line : kept) EXPECT_EQ(tags.find(line)->valid, 0b1011) << line;
  }
}

TEST(LineAges, OldestFirstWhateverTheOrderOfComing) {
  LineAges ages(8, 2);
  ages.add(0, 3, 5);
  ages.add(0, 4, 7);
  ages.add(0, 5, 6);  // put between the two
  ages.add(1, 6, 1);
  EXPECT_EQ(ages.count(0), 3u);
  EXPECT_EQ(ages.list_of(6), 1u);
  EXPECT_EQ(ages.list_of(7), LineAges::kNone);
  for (const std::uint32_t expected : {3u, 5u, 4u}) {
    EXPECT_EQ(ages.oldest(0, 12345), expected);
    ages.remove(expected);
  }
  EXPECT_EQ(ages.count(0), 0u);
  EXPECT_EQ(ages.oldest(1, 0), 6u);
}

TEST(LineAges, LinesOfOneStretchAreChosenAmong) {
  LineAges ages(8, 1);
  for (const std::uint32_t line : {1u, 2u, 3u}) ages.add(0, line, 9);
  ages.add(0, 4, 10);
  std::set<std::uint32_t> chosen;
  for (std::uint32_t any = 0; any < 6; ++any) chosen.insert(ages.oldest(0, any));
  EXPECT_EQ(chosen, (std::set<std::uint32_t>{1, 2, 3}));
  ages.remove(1);
  ages.remove(3);
  EXPECT_EQ(ages.oldest(0, 77), 2u);
  ages.remove(2);
  EXPECT_EQ(ages.list_of(2), LineAges::kNone);
  EXPECT_EQ(ages.oldest(0, 5), 4u) << "of the next stretch";
}

}  // namespace
}  // namespace foretrace::sm
