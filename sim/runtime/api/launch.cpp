// Kernel launches in every form, and what a kernel is asked or told before.
#include <vector>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/launch_call.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

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
    return refused != cudaSuccess ? refused : submit_launch(s, stream, std::move(kernel), nullptr, 0);
  });
}

/// What a kernel was compiled for stays. cuda.h says "not permitted" there, an H100's driver "invalid value".
cudaError_t require_cluster(const Kernel& kernel, int value, unsigned& required) {
  if (kernel.image().program.cluster[0] != 0 || value < 0) return cudaErrorInvalidValue;
  required = static_cast<unsigned>(value);
  return cudaSuccess;
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
    return submit_launch(s, config->stream, std::move(kernel), config->attrs, config->numAttrs);
  });
}

FORETRACE_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](State& s) {
    Kernel* kernel = nullptr;
    if (const cudaError_t none = kernel_to_ask(s, function, kernel); none != cudaSuccess) return none;
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
        return require_cluster(*kernel, value, kernel->settings.required_cluster.x);
      case cudaFuncAttributeRequiredClusterHeight:
        return require_cluster(*kernel, value, kernel->settings.required_cluster.y);
      case cudaFuncAttributeRequiredClusterDepth:
        return require_cluster(*kernel, value, kernel->settings.required_cluster.z);
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel->settings.non_portable_cluster = value != 0;
        return cudaSuccess;
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        if (value < cudaClusterSchedulingPolicyDefault || value > cudaClusterSchedulingPolicyLoadBalancing)
          return cudaErrorInvalidValue;
        kernel->settings.cluster_scheduling = value;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

FORETRACE_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache preference) {
  return call([&](State& s) {
    Kernel* kernel = nullptr;
    if (const cudaError_t none = kernel_to_ask(s, function, kernel); none != cudaSuccess) return none;
    kernel->settings.cache_preference = preference;
    return cudaSuccess;
  });
}
