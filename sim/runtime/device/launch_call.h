// From a call's arguments to a launch.
#pragma once

#include <cstddef>

#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

struct State;

/// The kernel that a program asks about. CUDA's answer where the function is none, or where the program has no code of it for the chip:
/// programs with code for many chips ask which of their kernels there are. A launch of such a kernel stops the run, and says why.
cudaError_t kernel_to_ask(State& s, const void* function, Kernel*& kernel);

/// Fills in kernel, shape and parameters; `arguments` points to one value for each of the kernel's parameters. CUDA's answer
/// where the function is no kernel or an argument is missing.
cudaError_t make_kernel_call(State& s, const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, KernelCall& call);
/// The same with the parameter area as it is, `size` bytes of it; cudaErrorInvalidValue where the last parameter is not begun.
cudaError_t make_packed_call(State& s, const void* function, dim3 grid, dim3 block, const void* buffer,
                             std::size_t size, std::size_t shared, KernelCall& call);

/// The SMs that a kernel in the stream may use: its own green context's, a default stream's is the thread's context.
SmPart part_of(State& s, cudaStream_t handle);

/// Gives the stream the launch, with these attributes (launch_attributes.h), and records the events that they name. CUDA's answer.
cudaError_t submit_launch(State& s, cudaStream_t handle, KernelCall call,
                          const cudaLaunchAttribute* attributes, unsigned count);

}  // namespace foretrace::runtime
