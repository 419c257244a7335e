// Addresses spread evenly over slices, sets, channels and banks, whatever the stride and however many
// slices there are.

#include "model/memory/topology.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::AddressMap;
using memory::DramPlace;
using memory::Place;

spec::GpuSpec chip_with(std::uint32_t slices, std::uint32_t partitions, std::uint32_t channels) {
  spec::GpuSpec chip = small_chip();
  chip.l2.slices = slices;
  chip.l2.partitions = partitions;
  chip.l2.bytes = std::uint64_t{slices} * 320 * 16 * 128;
  chip.dram.channels = channels;
  return chip;
}

class Shape : public testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  spec::GpuSpec chip() const {
    const auto [slices, partitions, channels] = GetParam();
    return chip_with(static_cast<std::uint32_t>(slices), static_cast<std::uint32_t>(partitions),
                     static_cast<std::uint32_t>(channels));
  }
};

TEST_P(Shape, ContiguousLinesVisitEverySliceAlike) {
  const spec::GpuSpec spec = chip();
  const AddressMap map(spec);
  std::vector<std::uint64_t> lines(spec.l2.slices), channels(spec.dram.channels);
  constexpr std::uint64_t kLines = 1 << 18;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    const Place place = map.place(line);
    ++lines[map.slice(place.home, place.index)];
    ++channels[map.dram(place).channel];
  }
  // A partition gets exactly half of every two pages; within it the slices take turns, four lines each.
  const auto [low, high] = std::minmax_element(lines.begin(), lines.end());
  EXPECT_LE(*high - *low, 4u);
  const auto [few, many] = std::minmax_element(channels.begin(), channels.end());
  EXPECT_LE(*many - *few, 4u * (spec.l2.slices / spec.dram.channels + 1u));
}

TEST_P(Shape, EveryStrideSpreadsOverSlices) {
  const spec::GpuSpec spec = chip();
  const AddressMap map(spec);
  const std::uint64_t slices = spec.l2.slices;
  const std::vector<std::uint64_t> strides = {2,    3,       4,       8,          16,          32,
                                              40,   64,      80,      96,         128,         1024,
                                              4096, 1 << 14, 1 << 18, slices * 5, slices * 64, slices * 320};
  for (const std::uint64_t stride : strides) {
    std::vector<double> lines(slices);
    constexpr int kEach = 400;
    for (std::uint64_t i = 0; i < slices * kEach; ++i) {
      const Place place = map.place(i * stride);
      ++lines[map.slice(place.home, place.index)];
    }
    // Random spreading has a standard deviation of sqrt(400) = 20 per slice.
    EXPECT_LT(*std::max_element(lines.begin(), lines.end()), kEach + 120)
        << "stride of " << stride << " lines";
    EXPECT_GT(*std::min_element(lines.begin(), lines.end()), kEach - 120)
        << "stride of " << stride << " lines";
  }
}

TEST_P(Shape, NoTwoLinesShareAPlace) {
  const spec::GpuSpec spec = chip();
  const AddressMap map(spec);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places;
  constexpr std::uint64_t kLines = 1 << 16;
  for (std::uint64_t i = 0; i < kLines; ++i) {
    const std::uint64_t line = i * 37;
    const Place place = map.place(line);
    const std::uint32_t set = map.set(map.slice(place.home, place.index), place.set);
    EXPECT_TRUE(places.insert({set, place.tag, place.home}).second);
    const Place again = map.place_of(set, place.tag);
    ASSERT_EQ(std::tie(again.home, again.index, again.set), std::tie(place.home, place.index, place.set));
  }
}

TEST_P(Shape, AContiguousCapacityFillsEverySetOnce) {
  const spec::GpuSpec spec = chip();
  const AddressMap map(spec);
  const std::uint64_t capacity = spec.l2.bytes / 128;
  std::vector<std::uint32_t> lines(std::size_t{spec.l2.slices} * map.sets());
  for (std::uint64_t line = 0; line < capacity; ++line) {
    const Place place = map.place(line);
    ++lines[map.set(map.slice(place.home, place.index), place.set)];
  }
  EXPECT_LE(*std::max_element(lines.begin(), lines.end()), spec.l2.ways + 1);
}

TEST_P(Shape, RowsHoldNeighbouringLinesOfAChannel) {
  const spec::GpuSpec spec = chip();
  const AddressMap map(spec);
  const std::uint64_t lines =
      std::uint64_t{spec.dram.channels} * spec.dram.row_bytes / 128 * 64;  // 64 rows per channel
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> rows;
  std::vector<std::set<std::uint64_t>> banks(spec.dram.channels);
  for (std::uint64_t line = 0; line < lines; ++line) {
    const DramPlace place = map.dram(map.place(line));
    rows.insert({place.channel, place.bank, place.row});
    banks[place.channel].insert(place.bank);
  }
  EXPECT_LE(rows.size(), 64u * spec.dram.channels * 21 / 20);
  for (const auto& used : banks) EXPECT_EQ(used.size(), spec.dram.banks);
}

