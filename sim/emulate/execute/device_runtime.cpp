#include "sim/emulate/execute/device_runtime.h"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

namespace {

// CUDA's error codes.
constexpr int kSuccess = 0, kOutOfMemory = 2, kInvalidDeviceFunction = 98, kNotSupported = 801;
constexpr std::uint64_t kMostParameterBytes = 32764;  // of a kernel, CUDA C++ Programming Guide
constexpr std::uint64_t kFirstObject = 0x100;  // handles of streams and events; smaller ones have a meaning

class Call {
 public:
  Call(Execution& x, DeviceRuntime& runtime, int lane) : x_(x), runtime_(runtime), lane_(lane) {
    const LaunchContext& context = x.launch().context;
    const Dim3 b = x.block_index(), t = x.thread_index(lane), &g = context.grid, &d = context.block;
    block_ = b.x + g.x * (b.y + std::uint64_t{g.y} * b.z);
    thread_ = block_ * d.count() + t.x + d.x * (t.y + std::uint64_t{d.y} * t.z);
  }

  void make(DeviceCall which) {
    switch (which) {
      case DeviceCall::get_parameter_buffer: give_address(parameter_buffer()); return;
      case DeviceCall::error_name:
      case DeviceCall::error_text: give_address(text(which == DeviceCall::error_name)); return;
      case DeviceCall::last_error:
      case DeviceCall::peek_error: {
        const auto found = runtime_.last_error.find(thread_);
        word(4) = found == runtime_.last_error.end() ? 0 : static_cast<std::uint32_t>(found->second);
        if (found != runtime_.last_error.end() && which == DeviceCall::last_error)
          runtime_.last_error.erase(found);
        return;
      }
      default: break;
    }
    const int result = answer(which);
    if (result != kSuccess) runtime_.last_error[thread_] = result;
    word(4) = static_cast<std::uint32_t>(result);
  }

 private:
  std::uint32_t& word(int index) {
    return x_.warp->registers[kFirstRegisterWord + static_cast<std::uint32_t>(index) * 32 +
                              static_cast<std::uint32_t>(lane_)];
  }
  std::uint64_t pair(int index) { return word(index) | std::uint64_t{word(index + 1)} << 32; }
  Dim3 three(int index) { return {word(index), word(index + 1), word(index + 2)}; }
  void give_address(std::uint64_t address) {
    word(4) = static_cast<std::uint32_t>(address);
    word(5) = static_cast<std::uint32_t>(address >> 32);
  }
  template <class T>
  int store(std::uint64_t address, T value) {
    if (address == 0) return kInvalidValue;
    std::memcpy(x_.memory.generic_at(address, sizeof value, lane_), &value, sizeof value);
    return kSuccess;
  }

  std::uint64_t parameter_buffer() {
    const std::int64_t bytes = runtime_.parameter_bytes(pair(4));
    if (bytes < 0) {
      runtime_.last_error[thread_] = kInvalidDeviceFunction;
      return 0;
    }
    const std::uint64_t at = x_.memory.heap().allocate(static_cast<std::uint64_t>(bytes));
    if (at == 0) {
      runtime_.last_error[thread_] = kOutOfMemory;
      return 0;
    }
    const LaunchShape shape{three(6), three(9), {}, word(12)};
    runtime_.buffers[at] = {shape, pair(4), std::vector<std::byte>(static_cast<std::size_t>(bytes))};
    return at;
  }

  int launch() {
    const auto found = runtime_.buffers.find(pair(4));
    if (found == runtime_.buffers.end()) return kInvalidValue;
    DeviceLaunch launch = std::move(found->second);
    for (std::size_t i = 0; i < launch.parameters.size(); ++i)
      launch.parameters[i] = *x_.memory.generic_at(found->first + i, 1, lane_);
    x_.memory.heap().release(found->first);
    runtime_.buffers.erase(found);
    return runtime_.launch(block_, pair(6), std::move(launch));
  }

