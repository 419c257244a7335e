// What a kernel is asked before its launch: attributes, name, parameters, and how many of its blocks an SM or the chip holds.
//
// Models:  occupancy as the launches are predicted (model/rules/occupancy, clusters), so a program that sizes its grid by it gets what
//          the prediction will show.
// Ignores: other processes that use the device.
#include <algorithm>
#include <cstring>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/launch_call.h"
#include "sim/runtime/device/occupancy.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

std::uint32_t threads_of(const cudaLaunchConfig_t& config) {
  return config.blockDim.x * config.blockDim.y * config.blockDim.z;
}

/// Clusters of `size` blocks that run at a time in a launch of this form.
std::uint64_t active_clusters(State& s, const Kernel& kernel, const cudaLaunchConfig_t& config,
                              std::uint32_t size) {
  const std::uint32_t blocks =
      rules::occupancy(*s.spec, resources_of(kernel, threads_of(config), config.dynamicSmemBytes)).blocks;
  const SmPart part = part_of(s, config.stream);
  return clusters_in(*s.spec, part, blocks, size);
}

/// Runs the body with the kernel; the answer for what is none, or has no code for the chip, otherwise.
template <class Body>
cudaError_t kernel_call(const void* function, Body&& body) {
  return call([&](State& s) {
    Kernel* kernel = nullptr;
    const cudaError_t none = kernel_to_ask(s, function, kernel);
    return none != cudaSuccess ? none : body(s, *kernel);
  });
}

cudaError_t active_blocks(int* blocks, const void* function, int block_size, size_t dynamic_shared) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
    *blocks = active_blocks_of(s, kernel, block_size, dynamic_shared);
    return cudaSuccess;
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = attributes_of(s, kernel);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = kernel.image().program.mangled.c_str();
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                               size_t* size) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    const auto& parameters = kernel.image().program.parameters;
    if (offset == nullptr || index >= parameters.size()) return cudaErrorInvalidValue;
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return kernel_call(function, [](State&, Kernel&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* function) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = reinterpret_cast<cudaFunction_t>(&kernel);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = reinterpret_cast<cudaKernel_t>(&kernel);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                          int value, int device) {
  if (!is_device(device)) return call([](State&) { return cudaErrorInvalidDevice; });
  return cudaFuncSetAttribute(kernel, attribute, value);
}

FORETRACE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                        int block_size,
                                                                        size_t dynamic_shared) {
  return active_blocks(blocks, function, block_size, dynamic_shared);
}

FORETRACE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned) {
  return active_blocks(blocks, function, block_size, dynamic_shared);
}

FORETRACE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared,
                                                                    const void* function, int blocks,
                                                                    int block_size) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (dynamic_shared == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    *dynamic_shared = 0;
    const auto fits = [&](std::uint64_t bytes) {
      return rules::occupancy(*s.spec, resources_of(kernel, static_cast<std::uint32_t>(block_size), bytes))
                 .blocks >= static_cast<std::uint32_t>(blocks);
    };
    if (!fits(0)) return cudaSuccess;
    // What fits, and what does not: no more than the kernel may have, as an H100 answers.
    std::uint64_t low = 0, high = std::min<std::uint64_t>(s.spec->limits.shared_per_block,
                                                          kernel.settings.max_dynamic_shared) +
                                  1;
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    *dynamic_shared = low;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                               const cudaLaunchConfig_t* config) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    if (s.spec->cuda.largest_cluster == 0) return cudaErrorNotSupported;
    if (threads_of(*config) == 0) return cudaErrorInvalidValue;
    std::uint32_t blocks = largest_cluster(*s.spec, kernel);
    while (blocks > 1 && active_clusters(s, kernel, *config, blocks) == 0) --blocks;
    *size = static_cast<int>(blocks);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                         const cudaLaunchConfig_t* config) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (clusters == nullptr || config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    if (s.spec->cuda.largest_cluster == 0) return cudaErrorNotSupported;
    const Dim3 required = required_cluster(kernel);
    std::uint64_t size =
        std::uint64_t{std::max(required.x, 1u)} * std::max(required.y, 1u) * std::max(required.z, 1u);
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
      const auto& dim = config->attrs[i].val.clusterDim;
      size = std::uint64_t{dim.x} * dim.y * dim.z;
    }
    if (threads_of(*config) == 0 || size == 0) return cudaErrorInvalidValue;
    if (size > largest_cluster(*s.spec, kernel)) return cudaErrorInvalidClusterSize;
    *clusters = static_cast<int>(active_clusters(s, kernel, *config, static_cast<std::uint32_t>(size)));
    return cudaSuccess;
  });
}
