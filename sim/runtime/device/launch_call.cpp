#include "sim/runtime/device/launch_call.h"

#include <algorithm>
#include <cstring>

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
  const isa::Program& program = call.kernel->image().program;
  std::copy(std::begin(program.cluster), std::end(program.cluster), &call.cluster.x);
  if (call.cluster.count() == 0) call.cluster = {1, 1, 1};
  call.parameters.resize(program.parameter_bytes);
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

cudaError_t apply_attributes(KernelCall& call, const cudaLaunchAttribute* attributes, unsigned count) {
  if (count != 0 && attributes == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const cudaLaunchAttribute& attribute = attributes[i];
    if (attribute.id == cudaLaunchAttributeCooperative) call.cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      call.dependent = attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      call.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
      const bool whole = call.cluster.count() != 0 && call.grid.x % call.cluster.x == 0 &&
                         call.grid.y % call.cluster.y == 0 && call.grid.z % call.cluster.z == 0;
      if (!whole) return cudaErrorInvalidClusterSize;
    }
  }
  return cudaSuccess;
}

}  // namespace foretrace::runtime
