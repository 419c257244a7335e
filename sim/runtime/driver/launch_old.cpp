// Launches as they were before cuLaunchKernel: shape, shared memory and parameters are set on the function and stay there.
//
// Source: cuda.h, which calls them deprecated and still declares them; PyCUDA's functions without prepared arguments use them.
#include <algorithm>
#include <cstring>

#include "sim/runtime/device/launch_call.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// With the kernel that the function is.
template <class Body>
CUresult kernel_call(CUfunction function, Body&& body) {
  return with_state([&](State& s) -> CUresult {
    Kernel* kernel = s.kernel(function);
    return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(s, *kernel);
  });
}

CUresult set_parameter(CUfunction function, int offset, const void* value, std::size_t size) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    // An offset before the size is said is usual: the area grows to what is written, as far as the kernel's own goes.
    std::vector<std::byte>& area = kernel.old_launch.parameters;
    const std::size_t most = kernel.image().program.parameter_bytes;
    if (offset < 0 || size > most || static_cast<std::size_t>(offset) > most - size)
      return CUDA_ERROR_INVALID_VALUE;
    const auto at = static_cast<std::size_t>(offset);
    if (area.size() < at + size) area.resize(at + size);
    if (size != 0) std::memcpy(area.data() + at, value, size);
    return CUDA_SUCCESS;
  });
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    const OldLaunch& set = kernel.old_launch;
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::byte> parameters =
        set.parameters;  // those that were never set are 0, as a driver has it
    parameters.resize(kernel.image().program.parameter_bytes);
    KernelCall call;
    const cudaError_t refused =
        make_packed_call(s, function, dim3(static_cast<unsigned>(width), static_cast<unsigned>(height), 1),
                         set.block, parameters.data(), parameters.size(), set.dynamic_shared, call);
    return result_of(refused != cudaSuccess ? refused : s.submit(stream, std::move(call)));
  });
}

}  // namespace

FORETRACE_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    kernel.old_launch.block =
        dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    kernel.old_launch.dynamic_shared = bytes;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuParamSetSize(CUfunction function, unsigned size) {
  return kernel_call(function, [&](State&, Kernel& kernel) {
    if (size > kernel.image().program.parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
    kernel.old_launch.parameters.resize(size);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof value);
}
FORETRACE_API CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}
FORETRACE_API CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned size) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set_parameter(function, offset, value, size);
}

FORETRACE_API CUresult cuLaunch(CUfunction function) { return launch(function, 1, 1, nullptr); }
FORETRACE_API CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch(function, width, height, nullptr);
}
FORETRACE_API CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch(function, width, height, stream);
}
