// Occupancy: how many blocks of a kernel an SM holds at a time, and why not more. Pure functions.
//
// Models:  registers by allocation unit and sub-partition, shared memory by unit with the driver's reserve, warps, block slots, barriers;
//          the shared carve-out that the driver chooses of the unified memory.
// Source:  NVIDIA's cuda_occupancy.h (tests/rules compares with it); the carve-out: CPG and our measurements (docs/sources.md).
#pragma once

#include <cstdint>
#include <string>

#include "model/spec/gpu_spec.h"

namespace foretrace::rules {

/// Blocks an SM where a resource sets no limit (a kernel without barriers, or without registers).
inline constexpr std::uint32_t kNoLimit = 0xffffffff;

/// What one block of a kernel needs.
struct KernelResources {
  std::uint32_t threads = 0;         ///< a block
  std::uint32_t registers = 0;       ///< a thread
  std::uint64_t static_shared = 0;   ///< bytes per block
  std::uint64_t dynamic_shared = 0;  ///< bytes per block
  std::uint32_t barriers = 0;        ///< named barriers a block uses
  int carveout_percent =
      -1;  ///< of the largest shared memory, which the kernel prefers (cudaFuncAttributePreferredSharedMemoryCarveout); -1: no wish
};

enum class Limiter : std::uint8_t { warps, registers, shared_memory, blocks, barriers };
const char* name_of(Limiter limiter);

struct Occupancy {
  std::uint32_t limit_registers = 0, limit_shared = 0, limit_warps = 0, limit_blocks = 0,
                limit_barriers = 0;  ///< blocks per SM by each alone
  std::uint32_t blocks = 0;          ///< the least of them
  std::uint32_t warps = 0;           ///< of these blocks
  double percent = 0;                ///< of the SM's warp slots
  Limiter limiter = Limiter::warps;
  std::uint64_t shared_per_block = 0;  ///< bytes as allocated, the reserve included
  std::uint32_t shared_config = 0;     ///< bytes of shared memory the driver sets the SM to
  std::uint32_t limit_shared_configured =
      0;  ///< blocks that fit into shared_config: what ncu prints as launch__occupancy_limit_shared_mem
  std::uint32_t registers_per_block = 0;  ///< as allocated
  std::uint32_t most_warps =
      0;  ///< that an SM has slots and registers for at a time, whatever blocks they are of
  std::uint32_t most_blocks =
      0;  ///< that it has block slots, configured shared memory and barriers for, however few of their warps are left
};

/// Never throws; a kernel that cannot run has blocks == 0.
Occupancy occupancy(const spec::GpuSpec& spec, const KernelResources& kernel);

/// Why a block cannot run on an SM at all ("1025 threads per block; at most 1024 ..."), empty when it can.
std::string impossible(const spec::GpuSpec& spec, const KernelResources& kernel);

/// The smallest change that gives more warps: first fewer registers and less shared memory with the same block size, then
/// the nearest other block size.
struct NextStep {
  bool exists = false;     ///< false: at 100%, or nothing helps
  KernelResources kernel;  ///< as it would have to be
  Occupancy result;        ///< what that gives
};
NextStep better(const spec::GpuSpec& spec, const KernelResources& kernel);

/// One sentence: what the next higher occupancy would need; empty at 100%; for a kernel that cannot run: why not.
std::string next_step(const spec::GpuSpec& spec, const KernelResources& kernel);

}  // namespace foretrace::rules
