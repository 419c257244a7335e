#include "sim/runtime/device/launch_call.h"

#include <algorithm>
#include <cstring>

#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/operators.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

/// Kernel and shape; the parameter area is there, and empty.
cudaError_t begin_call(State& s, const void* function, dim3 grid, dim3 block, std::size_t shared,
                       KernelCall& call) {
  call.kernel = s.kernel(function);
  if (call.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  call.grid = {grid.x, grid.y, grid.z};
  call.block = {block.x, block.y, block.z};
  call.dynamic_shared = shared;
  call.device = current_device();
  call.within = current_operator();
  call.cluster = required_cluster(*call.kernel);
  if (call.cluster == Dim3{0, 0, 0}) call.cluster = {1, 1, 1};
  call.parameters.resize(call.kernel->image().program.parameter_bytes);
  return cudaSuccess;
}

}  // namespace

cudaError_t make_kernel_call(State& s, const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, KernelCall& call) {
  const cudaError_t refused = begin_call(s, function, grid, block, shared, call);
  if (refused != cudaSuccess) return refused;
  const isa::Program& program = call.kernel->image().program;
  if (arguments == nullptr && !program.parameters.empty()) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const isa::Parameter& parameter = program.parameters[i];
    if (arguments[i] == nullptr) return cudaErrorInvalidValue;
    std::memcpy(call.parameters.data() + parameter.offset, arguments[i], parameter.size);
  }
  return cudaSuccess;
}

cudaError_t make_packed_call(State& s, const void* function, dim3 grid, dim3 block, const void* buffer,
                             std::size_t size, std::size_t shared, KernelCall& call) {
  const cudaError_t refused = begin_call(s, function, grid, block, shared, call);
  if (refused != cudaSuccess) return refused;
  std::size_t needed = 0;
  for (const isa::Parameter& parameter : call.kernel->image().program.parameters)
    needed = std::max<std::size_t>(needed, parameter.offset + parameter.size);
  if (size < needed) return cudaErrorInvalidValue;
  if (!call.parameters.empty())
    std::memcpy(call.parameters.data(), buffer, std::min(size, call.parameters.size()));
  return cudaSuccess;
}

cudaError_t submit_launch(State& s, cudaStream_t handle, KernelCall call,
                          const cudaLaunchAttribute* attributes, unsigned count) {
  Stream* stream = s.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const bool captured = stream->capture != nullptr;
  std::vector<LaunchEvent> events;
  cudaError_t result = apply_attributes(*s.spec, attributes, count, captured, call, events);
  if (result == cudaSuccess && captured) result = check_cluster(*s.spec, call);
  if (result == cudaSuccess) result = s.submit(handle, std::move(call));
  for (const LaunchEvent& recorded : events) {
    if (result == cudaSuccess) result = record_event(s, *recorded.event, *stream, recorded.edge);
  }
  return result;
}

}  // namespace foretrace::runtime
