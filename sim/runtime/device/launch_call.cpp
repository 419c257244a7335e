#include "sim/runtime/device/launch_call.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/operators.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

/// Bytes of parameters that are described.
std::size_t described_bytes(const isa::Program& program) {
  std::size_t end = 0;
  for (const isa::Parameter& parameter : program.parameters)
    end = std::max<std::size_t>(end, parameter.offset + parameter.size);
  return end;
}

/// Of parameters that lie in one buffer. It may end within the last one: NCCL's kernels take 4 KiB, of which a launch gives what it uses.
std::size_t least_bytes(const isa::Program& program) {
  std::size_t last = 0;
  for (const isa::Parameter& parameter : program.parameters)
    last = std::max<std::size_t>(last, parameter.offset + 1);
  return last;
}

/// A tile kernel is launched with blocks of one thread and runs with as many as it was compiled for (CUDA Programming Guide, "Writing Tile
/// Kernels"), as clusters of as many blocks as it was compiled for. Parameters behind those that are described are tensor maps, which the driver makes by code in the cubin.
cudaError_t shape_tile(const isa::Program& program, Dim3& grid, Dim3& block) {
  if (block != Dim3{1, 1, 1}) return cudaErrorInvalidConfiguration;
  if (const std::size_t hidden = program.parameter_bytes - described_bytes(program); hidden != 0) {
    static std::once_flag said;
    std::call_once(said, [&] {
      const std::string line = fmt::format(
          "foretrace: {}: a tile kernel with {} bytes of parameters (tensor maps) that NVIDIA's driver makes "
          "at the launch by code in the "
          "cubin, through an interface that is not public: it cannot be launched here. Loads and stores with "
          "allow_tma=False need none.\n",
          program.kernel, hidden);
      std::fputs(line.c_str(), stderr);
    });
    return cudaErrorNotSupported;
  }
  const auto* threads = program.required_threads;
  block = {threads[0], threads[1], threads[2]};
  const auto* cluster = program.cluster;
  if (cluster[0] != 0) grid = {grid.x * cluster[0], grid.y * cluster[1], grid.z * cluster[2]};
  return cudaSuccess;
}

/// Kernel and shape; the parameter area is there, and empty.
cudaError_t begin_call(State& s, const void* function, dim3 grid, dim3 block, std::size_t shared,
                       KernelCall& call) {
  call.kernel = s.kernel(function);
  if (call.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  call.grid = {grid.x, grid.y, grid.z};
  call.block = {block.x, block.y, block.z};
  const frontend::KernelImage& image = call.kernel->image();
  if (const cudaError_t refused = image.tile ? shape_tile(image.program, call.grid, call.block) : cudaSuccess;
      refused != cudaSuccess) {
    return refused;
  }
  call.dynamic_shared = shared;
  call.device = current_device();
  if (const Context* context = current_context()) call.part = context->part;
  call.within = current_operator();
  call.cluster = required_cluster(*call.kernel);
  if (call.cluster == Dim3{0, 0, 0}) call.cluster = {1, 1, 1};
  call.parameters.resize(call.kernel->image().program.parameter_bytes);
  return cudaSuccess;
}

}  // namespace

cudaError_t kernel_to_ask(State& s, const void* function, Kernel*& kernel) {
  try {
    kernel = s.kernel(function);
  } catch (const LoadFailure& failure) {
    if (failure.code() != cudaErrorNoKernelImageForDevice) throw;
    return failure.code();
  }
  return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

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
  if (size < least_bytes(call.kernel->image().program)) return cudaErrorInvalidValue;
  if (!call.parameters.empty())
    std::memcpy(call.parameters.data(), buffer, std::min(size, call.parameters.size()));
  return cudaSuccess;
}

SmPart part_of(State& s, cudaStream_t handle) {
  const Stream* stream = s.streams.find(handle);
  if (stream != nullptr && !s.streams.is_default(*stream)) return stream->part;
  const Context* context = current_context();
  return context == nullptr ? SmPart{} : context->part;
}

cudaError_t submit_launch(State& s, cudaStream_t handle, KernelCall call,
                          const cudaLaunchAttribute* attributes, unsigned count) {
  Stream* stream = s.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  call.part = part_of(s, handle);
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
