// What the code of one grid has asked the device runtime for: launches, copies and fills, to be done when the grid has ended.
//
// Order: blocks in index order, what a block has asked for in its order, tail launches after all else.
#pragma once

#include <vector>

#include "sim/emulate/execute/device_runtime.h"
#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

inline constexpr int kDeepestLaunch = 24;  ///< "Nesting depth", CUDA C++ Programming Guide

class DeviceQueue final : public emulate::DeviceRuntime {
 public:
  /// All must outlive the queue. `depth`: 0 for a grid that the host has launched.
  DeviceQueue(State& state, Launcher& launcher, const KernelCall& parent, int depth)
      : state_(state), launcher_(launcher), parent_(parent), depth_(depth) {}
  /// All of it, once.
  std::vector<Operation> take();

  std::int64_t parameter_bytes(std::uint64_t kernel) override;
  int launch(std::uint64_t block, std::uint64_t stream, emulate::DeviceLaunch launch) override;
  int copy(std::uint64_t block, std::uint64_t stream, const emulate::DeviceCopy& copy) override;
  int fill(std::uint64_t block, std::uint64_t stream, const emulate::DeviceFill& fill) override;
  int attribute(int which, int device, int& value) override;
  int device() override { return parent_.device; }
  int devices() override { return state_.settings.devices; }
  int version() override;

 private:
  Kernel* kernel_of(std::uint64_t handle) const;
  void add(std::uint64_t block, std::uint64_t stream, Operation operation);

  State& state_;
  Launcher& launcher_;
  const KernelCall& parent_;
  int depth_;
  struct Asked {
    std::uint64_t block;
    Operation operation;
  };
  std::vector<Asked> now_, last_;
};

}  // namespace foretrace::runtime
