// From a call's arguments to a launch.
#pragma once

#include <cstddef>

#include "sim/runtime/operation.h"

namespace foretrace::runtime {

struct State;

/// Fills in kernel, shape and parameters; `arguments` points to one value for each of the kernel's parameters. CUDA's answer
/// where the function is no kernel or an argument is missing.
cudaError_t make_kernel_call(State& s, const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, KernelCall& call);

}  // namespace foretrace::runtime
