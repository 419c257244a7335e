// Occupancy against NVIDIA's own cuda_occupancy.h: every register count and block size, and a fine grid of shared sizes, on every chip.
// Built where the CUDA toolkit's header is (ctest label `cuda`).
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>

#include "model/config/load.h"
#include "model/rules/occupancy.h"

namespace foretrace::rules {
namespace {

/// What the CUDA runtime would report of the chip, written down apart from our configs.
struct Device {
  const char* name;
  int major, minor;
  int threads_per_sm;
  std::size_t shared_per_sm;
};
constexpr Device kDevices[] = {
    {"a100-sxm-40gb", 8, 0, 2048, 164 * 1024}, {"a100-sxm-80gb", 8, 0, 2048, 164 * 1024},
    {"rtx3090", 8, 6, 1536, 100 * 1024},       {"rtx4090", 8, 9, 1536, 100 * 1024},
    {"h100-sxm", 9, 0, 2048, 228 * 1024},      {"h200-sxm", 9, 0, 2048, 228 * 1024},
    {"rtx5070ti", 12, 0, 1536, 100 * 1024},    {"rtx5080", 12, 0, 1536, 100 * 1024}};

cudaOccDeviceProp properties(const Device& device) {
  cudaOccDeviceProp p;
  p.computeMajor = device.major;
  p.computeMinor = device.minor;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = device.threads_per_sm;
  p.regsPerBlock = 65536;
  p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerMultiprocessor = device.shared_per_sm;
  p.numSms = 100;
  p.sharedMemPerBlockOptin = device.shared_per_sm - 1024;
  p.reservedSharedMemPerBlock = 1024;
  return p;
}

std::uint32_t limit(int blocks) { return blocks == INT_MAX ? kNoLimit : static_cast<std::uint32_t>(blocks); }

/// Compares one launch; false stops the sweep after the first difference.
bool equal(const spec::GpuSpec& spec, const cudaOccDeviceProp& device, const KernelResources& kernel) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = 1024;
  attributes.numRegs = static_cast<int>(kernel.registers);
  attributes.sharedSizeBytes = kernel.static_shared;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = kernel.dynamic_shared;
  attributes.numBlockBarriers = static_cast<int>(kernel.barriers);
  cudaOccDeviceState state;
  state.carveoutConfig = kernel.carveout_percent;
  cudaOccResult expected;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &expected, &device, &attributes, &state, static_cast<int>(kernel.threads), kernel.dynamic_shared);
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  const Occupancy found = occupancy(spec, kernel);
  EXPECT_EQ(found.blocks, static_cast<std::uint32_t>(expected.activeBlocksPerMultiprocessor));
  EXPECT_EQ(found.limit_registers, limit(expected.blockLimitRegs));
  EXPECT_EQ(found.limit_shared, limit(expected.blockLimitSharedMem));
  EXPECT_EQ(found.limit_warps, limit(expected.blockLimitWarps));
  EXPECT_EQ(found.limit_blocks, limit(expected.blockLimitBlocks));
  if (device.computeMajor >= 9) {  // earlier chips have no such limit in the header
    EXPECT_EQ(found.limit_barriers, limit(expected.blockLimitBarriers));
  }
  EXPECT_EQ(found.shared_per_block, expected.allocatedSharedMemPerBlock);
  EXPECT_EQ(found.registers_per_block, static_cast<std::uint32_t>(expected.allocatedRegistersPerBlock));
  // The reported limiter is one of those that the header names.
  constexpr unsigned kFlags[] = {OCC_LIMIT_WARPS, OCC_LIMIT_REGISTERS, OCC_LIMIT_SHARED_MEMORY,
                                 OCC_LIMIT_BLOCKS, OCC_LIMIT_BARRIERS};
  EXPECT_NE(expected.limitingFactors & kFlags[static_cast<std::size_t>(found.limiter)], 0u);
  if (!::testing::Test::HasFailure()) return true;
  ADD_FAILURE() << spec.name << ": threads " << kernel.threads << ", registers " << kernel.registers
                << ", shared " << kernel.static_shared << " + " << kernel.dynamic_shared << ", barriers "
                << kernel.barriers;
  return false;
}

class OccupancyOracle : public ::testing::TestWithParam<Device> {
 protected:
  spec::GpuSpec spec_ =
      config::load_gpu(GetParam().name, {}, {}, std::string(FORETRACE_SOURCE_DIR) + "/configs").spec;
  cudaOccDeviceProp device_ = properties(GetParam());
};

TEST_P(OccupancyOracle, EveryRegisterCountAndBlockSize) {
  for (std::uint32_t registers = 0; registers <= 256; ++registers) {
    for (std::uint32_t threads = 1; threads <= 1024; ++threads) {
      const std::uint64_t shared = (threads * 37 + registers * 911) % 50000;
      if (!equal(spec_, device_, {threads, registers, 0, 0, 1})) return;
      if (!equal(spec_, device_, {threads, registers, shared, 0, threads % 17})) return;
    }
  }
}

TEST_P(OccupancyOracle, EveryPreferredCarveOut) {
  for (int percent = -1; percent <= 100; ++percent) {
    for (std::uint64_t shared = 0; shared <= GetParam().shared_per_sm; shared += 1000) {
      for (const std::uint32_t warps : {1u, 4u, 32u}) {
        if (!equal(spec_, device_, {warps * 32, 32, shared / 2, shared - shared / 2, 1, percent})) return;
      }
    }
  }
}

TEST_P(OccupancyOracle, AFineGridOfSharedSizes) {
  const std::uint64_t most = GetParam().shared_per_sm + 1024;
  for (std::uint64_t shared = 0; shared <= most; shared += 64) {
    for (std::uint32_t warps = 1; warps <= 32; ++warps) {
      for (const std::uint32_t registers : {16u, 40u, 128u}) {
        const std::uint64_t fixed = shared / 3;
        if (!equal(spec_, device_, {warps * 32, registers, fixed, shared - fixed, 1})) return;
      }
    }
    // Off the allocation unit, by a byte on either side.
    if (!equal(spec_, device_, {256, 32, 0, shared + 1, 1})) return;
    if (shared > 0 && !equal(spec_, device_, {256, 32, 0, shared - 1, 1})) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, OccupancyOracle, ::testing::ValuesIn(kDevices), [](const auto& chip) {
  std::string name = chip.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace foretrace::rules
