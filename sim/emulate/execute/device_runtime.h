// The device runtime: launches, copies and fills that device code asks for (dynamic parallelism).
//
// Models:  the functions __cudaCDP2*, which <<<>>> and the runtime's calls of device code become: parameter buffers, launches into the
//          block's own stream, streams and events that device code makes, cudaStreamTailLaunch and cudaStreamFireAndForget, memcpy and
//          memset of one to three dimensions, malloc and free, the last error and errors' texts, attributes, limits, occupancy, launches of
//          graphs (fire and forget, sibling, tail), changes of a graph's kernel nodes, which hold at once. What is asked for is done after the grid that asks (DeviceRuntime), which is an order
//          that CUDA allows: a grid is not over before the grids that it has launched, and none of them is waited for by its code.
// Ignores: events and waits between streams: work is done in the order of the asking, tail launches last. The limit of pending
//          launches.
// Source:  cuda_device_runtime_api.h; CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; registers: our own cubins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/units/launch_shape.h"

namespace foretrace::emulate {

inline constexpr int kInvalidValue = 1;  ///< cudaErrorInvalidValue

enum class DeviceCall : std::uint8_t {
  get_parameter_buffer,
  launch,
  create_stream,
  create_event,
  nothing,  ///< what needs no deed: an order that holds anyway
  last_error,
  peek_error,
  get_device,
  get_device_count,
  get_version,
  get_attribute,
  allocate,
  release,
  copy,
  copy_rows,
  copy_box,
  fill,
  fill_rows,
  fill_box,
  error_name,
  error_text,
  occupancy,
  function_attributes,
  get_limit,
  launch_graph,
  node_parameter,
  node_grid,
  node_enabled,
  node_updates
};
struct DeviceFunction {
  std::string_view name;
  DeviceCall call;
};
inline constexpr std::array kDeviceFunctions = {
    DeviceFunction{"__cudaCDP2GetParameterBufferV2", DeviceCall::get_parameter_buffer},
    DeviceFunction{"__cudaCDP2LaunchDeviceV2", DeviceCall::launch},
    DeviceFunction{"__cudaCDP2LaunchDeviceV2_ptsz", DeviceCall::launch},
    DeviceFunction{"__cudaCDP2StreamCreateWithFlags", DeviceCall::create_stream},
    DeviceFunction{"__cudaCDP2EventCreateWithFlags", DeviceCall::create_event},
    DeviceFunction{"__cudaCDP2StreamDestroy", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2StreamWaitEvent", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2StreamWaitEvent_ptsz", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2EventRecord", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2EventRecord_ptsz", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2EventRecordWithFlags", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2EventRecordWithFlags_ptsz", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2EventDestroy", DeviceCall::nothing},
    DeviceFunction{"__cudaCDP2GetLastError", DeviceCall::last_error},
    DeviceFunction{"__cudaCDP2PeekAtLastError", DeviceCall::peek_error},
    DeviceFunction{"__cudaCDP2GetDevice", DeviceCall::get_device},
    DeviceFunction{"__cudaCDP2GetDeviceCount", DeviceCall::get_device_count},
    DeviceFunction{"__cudaCDP2RuntimeGetVersion", DeviceCall::get_version},
    DeviceFunction{"__cudaCDP2DeviceGetAttribute", DeviceCall::get_attribute},
    DeviceFunction{"__cudaCDP2Malloc", DeviceCall::allocate},
    DeviceFunction{"__cudaCDP2Free", DeviceCall::release},
    DeviceFunction{"__cudaCDP2MemcpyAsync", DeviceCall::copy},
    DeviceFunction{"__cudaCDP2MemcpyAsync_ptsz", DeviceCall::copy},
    DeviceFunction{"__cudaCDP2MemsetAsync", DeviceCall::fill},
    DeviceFunction{"__cudaCDP2MemsetAsync_ptsz", DeviceCall::fill},
    DeviceFunction{"__cudaCDP2Memcpy2DAsync", DeviceCall::copy_rows},
    DeviceFunction{"__cudaCDP2Memcpy2DAsync_ptsz", DeviceCall::copy_rows},
    DeviceFunction{"__cudaCDP2Memcpy3DAsync", DeviceCall::copy_box},
    DeviceFunction{"__cudaCDP2Memcpy3DAsync_ptsz", DeviceCall::copy_box},
    DeviceFunction{"__cudaCDP2Memset2DAsync", DeviceCall::fill_rows},
    DeviceFunction{"__cudaCDP2Memset2DAsync_ptsz", DeviceCall::fill_rows},
    DeviceFunction{"__cudaCDP2Memset3DAsync", DeviceCall::fill_box},
    DeviceFunction{"__cudaCDP2Memset3DAsync_ptsz", DeviceCall::fill_box},
    DeviceFunction{"__cudaCDP2GetErrorName", DeviceCall::error_name},
    DeviceFunction{"__cudaCDP2GetErrorString", DeviceCall::error_text},
    DeviceFunction{"__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor", DeviceCall::occupancy},
    DeviceFunction{"__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", DeviceCall::occupancy},
    DeviceFunction{"__cudaCDP2FuncGetAttributes", DeviceCall::function_attributes},
    DeviceFunction{"__cudaCDP2DeviceGetLimit", DeviceCall::get_limit},
    DeviceFunction{"cudaGraphLaunch", DeviceCall::launch_graph},
    DeviceFunction{"cudaGraphKernelNodeSetParam", DeviceCall::node_parameter},
    DeviceFunction{"cudaGraphKernelNodeSetGridDim", DeviceCall::node_grid},
    DeviceFunction{"cudaGraphKernelNodeSetEnabled", DeviceCall::node_enabled},
    DeviceFunction{"cudaGraphKernelNodeUpdatesApply", DeviceCall::node_updates}};

/// Whether a device function gives out memory of the heap.
constexpr bool takes_heap(DeviceCall call) {
  return call == DeviceCall::get_parameter_buffer || call == DeviceCall::allocate ||
         call == DeviceCall::error_name || call == DeviceCall::error_text;
}

/// What a pointer to a kernel is to device code: its number in its module.
inline constexpr std::uint64_t kKernelHandles = 0x6100'0000'0000;
constexpr std::uint64_t kernel_handle(std::uint64_t number) { return kKernelHandles + 16 * number; }
constexpr std::uint64_t kernel_number(std::uint64_t handle) { return (handle - kKernelHandles) / 16; }

/// Streams that device code names by numbers.
inline constexpr std::uint64_t kTailLaunch = 3, kFireAndForget = 4;
/// And how it launches graphs: cudaStreamGraphTailLaunch, ...FireAndForget, ...FireAndForgetAsSibling.
inline constexpr std::uint64_t kGraphTail = std::uint64_t{1} << 56,
                               kGraphFireAndForget = std::uint64_t{2} << 56,
                               kGraphSibling = std::uint64_t{3} << 56;

struct DeviceLaunch : LaunchShape {
  std::uint64_t kernel = 0;           ///< its handle
  std::vector<std::byte> parameters;  ///< parameter_bytes() of the kernel
};
struct DeviceCopy {
  std::uint64_t to = 0, from = 0, bytes = 0;  ///< bytes of a row
  std::uint64_t rows = 1, to_pitch = 0, from_pitch = 0;
};
struct DeviceFill {
  std::uint64_t to = 0, bytes = 0;  ///< bytes of a row
  std::uint8_t value = 0;
  std::uint64_t rows = 1, slices = 1, pitch = 0, rows_apart = 0;  ///< rows from slice to slice
};
/// A change of a graph's kernel node, in the order of cudaGraphKernelNodeField.
struct NodeUpdate {
  enum class Field : std::uint32_t { grid = 1, parameter = 2, enabled = 3 };
  std::uint64_t node = 0;  ///< cudaGraphDeviceNode_t
  Field field = Field::grid;
  Dim3 grid{};
  std::uint64_t offset = 0;        ///< in the parameters, bytes
  std::vector<std::byte> value{};  ///< of the parameter
  bool enabled = false;
};
/// cudaMemcpy3DParms and cudaFuncAttributes as device code has them, which is as the host has them.
using Bytes = std::vector<std::byte>;

/// What a grid's code asks for goes here. Answers are CUDA's error codes, 0 for success. The calls of one block come in their order.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  /// Bytes of a kernel's parameters; -1: no such kernel.
  virtual std::int64_t parameter_bytes(std::uint64_t kernel) = 0;
  virtual int launch(std::uint64_t block, std::uint64_t stream, DeviceLaunch launch) = 0;
  virtual int copy(std::uint64_t block, std::uint64_t stream, const DeviceCopy& copy) = 0;
  virtual int copy_box(std::uint64_t block, std::uint64_t stream, const Bytes& parameters) = 0;
  virtual int fill(std::uint64_t block, std::uint64_t stream, const DeviceFill& fill) = 0;
  /// `how`: one of kGraph*.
  virtual int launch_graph(std::uint64_t block, std::uint64_t graph, std::uint64_t how) = 0;
  virtual int update_node(const NodeUpdate& update) = 0;
  /// The instance (cudaGraphExec_t) whose launch this grid belongs to; 0: none.
  virtual std::uint64_t graph() = 0;
  virtual int occupancy(std::uint64_t kernel, int threads, std::uint64_t dynamic_shared, int& blocks) = 0;
  virtual int attributes(std::uint64_t kernel, Bytes& attributes) = 0;
  virtual int limit(int which, std::uint64_t& value) = 0;
  /// What an error is called, or says.
  virtual const char* text(int error, bool name) = 0;
  virtual std::size_t copy_box_bytes() = 0;  ///< of the parameters
  virtual int attribute(int which, int device, int& value) = 0;
  virtual int device() = 0;
  virtual int devices() = 0;
  virtual int version() = 0;
  /// One that answers as this one does, and of which nothing comes: for blocks that are only tried.
  DeviceRuntime& silent();

  // For call_device_runtime.
  std::mutex mutex;
  std::map<std::uint64_t, DeviceLaunch> buffers;        // parameter buffers that are not launched yet
  std::unordered_map<std::uint64_t, int> last_error;    // by thread of the grid
  std::uint64_t objects = 0;                            // streams and events that were made
  std::map<std::pair<int, bool>, std::uint64_t> texts;  // where errors' texts are in device memory

 private:
  std::unique_ptr<DeviceRuntime> silent_;
};

class Execution;
/// A lane calls the function of kDeviceFunctions.
void call_device_runtime(Execution& x, const DeviceFunction& function, int lane);

}  // namespace foretrace::emulate