INSTANTIATE_TEST_SUITE_P(Chips, Shape,
                         testing::Values(std::tuple{8, 2, 4}, std::tuple{80, 2, 40}, std::tuple{80, 2, 80},
                                         std::tuple{96, 2, 96}, std::tuple{48, 1, 8}, std::tuple{64, 1, 16}));

TEST(AddressMap, PartitionsAlternateInFourKibibyteGranules) {
  const AddressMap map(chip_with(80, 2, 80));
  for (std::uint64_t page = 0; page < 512; ++page) {
    const std::uint32_t home = map.place(page * 32).home;
    for (std::uint64_t line = 1; line < 32; ++line) ASSERT_EQ(map.place(page * 32 + line).home, home);
    ASSERT_NE(map.place((page ^ 1) * 32).home, home);
  }
}

TEST(AddressMap, FourLinesOfAGranuleShareASlice) {
  const AddressMap map(chip_with(80, 2, 80));
  for (std::uint64_t page = 0; page < 64; ++page) {
    std::set<std::uint32_t> slices;
    for (std::uint64_t line = 0; line < 32; ++line) {
      const std::uint32_t slice = map.place(page * 32 + line).index;
      slices.insert(slice);
      // Measured on H100: lines 0, 1, 4 and 5 meet in one, 2 lies elsewhere.
      ASSERT_EQ(slice, map.place(page * 32 + (line ^ 1)).index);
      ASSERT_EQ(slice, map.place(page * 32 + (line ^ 4)).index);
    }
    ASSERT_EQ(slices.size(), 8u);
  }
}

TEST(AddressMap, SmsGoRoundTheGpcsInPairs) {
  spec::GpuSpec chip = large_chip();
  std::vector<int> sms(8), partitions(2);
  for (std::uint32_t sm = 0; sm < 132; ++sm) {
    ++sms[memory::gpc_of_sm(chip.sm, sm)];
    ++partitions[memory::partition_of_sm(chip, sm)];
  }
  EXPECT_EQ(sms, (std::vector<int>{18, 18, 16, 16, 16, 16, 16, 16}));
  EXPECT_EQ(partitions, (std::vector<int>{68, 64}));
  chip.l2.partitions = 1;
  EXPECT_EQ(memory::partition_of_sm(chip, 131), 0u);
}

// Of an H200's first GPC of 16 SMs (numbers 2, 3, 18, 19, 34, ...) 34, 35, 78 and 79 make a CPC of four (sm_groups).
TEST(Topology, AGpcsTpcsGoRoundItsCpcs) {
  spec::SmSpec sm;
  sm.count = 132;
  sm.gpcs = 8;
  sm.cpcs = 3;
  EXPECT_EQ(memory::cpc_of_sm(sm, 2), 1u * 3);
  EXPECT_EQ(memory::cpc_of_sm(sm, 19), 1u * 3 + 1);
  EXPECT_EQ(memory::cpc_of_sm(sm, 34), 1u * 3 + 2);
  EXPECT_EQ(memory::cpc_of_sm(sm, 50), 1u * 3);
  std::vector<std::uint32_t> sms(24);
  for (std::uint32_t i = 0; i < sm.count; ++i) ++sms[memory::cpc_of_sm(sm, i)];
  EXPECT_EQ(std::count(sms.begin(), sms.end(), 6u), 18);
  EXPECT_EQ(std::count(sms.begin(), sms.end(), 4u), 6) << "the third CPCs of GPCs of 16";
}

// H100: 334 SM cycles of the first TPCs, 343 of the third CPC's, 333 of the second TPC of the third CPC (l2_latency_by_sm).
TEST(Topology, AnSmsWaysAreLongerByItsCpcAndShorterByItsTpc) {
  spec::GpuSpec chip = large_chip();
  chip.network.request_latency = 80;
  chip.network.reply_latency = 81;
  for (const memory::Ways& even : memory::ways_of_sms(chip)) EXPECT_EQ(even.request + even.reply, 161u);
  chip.sm.count = 6 * 16;  // six TPCs of each of eight GPCs, in three CPCs of two
  chip.sm.gpcs = 8;
  chip.sm.cpcs = 3;
  chip.network.cpc_step = 4;
  chip.network.tpc_step = 6;
  const std::vector<memory::Ways> ways = memory::ways_of_sms(chip);
  std::vector<int> both;
  for (std::uint32_t tpc = 0; tpc < 6; ++tpc) {
    const memory::Ways of = ways[16 * tpc + 5];
    both.push_back(static_cast<int>(of.request + of.reply) - 161);
    EXPECT_LE(of.reply - of.request, 2u) << "both ways alike but for an odd cycle";
  }
  EXPECT_EQ(both, (std::vector<int>{-1, 3, 7, -7, -3, 1}));
  EXPECT_EQ(ways[4].request, ways[5].request) << "a TPC's two SMs";
  chip.network.request_latency = 1;  // no way is shorter than a cycle
  for (const memory::Ways& of : memory::ways_of_sms(chip)) EXPECT_GE(of.request, 1u);
}

}  // namespace
}  // namespace foretrace::memory_tests
