// Occupancy on the shipped chips: the known traps, each limiter, and what would help.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/config/load.h"
#include "model/rules/occupancy.h"

namespace foretrace::rules {
namespace {

spec::GpuSpec chip(const char* name) {
  return config::load_gpu(name, {}, {}, std::string(FORETRACE_SOURCE_DIR) + "/configs").spec;
}

TEST(Occupancy, ThirtyThreeRegistersGiveSixBlocksOf256) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  const Occupancy at33 = occupancy(h100, {256, 33, 0, 0, 1});
  EXPECT_EQ(at33.limit_registers, 6u);
  EXPECT_EQ(at33.blocks, 6u);
  EXPECT_EQ(at33.warps, 48u);
  EXPECT_DOUBLE_EQ(at33.percent, 75.0);
  EXPECT_EQ(at33.limiter, Limiter::registers);
  EXPECT_EQ(at33.registers_per_block, 40u * 256);
  EXPECT_EQ(next_step(h100, {256, 33, 0, 0, 1}),
            "With at most 32 registers a thread: 8 blocks, 64 warps (100%).");

  const Occupancy at32 = occupancy(h100, {256, 32, 0, 0, 1});
  EXPECT_EQ(at32.blocks, 8u);
  EXPECT_DOUBLE_EQ(at32.percent, 100.0);
  EXPECT_EQ(next_step(h100, {256, 32, 0, 0, 1}), "");
}

TEST(Occupancy, Gb203HoldsTwentyFourBlocks) {
  const spec::GpuSpec gb203 = chip("gb203");
  const Occupancy small = occupancy(gb203, {32, 16, 0, 0, 0});
  EXPECT_EQ(small.blocks, 24u);
  EXPECT_EQ(small.limiter, Limiter::blocks);
  EXPECT_DOUBLE_EQ(small.percent, 50.0);
  EXPECT_EQ(occupancy(gb203, {32, 16, 0, 0, 2}).blocks, 12u);
  EXPECT_EQ(occupancy(gb203, {32, 16, 0, 0, 2}).limiter, Limiter::barriers);
}

TEST(Occupancy, SharedMemoryCountsTheReserveAndTheUnit) {
  const spec::GpuSpec a100 = chip("a100");
  // 164 KiB an SM: 4 blocks of 40 KiB + 1 KiB, and not with one byte more.
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 40 * 1024, 1}).limit_shared, 4u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 40 * 1024 + 1, 1}).limit_shared, 3u);
  EXPECT_EQ(occupancy(a100, {128, 32, 1, 0, 1}).shared_per_block, 1024u + 128u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 163 * 1024, 1}).blocks, 1u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 163 * 1024 + 1, 1}).blocks, 0u);
  EXPECT_EQ(next_step(a100, {128, 32, 0, 40 * 1024 + 1, 1}),
            "With at most 40960 bytes of shared memory a block: 4 blocks, 16 warps (25%).");
}

TEST(Occupancy, AKernelThatCannotRunSaysWhy) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  EXPECT_EQ(impossible(h100, {1025, 32, 0, 0, 1}), "1025 threads a block; h100-sxm has at most 1024");
  EXPECT_EQ(impossible(h100, {1024, 64, 0, 0, 1}), "");
  EXPECT_NE(impossible(h100, {1024, 65, 0, 0, 1}).find("at most 65536"), std::string::npos);
  EXPECT_NE(impossible(h100, {32, 32, 0, 228 * 1024, 1}).find("at most 232448"), std::string::npos);
  EXPECT_EQ(impossible(h100, {32, 255, 0, 227 * 1024, 1}), "");
  EXPECT_EQ(occupancy(h100, {1024, 65, 0, 0, 1}).blocks, 0u);
}

TEST(Occupancy, AnotherBlockSizeIsTheNextStepWhereWarpsAreLost) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  // 20 warps a block: 3 blocks, 60 warps; 21 warps: 3 blocks, 63 warps.
  const NextStep step = better(h100, {640, 16, 0, 0, 1});
  ASSERT_TRUE(step.exists);
  EXPECT_EQ(step.kernel.threads, 672u);
  EXPECT_EQ(step.result.warps, 63u);
}

TEST(Occupancy, TheCarveOutHoldsTheBlocks) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  for (const std::uint64_t shared : {0u, 1024u, 8192u, 16384u, 49152u, 100000u}) {
    const Occupancy result = occupancy(h100, {256, 32, 0, shared, 1});
    EXPECT_GE(result.shared_config, result.blocks * result.shared_per_block);
    EXPECT_NE(std::find(h100.l1.carveouts.begin(), h100.l1.carveouts.end(), result.shared_config),
              h100.l1.carveouts.end());
  }
}

}  // namespace
}  // namespace foretrace::rules
