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
            "With at most 32 registers per thread: 8 blocks, 64 warps (100%).");

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
  // 164 KiB per SM: 4 blocks of 40 KiB + 1 KiB, and not with one byte more.
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 40 * 1024, 1}).limit_shared, 4u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 40 * 1024 + 1, 1}).limit_shared, 3u);
  EXPECT_EQ(occupancy(a100, {128, 32, 1, 0, 1}).shared_per_block, 1024u + 128u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 163 * 1024, 1}).blocks, 1u);
  EXPECT_EQ(occupancy(a100, {128, 32, 0, 163 * 1024 + 1, 1}).blocks, 0u);
  EXPECT_EQ(next_step(a100, {128, 32, 0, 40 * 1024 + 1, 1}),
            "With at most 40960 bytes of shared memory per block: 4 blocks, 16 warps (25%).");
}

TEST(Occupancy, AKernelThatCannotRunSaysWhy) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  EXPECT_EQ(impossible(h100, {1025, 32, 0, 0, 1}), "1025 threads per block; h100-sxm has at most 1024");
  EXPECT_EQ(impossible(h100, {1024, 64, 0, 0, 1}), "");
  EXPECT_NE(impossible(h100, {1024, 65, 0, 0, 1}).find("at most 65536"), std::string::npos);
  EXPECT_NE(impossible(h100, {32, 32, 0, 228 * 1024, 1}).find("at most 232448"), std::string::npos);
  EXPECT_EQ(impossible(h100, {32, 255, 0, 227 * 1024, 1}), "");
  EXPECT_EQ(occupancy(h100, {1024, 65, 0, 0, 1}).blocks, 0u);
}

TEST(Occupancy, AnotherBlockSizeIsTheNextStepWhereWarpsAreLost) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  // 20 warps per block: 3 blocks, 60 warps; 21 warps: 3 blocks, 63 warps.
  const NextStep step = better(h100, {640, 16, 0, 0, 1});
  ASSERT_TRUE(step.exists);
  EXPECT_EQ(step.kernel.threads, 672u);
  EXPECT_EQ(step.result.warps, 63u);
}

struct CarveOut {
  std::uint32_t threads, registers;
  std::uint64_t static_shared, dynamic_shared;
  std::uint32_t kib, limit_shared;
};
// What ncu printed on an H100 as launch__shared_mem_config_size and launch__occupancy_limit_shared_mem
// (validate/measurements/h100-sxm-microbenchmarks, profiled_carve_out and profiled_carve_out_more).
constexpr CarveOut kMeasured[] = {
    {32, 32, 0, 0, 32, 32},        {32, 32, 0, 2048, 100, 33},   {32, 32, 0, 12288, 228, 17},
    {32, 32, 0, 32768, 228, 6},    {32, 32, 0, 102400, 228, 2},  {64, 32, 0, 0, 32, 32},
    {64, 32, 0, 2048, 100, 33},    {64, 32, 0, 12288, 228, 17},  {64, 32, 0, 32768, 228, 6},
    {64, 32, 0, 102400, 228, 2},   {128, 32, 0, 0, 32, 32},      {128, 32, 0, 128, 32, 28},
    {128, 32, 0, 2048, 100, 33},   {128, 32, 0, 12288, 228, 17}, {128, 32, 0, 32768, 228, 6},
    {128, 32, 0, 102400, 228, 2},  {256, 32, 0, 0, 32, 32},      {256, 32, 0, 2048, 64, 21},
    {256, 32, 0, 12288, 132, 10},  {256, 32, 0, 32768, 228, 6},  {256, 32, 0, 102400, 228, 2},
    {512, 32, 0, 0, 16, 16},       {512, 32, 0, 2048, 32, 10},   {512, 32, 0, 12288, 132, 10},
    {512, 32, 0, 32768, 132, 4},   {512, 32, 0, 102400, 228, 2}, {1024, 32, 0, 0, 8, 8},
    {1024, 32, 0, 2048, 8, 2},     {1024, 32, 0, 12288, 32, 2},  {1024, 32, 0, 32768, 100, 3},
    {1024, 32, 0, 102400, 228, 2}, {128, 42, 0, 0, 32, 32},      {128, 72, 0, 0, 32, 32},
    {128, 168, 0, 0, 32, 32},      {128, 42, 0, 1024, 64, 32},   {128, 72, 0, 1024, 32, 16},
    {128, 168, 0, 1024, 16, 8},    {128, 42, 0, 4096, 100, 20},  {128, 72, 0, 4096, 100, 20},
    {128, 168, 0, 4096, 32, 6},    {128, 42, 0, 8192, 132, 14},  {128, 72, 0, 8192, 132, 14},
    {128, 168, 0, 8192, 64, 7},    {128, 42, 0, 16384, 196, 11}, {128, 72, 0, 16384, 132, 7},
    {128, 168, 0, 16384, 132, 7},  {128, 42, 0, 32768, 228, 6},  {128, 72, 0, 32768, 228, 6},
    {128, 168, 0, 32768, 132, 4},  {256, 42, 0, 0, 32, 32},      {256, 72, 0, 0, 32, 32},
    {256, 168, 0, 0, 8, 8},        {256, 42, 0, 1024, 32, 16},   {256, 72, 0, 1024, 16, 8},
    {256, 168, 0, 1024, 8, 4},     {256, 42, 0, 4096, 64, 12},   {256, 72, 0, 4096, 32, 6},
    {256, 168, 0, 4096, 8, 1},     {256, 42, 0, 8192, 100, 11},  {256, 72, 0, 8192, 64, 7},
    {256, 168, 0, 8192, 16, 1},    {256, 42, 0, 16384, 132, 7},  {256, 72, 0, 16384, 132, 7},
    {256, 168, 0, 16384, 32, 1},   {256, 42, 0, 32768, 196, 5},  {256, 72, 0, 32768, 132, 4},
    {256, 168, 0, 32768, 64, 1},   {512, 42, 0, 0, 16, 16},      {512, 72, 0, 0, 8, 8},
    {512, 42, 0, 1024, 8, 4},      {512, 72, 0, 1024, 8, 4},     {512, 42, 0, 4096, 32, 6},
    {512, 72, 0, 4096, 8, 1},      {512, 42, 0, 8192, 64, 7},    {512, 72, 0, 8192, 16, 1},
    {512, 42, 0, 16384, 100, 5},   {512, 72, 0, 16384, 32, 1},   {512, 42, 0, 32768, 132, 4},
    {512, 72, 0, 32768, 64, 1},    {64, 16, 1024, 0, 64, 32},    {64, 16, 8192, 0, 228, 25},
    {256, 16, 1024, 0, 32, 16},    {256, 16, 2048, 0, 64, 21},   {256, 16, 4224, 0, 100, 19},
    {256, 16, 8192, 0, 132, 14},   {256, 16, 16384, 0, 164, 9},  {256, 16, 49152, 0, 196, 4},
    {96, 32, 0, 1024, 64, 32},     {96, 32, 0, 1280, 100, 44},   {128, 32, 0, 256, 64, 51},
    {128, 32, 0, 1280, 64, 28},    {128, 32, 0, 1408, 100, 42},  {160, 32, 0, 256, 32, 25},
    {160, 32, 0, 384, 64, 46},     {1024, 16, 1024, 0, 8, 4},    {1024, 16, 2048, 0, 8, 2},
    {1024, 16, 4224, 0, 16, 3},    {1024, 16, 8192, 0, 32, 3},   {1024, 16, 16384, 0, 64, 3},
    {1024, 16, 49152, 0, 100, 2},
};

