// Wavefronts of shared-memory accesses: the published measurements (CIC, FOR, QRC in docs/sources.md) and the rule on either side of its edges.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "model/rules/shared_banks.h"

namespace foretrace::rules {
namespace {

using Addresses = std::array<std::uint64_t, kWarpSize>;
constexpr std::uint32_t kAll = ~0u;

template <class Function>
Addresses by_lane(Function function) {
  Addresses addresses{};
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = function(lane);
  return addresses;
}

std::uint32_t passes(const Addresses& addresses, std::uint32_t bytes, SharedAccess access) {
  return shared_cost(addresses, kAll, bytes, access).wavefronts;
}

TEST(SharedBanks, WordStridesConflictByTheirCommonDivisorWith32) {
  for (std::uint64_t stride = 1; stride <= 33; ++stride) {
    const Addresses addresses = by_lane([&](std::uint64_t lane) { return lane * stride * 4; });
    const std::uint64_t expected = std::gcd(stride, std::uint64_t{32});
    for (const SharedAccess access : {SharedAccess::load, SharedAccess::store}) {
      const SharedCost cost = shared_cost(addresses, kAll, 4, access);
      EXPECT_EQ(cost.wavefronts, expected) << "stride " << stride;
      EXPECT_EQ(cost.ideal, 1u);
    }
  }
}

TEST(SharedBanks, TransposeTiles) {
  // tile[32][32] read by columns: 31 conflicts; tile[32][33]: none.
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 32 * 4; }), 4, SharedAccess::load), 32u);
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 33 * 4; }), 4, SharedAccess::load), 1u);
}

TEST(SharedBanks, EqualWordsMergeInLoadsAndStores) {
  const Addresses one = by_lane([](std::uint64_t) { return std::uint64_t{64}; });
  EXPECT_EQ(passes(one, 4, SharedAccess::load), 1u);
  EXPECT_EQ(passes(one, 4, SharedAccess::store), 1u);
  // Two words of one bank: one pass each.
  const Addresses two = by_lane([](std::uint64_t lane) { return lane % 2 * 128; });
  EXPECT_EQ(passes(two, 4, SharedAccess::load), 2u);
  // Bytes of one word are one word.
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane; }), 1, SharedAccess::load), 1u);
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 2; }), 2, SharedAccess::store), 1u);
}

TEST(SharedBanks, AWideWordForPartOfTheWarpTakesAPassAHalfThatHasLanes) {
  // Lanes from the 16th on read one key of 16 bytes: one pass (H100, attention_tiled: 320 passes for 128 full warps and 2 x 32 parts).
  const Addresses one = by_lane([](std::uint64_t) { return std::uint64_t{64}; });
  const auto passes_of = [&](std::uint32_t executed) {
    return shared_cost(one, executed, 16, SharedAccess::load).wavefronts;
  };
  EXPECT_EQ(passes_of(kAll), 2u);
  EXPECT_EQ(passes_of(0xffff'0000u), 1u);
  EXPECT_EQ(passes_of(0xffff'8000u), 2u);
  EXPECT_EQ(passes_of(0x00ff'ff00u), 2u);
  EXPECT_EQ(passes_of(0xff00'0000u), 1u);
}

TEST(SharedBanks, WideAccessesAreServedInHalvesAndQuarters) {
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 8; }), 8, SharedAccess::load), 2u);
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 16; }), 16, SharedAccess::load), 4u);
  for (const std::uint64_t stride : {2u, 4u, 8u}) {  // in elements of 16 bytes: 8, 16, 32 measured
    EXPECT_EQ(passes(by_lane([&](std::uint64_t lane) { return lane * stride * 16; }), 16, SharedAccess::load),
              4 * stride);
  }
  for (const std::uint64_t stride : {2u, 4u, 8u, 16u}) {
    EXPECT_EQ(passes(by_lane([&](std::uint64_t lane) { return lane * stride * 8; }), 8, SharedAccess::store),
              2 * stride);
  }
}

TEST(SharedBanks, BroadcastsOf128BitsLoadInTwoAndStoreInFour) {
  const Addresses one = by_lane([](std::uint64_t) { return std::uint64_t{256}; });
  EXPECT_EQ(passes(one, 16, SharedAccess::load), 2u);
  EXPECT_EQ(passes(one, 16, SharedAccess::store), 4u);
  EXPECT_EQ(passes(one, 8, SharedAccess::load), 1u);
  EXPECT_EQ(passes(one, 8, SharedAccess::store), 2u);
}

