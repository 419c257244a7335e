// Kernel launches in every form, and what a kernel is asked or told before.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/runtime/api.h"
#include "sim/runtime/launch_call.h"
#include "sim/runtime/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace foretrace::runtime {

cudaError_t make_kernel_call(State& s, const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, KernelCall& call) {
  call.kernel = s.kernel(function);
  if (call.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  call.grid = {grid.x, grid.y, grid.z};
  call.block = {block.x, block.y, block.z};
  call.dynamic_shared = shared;
  const isa::Program& program = call.kernel->image().program;
  std::copy(std::begin(program.cluster), std::end(program.cluster), &call.cluster.x);
  if (call.cluster.count() == 0) call.cluster = {1, 1, 1};
  call.parameters.resize(program.parameter_bytes);
  if (arguments == nullptr && !program.parameters.empty()) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const isa::Parameter& parameter = program.parameters[i];
    if (arguments[i] == nullptr) return cudaErrorInvalidValue;
    std::memcpy(call.parameters.data() + parameter.offset, arguments[i], parameter.size);
  }
  return cudaSuccess;
}

}  // namespace foretrace::runtime

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

/// What <<<>>> has pushed and the kernel's stub has not yet taken.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                   cudaStream_t stream, bool cooperative) {
  return call([&](State& s) {
    KernelCall kernel;
    kernel.cooperative = cooperative;
    const cudaError_t refused = make_kernel_call(s, function, grid, block, arguments, shared, kernel);
    return refused != cudaSuccess ? refused : s.submit(stream, std::move(kernel));
  });
}

}  // namespace

FORETRACE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                   struct CUstream_st* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

FORETRACE_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return cudaErrorMissingConfiguration;
  const Configuration& top = configurations().back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  configurations().pop_back();
  return cudaSuccess;
}

FORETRACE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                             size_t shared, cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared, stream, false);
}
FORETRACE_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                           size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, false);
}
FORETRACE_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                      void** arguments, size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, true);
}

FORETRACE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                              void** arguments) {
  return call([&](State& s) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    KernelCall kernel;
    const cudaError_t refused = make_kernel_call(s, function, config->gridDim, config->blockDim, arguments,
                                                 config->dynamicSmemBytes, kernel);
    if (refused != cudaSuccess) return refused;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (attribute.id == cudaLaunchAttributeCooperative) kernel.cooperative = attribute.val.cooperative != 0;
      if (attribute.id == cudaLaunchAttributeClusterDimension) {
        kernel.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
        const bool whole = kernel.cluster.count() != 0 && kernel.grid.x % kernel.cluster.x == 0 &&
                           kernel.grid.y % kernel.cluster.y == 0 && kernel.grid.z % kernel.cluster.z == 0;
        if (!whole) return cudaErrorInvalidClusterSize;
      }
    }
    return s.submit(config->stream, std::move(kernel));
  });
}

FORETRACE_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](State& s) {
    Kernel* kernel = s.kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        const std::int64_t room = static_cast<std::int64_t>(s.spec->limits.shared_per_block) -
                                  kernel->image().program.static_shared;
        if (value < 0 || value > room) return cudaErrorInvalidValue;
        kernel->settings.max_dynamic_shared = static_cast<std::uint64_t>(value);
        return cudaSuccess;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        kernel->settings.carveout = value;
        return cudaSuccess;
      case cudaFuncAttributeRequiredClusterWidth:
        kernel->settings.required_cluster.x = static_cast<unsigned>(value);
        return cudaSuccess;
      case cudaFuncAttributeRequiredClusterHeight:
        kernel->settings.required_cluster.y = static_cast<unsigned>(value);
        return cudaSuccess;
      case cudaFuncAttributeRequiredClusterDepth:
        kernel->settings.required_cluster.z = static_cast<unsigned>(value);
        return cudaSuccess;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel->settings.non_portable_cluster = value != 0;
        return cudaSuccess;
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        kernel->settings.cluster_scheduling = value;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

FORETRACE_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache preference) {
  return call([&](State& s) {
    Kernel* kernel = s.kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    kernel->settings.cache_preference = preference;
    return cudaSuccess;
  });
}