  /// The argument at this offset of the stack, where the registers for arguments are taken.
  std::uint64_t on_stack(std::uint32_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, x_.memory.local_at(word(1) + offset, sizeof value, lane_), sizeof value);
    return value;
  }
  std::uint64_t text(bool name) {
    const int error = static_cast<int>(word(4));
    std::uint64_t& at = runtime_.texts[{error, name}];
    if (at != 0) return at;
    const std::string_view text = runtime_.text(error, name);
    at = x_.memory.heap().allocate(text.size() + 1);
    for (std::size_t i = 0; at != 0 && i <= text.size(); ++i)
      *x_.memory.generic_at(at + i, 1, lane_) = i < text.size() ? std::byte(text[i]) : std::byte{0};
    return at;
  }
  Bytes read(std::uint64_t address, std::uint64_t bytes) {
    Bytes found(bytes);
    for (std::size_t i = 0; i < bytes; ++i) found[i] = *x_.memory.generic_at(address + i, 1, lane_);
    return found;
  }
  template <class T>
  T read(std::uint64_t address) {
    T value{};
    std::memcpy(&value, read(address, sizeof value).data(), sizeof value);
    return value;
  }
  int copy_box() { return runtime_.copy_box(block_, pair(6), read(pair(4), runtime_.copy_box_bytes())); }

  int update(NodeUpdate update, std::uint64_t value_at, std::uint64_t bytes) {
    if (bytes > kMostParameterBytes) return kInvalidValue;
    update.value = read(value_at, bytes);
    return runtime_.update_node(update);
  }
  /// A list of cudaGraphKernelNodeUpdate: node, field, then a union.
  int node_updates(std::uint64_t list, std::uint64_t count) {
    constexpr std::uint64_t kBytes = 40, kField = 8, kData = 16;
    int result = kSuccess;
    for (std::uint64_t i = 0; i < count && result == kSuccess; ++i, list += kBytes) {
      NodeUpdate one{read<std::uint64_t>(list), read<NodeUpdate::Field>(list + kField)};
      std::uint64_t value_at = 0, bytes = 0;
      if (one.field == NodeUpdate::Field::parameter) {
        value_at = read<std::uint64_t>(list + kData);
        one.offset = read<std::uint64_t>(list + kData + 8);
        bytes = read<std::uint64_t>(list + kData + 16);
      } else {
        one.grid = read<Dim3>(list + kData);
        one.enabled = one.grid.x != 0;
      }
      result = update(one, value_at, bytes);
    }
    return result;
  }
  int occupancy() {
    int blocks = 0;
    const int result = runtime_.occupancy(pair(6), static_cast<int>(word(8)), pair(10), blocks);
    return result == kSuccess ? store(pair(4), blocks) : result;
  }
  int function_attributes() {
    Bytes attributes;
    const int result = runtime_.attributes(pair(6), attributes);
    if (result != kSuccess) return result;
    for (std::size_t i = 0; i < attributes.size(); ++i)
      *x_.memory.generic_at(pair(4) + i, 1, lane_) = attributes[i];
    return kSuccess;
  }
  int get_limit() {
    std::uint64_t value = 0;
    const int result = runtime_.limit(static_cast<int>(word(6)), value);
    return result == kSuccess ? store(pair(4), value) : result;
  }

  int allocate() {
    const std::uint64_t at = x_.memory.heap().allocate(pair(6));
    const int stored = store(pair(4), at);
    return stored == kSuccess && at == 0 ? kOutOfMemory : stored;
  }

  int answer(DeviceCall which) {
    switch (which) {
      case DeviceCall::launch: return launch();
      case DeviceCall::create_stream:
      case DeviceCall::create_event: return store(pair(4), kFirstObject + 16 * runtime_.objects++);
      case DeviceCall::nothing: return kSuccess;
      case DeviceCall::get_device: return store(pair(4), runtime_.device());
      case DeviceCall::get_device_count: return store(pair(4), runtime_.devices());
      case DeviceCall::get_version: return store(pair(4), runtime_.version());
      case DeviceCall::get_attribute: {
        int value = 0;
        const int result = runtime_.attribute(static_cast<int>(word(6)), static_cast<int>(word(7)), value);
        return result == kSuccess ? store(pair(4), value) : result;
      }
      case DeviceCall::allocate: return allocate();
      case DeviceCall::release: {
        const std::uint64_t at = pair(4);
        const bool free = at == 0 || x_.memory.heap().release(at) == DeviceHeap::Released::yes;
        return free ? kSuccess : kInvalidValue;
      }
      case DeviceCall::occupancy: return occupancy();
      case DeviceCall::function_attributes: return function_attributes();
      case DeviceCall::get_limit: return get_limit();
      case DeviceCall::launch_graph: return runtime_.launch_graph(block_, pair(4), pair(6));
      case DeviceCall::node_parameter:
        return update({pair(4), NodeUpdate::Field::parameter, {}, pair(6)}, pair(8), pair(10));
      case DeviceCall::node_grid: return update({pair(4), NodeUpdate::Field::grid, three(6)}, 0, 0);
      case DeviceCall::node_enabled:
        return update({pair(4), NodeUpdate::Field::enabled, {}, 0, {}, (word(6) & 0xff) != 0}, 0, 0);
      case DeviceCall::node_updates: return node_updates(pair(4), pair(6));
      default: return move(which);
    }
  }

