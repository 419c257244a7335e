#include "sim/runtime/device/device_queue.h"

#include <algorithm>
#include <cstring>

#include "sim/runtime/device/copy.h"
#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/device/error_texts.h"
#include "sim/runtime/device/launcher.h"
#include "sim/runtime/device/occupancy.h"

namespace foretrace::runtime {

Kernel* DeviceQueue::kernel_of(std::uint64_t handle) const {
  Module& module = parent_.kernel->module();
  const std::uint64_t number = emulate::kernel_number(handle);
  return handle >= emulate::kKernelHandles && number < module.kernel_count() ? &module.kernel_at(number)
                                                                             : nullptr;
}

std::int64_t DeviceQueue::parameter_bytes(std::uint64_t handle) {
  const Kernel* kernel = kernel_of(handle);
  return kernel == nullptr ? -1 : static_cast<std::int64_t>(kernel->image().program.parameter_bytes);
}

int DeviceQueue::launch(std::uint64_t block, std::uint64_t stream, emulate::DeviceLaunch launch) {
  KernelCall call;
  call.kernel = kernel_of(launch.kernel);
  if (call.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (depth_ >= kDeepestLaunch) return cudaErrorLaunchMaxDepthExceeded;
  call.shape() = launch;
  call.device = parent_.device;
  call.part = parent_.part;
  call.within = parent_.within;
  const isa::Program& program = call.kernel->image().program;
  std::copy(std::begin(program.cluster), std::end(program.cluster), &call.cluster.x);
  if (call.cluster.count() == 0) call.cluster = {1, 1, 1};
  call.parameters = std::move(launch.parameters);
  if (const cudaError_t refused = launcher_.check(call); refused != cudaSuccess) return refused;
  add(block, stream, std::move(call));
  return cudaSuccess;
}

int DeviceQueue::copy(std::uint64_t block, std::uint64_t stream, const emulate::DeviceCopy& copy) {
  CopyCall call;
  call.to = reinterpret_cast<std::byte*>(copy.to);
  call.from = reinterpret_cast<const std::byte*>(copy.from);
  call.width = call.to_pitch = call.from_pitch = copy.bytes;
  if (copy.rows > 1) {
    if (copy.bytes > copy.to_pitch || copy.bytes > copy.from_pitch) return cudaErrorInvalidPitchValue;
    call.height = copy.rows;
    call.to_pitch = copy.to_pitch;
    call.from_pitch = copy.from_pitch;
  }
  call.kind = cudaMemcpyDeviceToDevice;
  add(block, stream, call);
  return cudaSuccess;
}

int DeviceQueue::copy_box(std::uint64_t block, std::uint64_t stream, const emulate::Bytes& parameters) {
  cudaMemcpy3DParms read;
  std::memcpy(&read, parameters.data(), sizeof read);
  CopyCall call;
  if (const cudaError_t refused = copy_of(read, call); refused != cudaSuccess) return refused;
  add(block, stream, call);
  return cudaSuccess;
}

int DeviceQueue::fill(std::uint64_t block, std::uint64_t stream, const emulate::DeviceFill& fill) {
  FillCall call;
  call.to = reinterpret_cast<std::byte*>(fill.to);
  call.value = fill.value;
  call.width = call.pitch = fill.bytes;
  if (fill.rows > 1 || fill.slices > 1) {
    if (fill.bytes > fill.pitch) return cudaErrorInvalidPitchValue;
    call.height = fill.rows;
    call.depth = fill.slices;
    call.pitch = fill.pitch;
    call.slice = fill.pitch * fill.rows_apart;
  }
  add(block, stream, call);
  return cudaSuccess;
}

int DeviceQueue::launch_graph(std::uint64_t /*block*/, std::uint64_t graph, std::uint64_t how) {
  const GraphInstance* instance = instance_of(reinterpret_cast<cudaGraphExec_t>(graph));
  if (instance == nullptr || (instance->flags & cudaGraphInstantiateFlagDeviceLaunch) == 0 ||
      state_.running_graph == nullptr)
    return cudaErrorInvalidValue;
  if (how == emulate::kGraphTail) {
    state_.graph_tail.push_back(instance);
  } else if (how == emulate::kGraphFireAndForget || how == emulate::kGraphSibling) {
    graphs_.push_back(instance);
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

int DeviceQueue::update_node(const emulate::NodeUpdate& update) {
  GraphNode* node = updatable_node(update.node);
  if (node == nullptr) return cudaErrorInvalidValue;
  auto& call = std::get<KernelCall>(node->work);
  using Field = emulate::NodeUpdate::Field;
  if (update.field == Field::enabled) {
    node->enabled = update.enabled;
  } else if (update.field == Field::grid) {
    if (update.grid.count() == 0) return cudaErrorInvalidValue;
    call.grid = update.grid;
  } else if (update.field == Field::parameter) {
    const std::size_t all = call.parameters.size(), bytes = update.value.size();
    if (bytes == 0 || update.offset > all || bytes > all - update.offset) return cudaErrorInvalidValue;
    std::copy(update.value.begin(), update.value.end(),
              call.parameters.begin() + static_cast<std::ptrdiff_t>(update.offset));
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

std::uint64_t DeviceQueue::graph() { return reinterpret_cast<std::uint64_t>(state_.running_graph); }

int DeviceQueue::occupancy(std::uint64_t handle, int threads, std::uint64_t dynamic_shared, int& blocks) {
  const Kernel* kernel = kernel_of(handle);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (threads <= 0) return cudaErrorInvalidValue;
  blocks = active_blocks_of(state_, *kernel, threads, dynamic_shared);
  return cudaSuccess;
}

int DeviceQueue::attributes(std::uint64_t handle, emulate::Bytes& attributes) {
  Kernel* kernel = kernel_of(handle);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const cudaFuncAttributes all = attributes_of(state_, *kernel);
  attributes.resize(sizeof all);
  std::memcpy(attributes.data(), &all, sizeof all);
  return cudaSuccess;
}

int DeviceQueue::limit(int which, std::uint64_t& value) {
  if (which < 0 || static_cast<std::size_t>(which) >= state_.limits.size()) return cudaErrorUnsupportedLimit;
  value = state_.limits[static_cast<std::size_t>(which)];
  return cudaSuccess;
}

const char* DeviceQueue::text(int error, bool name) {
  const auto code = static_cast<cudaError_t>(error);
  return name ? error_name(code) : error_text(code);
}

int DeviceQueue::attribute(int which, int device, int& value) {
  if (device < 0 || device >= devices()) return cudaErrorInvalidDevice;
  const auto known =
      device_attribute({state_.spec.get(), state_.chip.title, state_.memory.capacity(), device},
                       static_cast<cudaDeviceAttr>(which));
  if (!known) return cudaErrorInvalidValue;
  value = *known;
  return cudaSuccess;
}

int DeviceQueue::version() { return CUDART_VERSION; }

void DeviceQueue::add(std::uint64_t block, std::uint64_t stream, Operation operation) {
  (stream == emulate::kTailLaunch ? last_ : now_).push_back({block, std::move(operation)});
}

std::vector<Operation> DeviceQueue::take() {
  std::vector<Operation> all;
  for (std::vector<Asked>* part : {&now_, &last_}) {
    std::stable_sort(part->begin(), part->end(),
                     [](const Asked& a, const Asked& b) { return a.block < b.block; });
    for (Asked& asked : *part) all.push_back(std::move(asked.operation));
    part->clear();
  }
  return all;
}

}  // namespace foretrace::runtime
