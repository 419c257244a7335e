// Blocks that are executed ahead of their reader: the same in any number of threads.
#include "sim/engine/sources.h"

#include <gtest/gtest.h>

#include "sim/emulate/fault.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

constexpr std::uint32_t kBlocks = 40, kDone = 0x77;

/// kCountDown with a matrix product, whose blocks may be executed by several threads.
std::string counting() {
  std::string text = kCountDown;
  const std::string store = "STG.E [R4.64], R6";
  return text.replace(text.find(store), store.size(), R"(HMMA.16816.F32 R12, R16, R20, RZ
  MOV R6, 0x77
  STG.E [R4.64], R6)");
}

struct Counting : Launch {
  /// The first block counts down from `first`, the last from a tenth, the others from 40 and more; there is room for the results of `room` blocks.
  explicit Counting(std::uint32_t first = 100'000, std::uint32_t room = kBlocks)
      : Launch(counting().c_str(), kBlocks, 32, counts(first), room) {}
  static std::vector<std::uint32_t> counts(std::uint32_t first) {
    std::vector<std::uint32_t> in(kBlocks);
    for (std::uint32_t i = 0; i < kBlocks; ++i) in[i] = 40 + i;
    in[0] = first;
    in[kBlocks - 1] = first / 10;
    return in;
  }
  std::uint32_t result(std::uint32_t block) { return assembled.read(out, block + 1).back(); }
};

struct Read {
  std::vector<std::uint64_t> instructions;  // by block, in order
  std::string fault;
};

Read read(Counting& launch, int threads) {
  const emulate::Emulator emulator(launch.assembled.context);
  engine::EmulatedBlocks blocks(emulator, 4, threads, nullptr);
  Read result;
  try {
    while (const auto record = blocks.next()) {
      EXPECT_EQ(record->block, result.instructions.size());
      result.instructions.push_back(record->warps.at(0).instructions);
    }
  } catch (const emulate::KernelFault& fault) { result.fault = fault.what(); }
  return result;
}

TEST(EmulatedBlocks, AreTheSameInAnyNumberOfThreads) {
  Counting launch;
  const Read one = read(launch, 1);
  ASSERT_EQ(one.instructions.size(), kBlocks);
  EXPECT_EQ(one.fault, "");
  EXPECT_EQ(one.instructions[2] + 3, one.instructions[3]) << "a round is three instructions";
  for (const int threads : {2, 5}) EXPECT_EQ(read(launch, threads).instructions, one.instructions);
}

TEST(EmulatedBlocks, FaultInTheFirstBlockThatDoes) {
  Counting launch(100'000, kBlocks - 10);
  const Read one = read(launch, 1);
  EXPECT_NE(one.fault.find("out-of-bounds"), std::string::npos) << one.fault;
  ASSERT_EQ(one.instructions.size(), kBlocks - 10);
  for (const int threads : {2, 5}) {
    const Read more = read(launch, threads);
    EXPECT_EQ(more.fault, one.fault);
    EXPECT_EQ(more.instructions, one.instructions);
  }
}

TEST(EmulatedBlocks, AreExecutedByOthersWhileTheReaderWaits) {
  constexpr std::uint32_t kLong = 3'000'000;
  Counting launch(kLong);
  const emulate::Emulator emulator(launch.assembled.context);
  engine::EmulatedBlocks blocks(emulator, 4, 3, nullptr);
  EXPECT_EQ(blocks.next()->block, 0u);
  EXPECT_EQ(launch.result(kBlocks - 1), kDone) << "the last one has ended, too";
}

TEST(EmulatedBlocks, AreAllExecutedAtTheEnd) {
  for (const int threads : {1, 4}) {
    Counting launch;
    const emulate::Emulator emulator(launch.assembled.context);
    engine::EmulatedBlocks blocks(emulator, 4, threads, nullptr);
    blocks.skip(3);
    EXPECT_EQ(blocks.next()->block, 3u);
    blocks.finish();
    for (std::uint32_t block = 0; block < kBlocks; ++block) EXPECT_EQ(launch.result(block), kDone) << block;
  }
}

}  // namespace
}  // namespace foretrace::engine_tests