TEST(Occupancy, TheCarveOutIsTheOneThatTheDriverChoseOnAnH100) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  for (const CarveOut& launch : kMeasured) {
    const KernelResources kernel{launch.threads, launch.registers, launch.static_shared,
                                 launch.dynamic_shared, 1};
    const Occupancy result = occupancy(h100, kernel);
    EXPECT_EQ(result.shared_config, launch.kib * 1024)
        << launch.threads << " threads, " << launch.registers << " registers, " << launch.static_shared
        << " + " << launch.dynamic_shared << " bytes: " << result.shared_config / 1024 << " KiB, measured "
        << launch.kib;
    EXPECT_EQ(result.limit_shared_configured, launch.limit_shared);
  }
}

/// validate/microbenchmarks/carve_out_wish.cu on an H200: 64 threads, bytes per block, percent preferred; KiB set, blocks per SM.
struct Wish {
  std::uint32_t bytes;
  int percent;
  std::uint32_t kib, blocks;
};
constexpr Wish kWishes[] = {
    {7168, 0, 8, 1},      {7168, 10, 32, 4},     {7168, 25, 64, 8},    {7168, 50, 132, 16},
    {7168, 75, 196, 24},  {7168, 100, 228, 28},  {15360, 0, 16, 1},    {15360, 10, 32, 2},
    {15360, 25, 64, 4},   {15360, 50, 132, 8},   {15360, 75, 196, 12}, {15360, 100, 228, 14},
    {31744, 10, 32, 1},   {31744, 25, 64, 2},    {31744, 50, 132, 4},  {64512, 0, 64, 1},
    {64512, 50, 132, 2},  {64512, 75, 196, 3},   {122880, 0, 132, 1},  {122880, 50, 132, 1},
    {122880, 75, 196, 1}, {122880, 100, 228, 1},
};

TEST(Occupancy, TheCarveOutThatAKernelPrefersLimitsItsBlocks) {
  const spec::GpuSpec h200 = chip("h200-sxm");
  for (const Wish& wish : kWishes) {
    const Occupancy result = occupancy(h200, {64, 32, 0, wish.bytes, 1, wish.percent});
    EXPECT_EQ(result.shared_config, wish.kib * 1024) << wish.bytes << " bytes, " << wish.percent << "%";
    EXPECT_EQ(result.blocks, wish.blocks) << wish.bytes << " bytes, " << wish.percent << "%";
  }
  EXPECT_EQ(occupancy(h200, {64, 32, 0, 7168, 1, -1}).blocks, 28u) << "without a wish";
  // A gap: blocks of 256 bytes that prefer 10% are set to 132 KiB there.
  const Occupancy small = occupancy(h200, {64, 32, 0, 256, 1, 10});
  EXPECT_EQ(small.blocks, 25u) << "as there";
  EXPECT_EQ(small.shared_config, 32u * 1024);
}

TEST(Occupancy, SaysWhatAnSmHoldsWhileWarpsOfItsBlocksHaveEnded) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  const Occupancy plain = occupancy(h100, {256, 32, 0, 0, 1});
  EXPECT_EQ(plain.blocks, 8u);
  EXPECT_EQ(plain.most_warps, 64u);
  EXPECT_EQ(plain.most_blocks, 32u);
  const Occupancy registers =
      occupancy(h100, {256, 98, 0, 0, 0});  // 104 are given out: four warps in a sub-core's 16384
  EXPECT_EQ(registers.blocks, 2u);
  EXPECT_EQ(registers.most_warps, 16u);
  const Occupancy shared = occupancy(h100, {256, 32, 0, 25 * 1024, 1});
  EXPECT_EQ(shared.most_blocks, shared.limit_shared_configured);
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
