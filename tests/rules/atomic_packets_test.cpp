// What ncu counted on an H100 for one instruction of a warp (microbenchmark atomic_forms): requests and sectors at L2, and
// from the cycles to the network how many packets were of a single word.

#include "model/rules/atomic_packets.h"

#include <array>
#include <ostream>

#include <gtest/gtest.h>

namespace foretrace::rules {
namespace {

using Addresses = std::array<std::uint64_t, kWarpSize>;
constexpr std::uint32_t kAll = ~0u;

template <typename Place>
Addresses words(Place&& place) {
  Addresses addresses;
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = 4096 + 4 * place(lane);
  return addresses;
}

/// All lines together.
struct Sum {
  int packets = 0, visits = 0, lone = 0;
  bool operator==(const Sum&) const = default;
};
Sum sum_of(const Addresses& addresses, std::uint32_t executed = kAll, std::uint32_t bytes = 4) {
  Sum sum;
  for (std::uint64_t line = 4096 / 128; line < 4096 / 128 + 64; ++line) {
    const AtomicPackets leaves = atomic_packets(addresses, executed, bytes, line);
    sum.packets += leaves.packets;
    sum.visits += leaves.visits;
    sum.lone += leaves.lone;
  }
  return sum;
}
std::ostream& operator<<(std::ostream& out, const Sum& sum) {
  return out << sum.packets << " packets, " << sum.visits << " sectors, " << sum.lone << " lone";
}

TEST(AtomicPackets, LanesOnOneWordGoOneByOne) {
  const Addresses one = words([](std::uint64_t) { return 0; });
  for (const int lanes : {1, 2, 8, 32}) {
    const std::uint32_t executed = lanes == 32 ? kAll : (1u << lanes) - 1;
    EXPECT_EQ(sum_of(one, executed), (Sum{lanes, lanes, lanes}));
  }
}

TEST(AtomicPackets, LanesOnNeighboursGoTogether) {
  const Addresses neighbours = words([](std::uint64_t lane) { return lane; });
  EXPECT_EQ(sum_of(neighbours), (Sum{1, 4, 0}));
  EXPECT_EQ(sum_of(neighbours, 0xffff), (Sum{1, 2, 0}));
  EXPECT_EQ(sum_of(neighbours, 0x3), (Sum{1, 1, 0}));
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return 31 - lane; })), (Sum{1, 4, 0}));
}

TEST(AtomicPackets, FewWordsTakeAsManyPacketsAsLanesShareOne) {
  for (const int count : {2, 4, 8, 16}) {
    const auto n = static_cast<std::uint64_t>(count);
    const int sectors = (count + 7) / 8;
    const Sum measured{32 / count, 32 / count * sectors, 0};
    EXPECT_EQ(sum_of(words([n](std::uint64_t lane) { return lane % n; })), measured);
    EXPECT_EQ(sum_of(words([n](std::uint64_t lane) { return lane / (32 / n); })), measured);
  }
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return lane % 8 * 8; })),
            (Sum{8, 32, 0}));  // sectors taking turns
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return lane % 16 * 32; })),
            (Sum{32, 32, 32}));  // lines taking turns
}

TEST(AtomicPackets, StridesByTheLine) {
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return 2 * lane; })), (Sum{2, 8, 0}));
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return 8 * lane; })), (Sum{8, 32, 0}));
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return 16 * lane; })), (Sum{16, 32, 0}));
  EXPECT_EQ(sum_of(words([](std::uint64_t lane) { return 32 * lane; })), (Sum{32, 32, 32}));
}

TEST(AtomicPackets, AHistogramsRandomWords) {
  // The 32 words of the form random_of_words_16, and what was counted: 6 requests, 11 sectors, 16 cycles.
  constexpr std::array<std::uint64_t, 32> kWords = {3,  1, 3,  11, 11, 1, 3, 11, 4, 3, 1, 11, 14, 9,  5, 9,
                                                    13, 1, 15, 15, 2,  3, 2, 2,  5, 7, 3, 11, 10, 15, 0, 12};
  const Sum sum = sum_of(words([&kWords](std::uint64_t lane) { return kWords[lane]; }));
  EXPECT_EQ(sum, (Sum{6, 11, 1}));
  EXPECT_EQ(sum.packets + sum.visits - sum.lone, 16);
}

TEST(AtomicPackets, WideWordsFillMoreSectors) {
  Addresses addresses;
  for (std::uint64_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = 4096 + 8 * lane;
  EXPECT_EQ(sum_of(addresses, kAll, 8), (Sum{2, 8, 0}));
  addresses.fill(4096);
  EXPECT_EQ(sum_of(addresses, kAll, 8), (Sum{32, 32, 32}));
}

}  // namespace
}  // namespace foretrace::rules