  /// Copies and fills.
  int move(DeviceCall which) {
    switch (which) {
      case DeviceCall::copy: return runtime_.copy(block_, pair(12), {pair(4), pair(6), pair(8)});
      case DeviceCall::copy_rows:
        return runtime_.copy(block_, on_stack(8), {pair(4), pair(8), pair(12), pair(14), pair(6), pair(10)});
      case DeviceCall::copy_box: return copy_box();
      case DeviceCall::fill:
        return runtime_.fill(block_, pair(10), {pair(4), pair(8), static_cast<std::uint8_t>(word(6))});
      case DeviceCall::fill_rows:
        return runtime_.fill(
            block_, pair(14),
            {pair(4), pair(10), static_cast<std::uint8_t>(word(8)), pair(12), 1, pair(6), pair(12)});
      case DeviceCall::fill_box:  // cudaPitchedPtr, value, cudaExtent, stream
        return runtime_.fill(block_, pair(14),
                             {pair(4), on_stack(0), static_cast<std::uint8_t>(word(12)), on_stack(8),
                              on_stack(16), pair(6), pair(10)});
      default: return kNotSupported;
    }
  }

  Execution& x_;
  DeviceRuntime& runtime_;
  const int lane_;
  std::uint64_t block_, thread_;
};

class Silent final : public DeviceRuntime {
 public:
  explicit Silent(DeviceRuntime& asked) : asked_(asked) {}
  std::int64_t parameter_bytes(std::uint64_t kernel) override { return asked_.parameter_bytes(kernel); }
  int launch(std::uint64_t, std::uint64_t, DeviceLaunch) override { return kSuccess; }
  int copy(std::uint64_t, std::uint64_t, const DeviceCopy&) override { return kSuccess; }
  int copy_box(std::uint64_t, std::uint64_t, const Bytes&) override { return kSuccess; }
  int fill(std::uint64_t, std::uint64_t, const DeviceFill&) override { return kSuccess; }
  int launch_graph(std::uint64_t, std::uint64_t, std::uint64_t) override { return kSuccess; }
  int update_node(const NodeUpdate&) override { return kSuccess; }
  std::uint64_t graph() override { return asked_.graph(); }
  int occupancy(std::uint64_t kernel, int threads, std::uint64_t dynamic_shared, int& blocks) override {
    return asked_.occupancy(kernel, threads, dynamic_shared, blocks);
  }
  int attributes(std::uint64_t kernel, Bytes& attributes) override {
    return asked_.attributes(kernel, attributes);
  }
  int limit(int which, std::uint64_t& value) override { return asked_.limit(which, value); }
  const char* text(int error, bool name) override { return asked_.text(error, name); }
  std::size_t copy_box_bytes() override { return asked_.copy_box_bytes(); }
  int attribute(int which, int device, int& value) override { return asked_.attribute(which, device, value); }
  int device() override { return asked_.device(); }
  int devices() override { return asked_.devices(); }
  int version() override { return asked_.version(); }

 private:
  DeviceRuntime& asked_;
};

}  // namespace

DeviceRuntime& DeviceRuntime::silent() {
  const std::lock_guard lock(mutex);
  if (!silent_) silent_ = std::make_unique<Silent>(*this);
  return *silent_;
}

void call_device_runtime(Execution& x, const DeviceFunction& function, int lane) {
  DeviceRuntime* const runtime = x.launch().context.device_runtime;
  if (runtime == nullptr) {
    x.fault(FaultKind::unsupported, lane,
            fmt::format("{}: launches by device code need the whole program", function.name));
  }
  const std::lock_guard lock(runtime->mutex);
  Call(x, *runtime, lane).make(function.call);
}

}  // namespace foretrace::emulate
