// What a stream is given to do. An operation is executed at once, or, while the stream is captured, kept as a graph's node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <cuda_runtime_api.h>

#include "model/units/launch_shape.h"
#include "sim/runtime/device/sm_part.h"

namespace foretrace::runtime {

class Kernel;
struct Array;
struct GraphNode;  // graph.h

/// What calls kernels, as the program names it (operators.h).
struct NamedOperator {
  std::string name, note;
};

/// A kernel launch, its arguments copied.
struct KernelCall : LaunchShape {
  Kernel* kernel = nullptr;
  bool cooperative = false;
  bool dependent = false;                       ///< a programmatic dependent launch
  std::optional<int> carveout;                  ///< as KernelSettings::carveout; empty: the kernel's
  std::vector<cudaLaunchAttribute> attributes;  ///< as they were set, to be asked for
  /// In a graph: nodes that it need not wait for the end of, and how the edges from them begin.
  std::vector<std::pair<const GraphNode*, cudaGraphEdgeData>> ports;
  int device = 0;                               ///< its ordinal
  SmPart part;                                  ///< the SMs that it may use
  std::vector<std::byte> parameters;            ///< the parameter area, Program::parameter_bytes long
  std::shared_ptr<const NamedOperator> within;  ///< null: none
};

/// A copy of boxes of bytes between two places; plain copies have height and depth 1. Overlap is as memmove.
struct CopyCall {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t width = 0, height = 1, depth = 1;  ///< bytes, rows, slices
  std::size_t to_pitch = 0, from_pitch = 0;      ///< bytes from row to row
  std::size_t to_slice = 0, from_slice = 0;      ///< bytes from slice to slice
  cudaMemcpyKind kind = cudaMemcpyDefault;
  /// A side that is an array: its address is null, and this is where in it the box begins.
  struct Corner {
    std::size_t byte = 0, row = 0, slice = 0;
  };
  const Array* to_array = nullptr;
  const Array* from_array = nullptr;
  Corner to_at{}, from_at{};
};

/// Fills boxes with an element of 1, 2 or 4 bytes.
struct FillCall {
  std::byte* to = nullptr;
  unsigned value = 0;
  std::size_t element = 1;                       ///< bytes
  std::size_t width = 0, height = 1, depth = 1;  ///< elements, rows, slices
  std::size_t pitch = 0, slice = 0;              ///< bytes
};

/// A function of the program.
struct HostCall {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};

using Operation = std::variant<KernelCall, CopyCall, FillCall, HostCall>;

}  // namespace foretrace::runtime
