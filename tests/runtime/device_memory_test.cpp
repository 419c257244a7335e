// Global memory that is host memory: addresses, freeing, and memory that somebody else owns.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "sim/emulate/memory/global_memory.h"

namespace foretrace::emulate {
namespace {

constexpr std::uint64_t kTwoMebibytes = 2 * 1024 * 1024;

std::byte* host(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

TEST(HostBackedMemory, AddressesAreTheHostsAndTheSameInEveryRun) {
  std::uint64_t first = 0;
  for (int run = 0; run < 2; ++run) {
    GlobalMemory memory(Backing::host);
    const std::uint64_t small = memory.allocate(100, "small"),
                        large = memory.allocate(kTwoMebibytes + 5, "large");
    EXPECT_EQ(small % kAllocationAlignment, 0u);
    EXPECT_EQ(large % kTwoMebibytes, 0u);
    EXPECT_EQ(memory.at(large + kTwoMebibytes), host(large) + kTwoMebibytes);
    EXPECT_EQ(*host(large + kTwoMebibytes + 4), std::byte{0});
    *host(small) = std::byte{7};
    std::byte read{};
    memory.read(small, {&read, 1});
    EXPECT_EQ(read, std::byte{7});
    EXPECT_TRUE(memory.in_one_piece(large, large + kTwoMebibytes + 4));
    if (run == 0) first = small;
    EXPECT_EQ(small, first);
  }
}

// TCMalloc and V8 place memory at addresses that they draw at random.
TEST(HostBackedMemory, LiesElsewhereWhereTheProgramTookTheUsualAddresses) {
  const std::uint64_t taken = kHostArena + 5 * kTwoMebibytes;
  ASSERT_EQ(mmap(host(taken), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            host(taken));
  {
    GlobalMemory memory(Backing::host), another(Backing::host);
    const std::uint64_t address = memory.allocate(64 * kTwoMebibytes, "large");
    EXPECT_TRUE(address + 64 * kTwoMebibytes <= taken || address > taken);
    EXPECT_EQ(address % kTwoMebibytes, 0u);
    EXPECT_NE(another.allocate(1, "another"), address);
    *host(address + 64 * kTwoMebibytes - 1) = std::byte{3};
    EXPECT_TRUE(memory.on_page(address, 1));
    EXPECT_TRUE(memory.fork()->on_page(address, 1));
    EXPECT_FALSE(memory.on_page(taken, 1));
    std::byte read{};
    memory.read(address + 64 * kTwoMebibytes - 1, {&read, 1});
    EXPECT_EQ(read, std::byte{3});
  }
  ASSERT_EQ(munmap(host(taken), 4096), 0);
  GlobalMemory memory(Backing::host);
  EXPECT_GE(memory.allocate(1, "usual"), kHostArena);
  EXPECT_LT(memory.allocate(1, "usual"), kHostArena + kHostArenaBytes);
}

TEST(HostBackedMemory, FreedAddressesAreKnownAndComeBackLate) {
  GlobalMemory memory(Backing::host);
  const std::uint64_t freed = memory.allocate(1000, "short-lived");
  std::memset(host(freed), 1, 1000);
  EXPECT_FALSE(memory.free(freed + 1));
  EXPECT_TRUE(memory.free(freed));
  EXPECT_FALSE(memory.free(freed));
  EXPECT_EQ(memory.find(freed + 10), nullptr);
  ASSERT_NE(memory.freed(freed + 999), nullptr);
  EXPECT_EQ(memory.freed(freed + 999)->name, "short-lived");
  EXPECT_EQ(memory.freed(freed + 1000), nullptr);
  EXPECT_NE(memory.allocate(1000, "next"), freed);
  // 256 MiB freed later it may be given out again, and is zero.
  for (int i = 0; i < 5; ++i) memory.free(memory.allocate(64 * 1024 * 1024, "large"));
  EXPECT_EQ(memory.freed(freed), nullptr);
  EXPECT_EQ(memory.allocate(1000, "again"), freed);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(*host(freed + static_cast<std::uint64_t>(i)), std::byte{0}) << i;
}

TEST(HostBackedMemory, ForeignMemoryIsAnAllocationUntilItIsForgotten) {
  GlobalMemory memory(Backing::host);
  std::vector<std::byte> owned(4096);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(owned.data());
  EXPECT_TRUE(memory.adopt(address, 4096, "registered"));
  EXPECT_FALSE(memory.adopt(address + 4095, 10, "overlaps its end"));
  EXPECT_FALSE(memory.adopt(address - 10, 11, "overlaps its start"));
  ASSERT_NE(memory.find(address + 4095), nullptr);
  EXPECT_EQ(memory.find(address + 4095)->name, "registered");
  EXPECT_EQ(memory.find(address + 4096), nullptr);
  EXPECT_TRUE(memory.forget(address));
  EXPECT_EQ(memory.find(address), nullptr);
  EXPECT_FALSE(memory.forget(address));
}

TEST(HostBackedMemory, AForkKeepsItsWritesAndItsAllocationsToItself) {
  GlobalMemory memory(Backing::host);
  const std::uint64_t address = memory.allocate(100, "both");
  *host(address) = std::byte{1};
  const auto fork = memory.fork();
  const std::uint64_t own = fork->allocate(4096, "of the fork");
  EXPECT_EQ(*fork->at(own), std::byte{0});
  *fork->at(own) = std::byte{5};
  *fork->at(address) = std::byte{2};
  EXPECT_EQ(*fork->at(address), std::byte{2});
  EXPECT_EQ(*host(address), std::byte{1});
  EXPECT_EQ(memory.find(own), nullptr);
  EXPECT_EQ(*host(memory.allocate(4096, "at the same place")), std::byte{0});
}

TEST(PagedMemory, MayBeFreedAsWell) {
  GlobalMemory memory;
  const std::uint64_t a = memory.allocate(5000, "a");
  const std::byte one{1};
  memory.write(a, {&one, 1});
  EXPECT_TRUE(memory.free(a));
  for (int i = 0; i < 5; ++i) memory.free(memory.allocate(64 * 1024 * 1024, "large"));
  EXPECT_EQ(memory.allocate(5000, "b"), a);
  std::byte read{2};
  memory.read(a, {&read, 1});
  EXPECT_EQ(read, std::byte{0});
}

}  // namespace
}  // namespace foretrace::emulate
