#include "sim/emulate/execute/device_runtime.h"

#include <cstring>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

namespace {

// CUDA's error codes.
constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDeviceFunction = 98,
              kNotSupported = 801;
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
    runtime_.buffers[at] = {pair(4), three(6), three(9), word(12),
                            std::vector<std::byte>(static_cast<std::size_t>(bytes))};
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
      case DeviceCall::copy: return runtime_.copy(block_, pair(12), {pair(4), pair(6), pair(8)});
      case DeviceCall::fill:
        return runtime_.fill(block_, pair(10), {pair(4), pair(8), static_cast<std::uint8_t>(word(6))});
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
  int fill(std::uint64_t, std::uint64_t, const DeviceFill&) override { return kSuccess; }
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
