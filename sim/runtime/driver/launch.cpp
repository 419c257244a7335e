// Launches, and how many blocks of a kernel the chip holds.
#include <algorithm>
#include <cstring>

#include "sim/runtime/device/launch_call.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));

/// The parameter buffer that `extra` names; `size` is what the program says of it.
CUresult read_extra(void** extra, const void*& buffer, std::size_t& size) {
  const std::size_t* given = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      given = static_cast<const std::size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (given != nullptr) size = *given;
  return buffer == nullptr || given == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult launch(const void* function, dim3 grid, dim3 block, std::size_t shared, CUstream stream,
                void** arguments, void** extra, const CUlaunchAttribute* attributes, unsigned count,
                bool cooperative) {
  return with_state([&](State& s) -> CUresult {
    KernelCall kernel;
    kernel.cooperative = cooperative;
    const void* buffer = nullptr;
    std::size_t size = 0;
    if (extra != nullptr) {
      if (arguments != nullptr) return CUDA_ERROR_INVALID_VALUE;
      if (const CUresult refused = read_extra(extra, buffer, size); refused != CUDA_SUCCESS) return refused;
    }
    const cudaError_t refused = buffer != nullptr
                                    ? make_packed_call(s, function, grid, block, buffer, size, shared, kernel)
                                    : make_kernel_call(s, function, grid, block, arguments, shared, kernel);
    if (refused != cudaSuccess) return result_of(refused);
    const auto* of_launch = reinterpret_cast<const cudaLaunchAttribute*>(attributes);
    return result_of(submit_launch(s, stream, std::move(kernel), of_launch, count));
  });
}

cudaLaunchConfig_t config_of(const CUlaunchConfig& config) {
  cudaLaunchConfig_t out{};
  out.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  out.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  out.dynamicSmemBytes = config.sharedMemBytes;
  out.stream = config.hStream;
  out.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  out.numAttrs = config.numAttrs;
  return out;
}

/// The block with which most threads of the kernel are on an SM, and the grid that fills the chip with it.
CUresult best_block(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                    int limit) {
  return in_context([&]() -> CUresult {
    if (grid == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes attributes;
    if (const cudaError_t refused = cudaFuncGetAttributes(&attributes, function); refused != cudaSuccess)
      return result_of(refused);
    int most = attributes.maxThreadsPerBlock;
    if (limit > 0) most = std::min(most, limit);
    int best = 0, best_threads = 0, best_blocks = 0;
    for (int threads = (most + kWarpSize - 1) / kWarpSize * kWarpSize; threads > 0; threads -= kWarpSize) {
      const int size = std::min(threads, most);
      int blocks = 0;
      const cudaError_t refused = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, function, size, shared_of == nullptr ? shared : shared_of(size));
      if (refused != cudaSuccess) return result_of(refused);
      if (blocks * size > best_threads) {
        best = size;
        best_threads = blocks * size;
        best_blocks = blocks;
      }
    }
    *block = best;
    *grid = best_blocks * static_cast<int>(current_context()->part.of(*state().spec));
    return CUDA_SUCCESS;
  });
}

}  // namespace

FORETRACE_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                      CUstream stream, void** arguments, void** extra) {
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, arguments,
                extra, nullptr, 0, false);
}
FORETRACE_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                                 unsigned block_z, unsigned shared, CUstream stream,
                                                 void** arguments) {
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, arguments,
                nullptr, nullptr, 0, true);
}
FORETRACE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                                        void** extra) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                config->hStream, arguments, extra, config->attrs, config->numAttrs, false);
}

FORETRACE_API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function,
                                             void** arguments, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig own = *config;
  own.hStream = per_thread(own.hStream);
  return cuLaunchKernelEx(&own, function, arguments, extra);
}

FORETRACE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                            int size, size_t shared,
                                                                            unsigned flags) {
  return in_context([&] {
    return (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0
               ? cudaErrorInvalidValue
               : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size, shared);
  });
}
FORETRACE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int size,
                                                                   size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, size, shared, 0);
}
FORETRACE_API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                        CUoccupancyB2DSize shared_of, size_t shared,
                                                        int limit) {
  return best_block(grid, block, function, shared_of, shared, limit);
}
FORETRACE_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                                 CUoccupancyB2DSize shared_of, size_t shared,
                                                                 int limit, unsigned flags) {
  if ((flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) return CUDA_ERROR_INVALID_VALUE;
  return best_block(grid, block, function, shared_of, shared, limit);
}
FORETRACE_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* shared, CUfunction function,
                                                               int blocks, int size) {
  return in_context(
      [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(shared, function, blocks, size); });
}
FORETRACE_API CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                                          const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t plain = config_of(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &plain);
  });
}
FORETRACE_API CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                                    const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t plain = config_of(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &plain);
  });
}