TEST(SharedBanks, LoadsMergeWithNeighbourOneOrTwoButNotFour) {
  const auto shared_by = [](std::uint64_t distance) {
    // Lanes l and l^distance read one 8-byte element; 16 elements in all: one word per bank.
    return by_lane([=](std::uint64_t lane) {
      const std::uint64_t low = lane & (distance - 1);
      return (lane / (2 * distance) * distance + low) * 8;
    });
  };
  EXPECT_EQ(passes(shared_by(1), 8, SharedAccess::load), 1u);
  EXPECT_EQ(passes(shared_by(2), 8, SharedAccess::load), 1u);
  EXPECT_EQ(passes(shared_by(4), 8, SharedAccess::load), 2u);
  EXPECT_EQ(passes(shared_by(1), 8, SharedAccess::store), 2u);
  // All or nothing: one lane that stands elsewhere, in a bank of its own kind, undoes the merge.
  Addresses broken = shared_by(1);
  broken[31] = 16 * 8;
  EXPECT_EQ(passes(broken, 8, SharedAccess::load), 2u);
}

TEST(SharedBanks, OnlyExecutedLanesCount) {
  const Addresses column = by_lane([](std::uint64_t lane) { return lane * 128; });
  EXPECT_EQ(shared_cost(column, 0, 4, SharedAccess::load).wavefronts, 0u);
  EXPECT_EQ(shared_cost(column, 0x80000001, 4, SharedAccess::load).wavefronts, 2u);
  const Addresses wide = by_lane([](std::uint64_t lane) { return lane * 16; });
  const SharedCost quarter = shared_cost(wide, 0x000000ff, 16, SharedAccess::load);
  EXPECT_EQ(quarter.wavefronts, 1u);
  EXPECT_EQ(quarter.ideal, 1u);
  const SharedCost lane = shared_cost(wide, 1, 16, SharedAccess::load);
  EXPECT_EQ(lane.wavefronts, 1u);
}

TEST(SharedBanks, MatrixTilesTakeOnePassEach) {
  const Addresses packed = by_lane([](std::uint64_t lane) { return lane * 16; });
  const Addresses pitch = by_lane([](std::uint64_t lane) { return lane * 128; });
  for (const std::uint32_t tiles : {1u, 2u, 4u}) {
    EXPECT_EQ(shared_cost(packed, kAll, 16, SharedAccess::matrix, tiles).wavefronts, tiles);
    const SharedCost bad = shared_cost(pitch, kAll, 16, SharedAccess::matrix, tiles);
    EXPECT_EQ(bad.wavefronts, 8 * tiles);
    EXPECT_EQ(bad.ideal, tiles);
  }
}

TEST(SharedBanks, AnAttemptToSwapTakesOnePassPerGroup) {
  const Addresses one = by_lane([](std::uint64_t) { return std::uint64_t{0}; });
  const Addresses bank = by_lane([](std::uint64_t lane) { return lane * 128; });
  for (const Addresses& addresses : {one, bank}) {
    EXPECT_EQ(passes(addresses, 4, SharedAccess::attempt), 1u);
    EXPECT_EQ(passes(addresses, 8, SharedAccess::attempt), 2u);
    EXPECT_EQ(passes(addresses, 4, SharedAccess::atomic), 32u);
  }
}

TEST(SharedBanks, CopiesAndAtomicsDoNotMerge) {
  const Addresses one = by_lane([](std::uint64_t) { return std::uint64_t{0}; });
  EXPECT_EQ(passes(one, 16, SharedAccess::copy), 32u);  // measured: a 16-byte broadcast destination
  EXPECT_EQ(passes(one, 4, SharedAccess::atomic), 32u);
  EXPECT_EQ(passes(one, 4, SharedAccess::increment), 1u);
  const Addresses apart = by_lane([](std::uint64_t lane) { return lane * 4; });
  EXPECT_EQ(passes(apart, 4, SharedAccess::atomic), 1u);
  EXPECT_EQ(passes(by_lane([](std::uint64_t lane) { return lane * 16; }), 16, SharedAccess::copy), 4u);
}

TEST(SharedBanks, RandomScalarAccessesAsCounted) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::uint64_t words = std::uint64_t{1} << (random() % 12);
    const Addresses addresses = by_lane([&](std::uint64_t) { return random() % words * 4; });
    const auto executed = static_cast<std::uint32_t>(random()) | 1;
    std::array<std::set<std::uint64_t>, 32> banks;
    std::size_t busiest = 0;
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      if ((executed >> lane & 1) == 0) continue;
      const std::uint64_t word = addresses[lane] / 4;
      banks[word % 32].insert(word);
      busiest = std::max(busiest, banks[word % 32].size());
    }
    EXPECT_EQ(shared_cost(addresses, executed, 4, SharedAccess::load).wavefronts, busiest);
  }
}

}  // namespace
}  // namespace foretrace::rules
