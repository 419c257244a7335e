// What the code of one grid has asked the device runtime for: launches, copies and fills, to be done when the grid has ended.
//
// Order: blocks in index order, what a block has asked for in its order, tail launches after all else.
#pragma once

#include <utility>
#include <vector>

#include "sim/emulate/execute/device_runtime.h"
#include "sim/runtime/device/graph.h"
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
  /// The instances of graphs that it has launched for no later than its own graph's end, once.
  std::vector<const GraphInstance*> take_graphs() { return std::exchange(graphs_, {}); }

  std::int64_t parameter_bytes(std::uint64_t kernel) override;
  int launch(std::uint64_t block, std::uint64_t stream, emulate::DeviceLaunch launch) override;
  int copy(std::uint64_t block, std::uint64_t stream, const emulate::DeviceCopy& copy) override;
  int copy_box(std::uint64_t block, std::uint64_t stream, const emulate::Bytes& parameters) override;
  int fill(std::uint64_t block, std::uint64_t stream, const emulate::DeviceFill& fill) override;
  int launch_graph(std::uint64_t block, std::uint64_t graph, std::uint64_t how) override;
  int update_node(const emulate::NodeUpdate& update) override;
  std::uint64_t graph() override;
  int occupancy(std::uint64_t kernel, int threads, std::uint64_t dynamic_shared, int& blocks) override;
  int attributes(std::uint64_t kernel, emulate::Bytes& attributes) override;
  int limit(int which, std::uint64_t& value) override;
  const char* text(int error, bool name) override;
  std::size_t copy_box_bytes() override { return sizeof(cudaMemcpy3DParms); }
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
  std::vector<const GraphInstance*> graphs_;
};

}  // namespace foretrace::runtime
