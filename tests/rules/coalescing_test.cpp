// Lines, sectors and bytes of warp accesses against a byte-by-byte count.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "model/rules/coalescing.h"

namespace foretrace::rules {
namespace {

using Addresses = std::array<std::uint64_t, kWarpSize>;
constexpr std::uint32_t kAll = ~0u;

Addresses strided(std::uint64_t base, std::uint64_t stride) {
  Addresses addresses{};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base + lane * stride;
  return addresses;
}

Coalesced coalesced(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes) {
  Coalesced out;
  coalesce(addresses, executed, bytes, out);
  return out;
}

/// The same by counting bytes, the slow and plain way.
void expect_as_counted(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes) {
  std::vector<std::uint64_t> order;
  std::map<std::uint64_t, std::uint8_t> sectors;
  std::map<std::uint64_t, std::uint32_t> lanes;
  std::set<std::uint64_t> distinct_bytes;
  std::map<std::uint64_t, std::array<std::uint32_t, 4>> written;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((executed >> lane & 1) == 0) continue;
    std::set<std::uint64_t> of_lane;
    for (std::uint64_t byte = addresses[lane]; byte < addresses[lane] + bytes; ++byte) {
      const std::uint64_t line = byte / 128;
      if (!sectors.contains(line)) order.push_back(line);
      sectors[line] = static_cast<std::uint8_t>(sectors[line] | 1u << (byte / 32 % 4));
      written[line][byte / 32 % 4] |= 1u << (byte % 32);
      distinct_bytes.insert(byte);
      of_lane.insert(line);
    }
    for (const std::uint64_t line : of_lane) ++lanes[line];
  }
  const Coalesced out = coalesced(addresses, executed, bytes);
  ASSERT_EQ(out.count, order.size());
  WrittenBytes masks;
  written_bytes(addresses, executed, bytes, out, masks);
  std::uint32_t total = 0;
  for (std::uint32_t i = 0; i < out.count; ++i) {
    EXPECT_EQ(out.lines[i].line, order[i]);
    EXPECT_EQ(out.lines[i].sectors, sectors[order[i]]);
    EXPECT_EQ(out.lines[i].lanes, lanes[order[i]]);
    EXPECT_EQ(masks[i], written[order[i]]);
    total += static_cast<std::uint32_t>(__builtin_popcount(sectors[order[i]]));
  }
  EXPECT_EQ(out.sectors, total);
  EXPECT_EQ(ideal_sectors(addresses, executed, bytes), (distinct_bytes.size() + 31) / 32);
}

TEST(Coalescing, NeighbouringWordsAreOneLineOfFourSectors) {
  const Coalesced out = coalesced(strided(0x10000, 4), kAll, 4);
  ASSERT_EQ(out.count, 1u);
  EXPECT_EQ(out.lines[0].line, 0x10000u / 128);
  EXPECT_EQ(out.lines[0].sectors, 0xf);
  EXPECT_EQ(out.lines[0].lanes, 32);
  EXPECT_EQ(out.sectors, 4u);
}

TEST(Coalescing, OneWordOffTheLineIsFiveSectorsInTwoLines) {
  const Coalesced out = coalesced(strided(0x10004, 4), kAll, 4);
  ASSERT_EQ(out.count, 2u);
  EXPECT_EQ(out.sectors, 5u);
  EXPECT_EQ(out.lines[1].sectors, 0x1);
  EXPECT_EQ(out.lines[1].lanes, 1);
}

TEST(Coalescing, SixteenBytesALaneUnalignedTo512TakesSeventeenSectors) {
  EXPECT_EQ(coalesced(strided(0, 16), kAll, 16).sectors, 16u);
  EXPECT_EQ(coalesced(strided(16, 16), kAll, 16).sectors, 17u);
}

TEST(Coalescing, TheNaiveSgemmsLoadsOfB) {
  // By columns, b[col*N+i]: 16 columns per row of the block, two rows share them: 16 sectors. By rows, b[i*N+col]: 16 neighbours: 2.
  Addresses columns{}, rows{};
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) {
    columns[lane] = 0x20000 + lane % 16 * 512 * 4;
    rows[lane] = 0x20000 + lane % 16 * 4;
  }
  EXPECT_EQ(coalesced(columns, kAll, 4).sectors, 16u);
  EXPECT_EQ(coalesced(rows, kAll, 4).sectors, 2u);
}

TEST(Coalescing, LinesOfStridesAsPublished) {
  // Lines that 32 floats touch at a stride, from an aligned base.
  const std::map<std::uint64_t, std::uint32_t> lines = {
      {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {7, 7}, {8, 8}, {9, 9}, {13, 13}, {16, 16}, {17, 17}, {32, 32}};
  for (const auto& [stride, expected] : lines) {
    EXPECT_EQ(coalesced(strided(0, stride * 4), kAll, 4).count, expected) << "stride " << stride;
  }
}

TEST(Coalescing, NoLaneNoLine) {
  const Coalesced out = coalesced(strided(0, 4), 0, 4);
  EXPECT_EQ(out.count, 0u);
  EXPECT_EQ(out.sectors, 0u);
  EXPECT_EQ(ideal_sectors(strided(0, 4), 0, 4), 0u);
}

TEST(Coalescing, LinesStandInTheOrderOfTheFirstLane) {
  Addresses backwards{};
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) backwards[lane] = 0x8000 - lane * 128;
  const Coalesced out = coalesced(backwards, kAll, 4);
  ASSERT_EQ(out.count, 32u);
  EXPECT_EQ(out.lines[0].line, 0x8000u / 128);
  EXPECT_EQ(out.lines[31].line, 0x8000u / 128 - 31);
}

TEST(Coalescing, EveryStrideAndWidthAsCounted) {
  for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (std::uint64_t stride = 0; stride <= 33; ++stride) {
      for (const std::uint64_t base : {0x1000u, 0x1010u, 0x1070u})
        expect_as_counted(strided(base, stride * bytes), kAll, bytes);
    }
  }
}

TEST(Coalescing, RandomAccessesAsCounted) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint32_t bytes = 1u << random() % 5;
    const std::uint64_t span = std::uint64_t{128} << random() % 12;
    Addresses addresses{};
    for (auto& address : addresses) address = 0x700000000000 + random() % span / bytes * bytes;
    expect_as_counted(addresses, static_cast<std::uint32_t>(random()), bytes);
  }
}

}  // namespace
}  // namespace foretrace::rules
