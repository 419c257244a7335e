// The runtime library's state, one for the process, and how a call of the program enters it.
//
// Models:  devices of one chip; errors as CUDA has them: a call's own error is kept for the thread until cudaGetLastError, a kernel's fault
//          comes out at a call after the launch and stays until cudaDeviceReset.
// Order:   a call has the whole library to itself; kernels run inside the call that launches them, but for those that wait for what the
//          program does later (waiting_launches.h).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/frontend/toolchain.h"
#include "sim/runtime/device/array.h"
#include "sim/runtime/device/context.h"
#include "sim/runtime/device/l2_passage.h"
#include "sim/runtime/device/library.h"
#include "sim/runtime/device/library_lock.h"
#include "sim/runtime/device/memory.h"
#include "sim/runtime/device/module.h"
#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/sharing.h"
#include "sim/runtime/device/stop.h"
#include "sim/runtime/device/stream.h"
#include "sim/runtime/device/virtual_memory.h"
#include "sim/runtime/device/waiting_launches.h"
#include "sim/runtime/settings.h"

namespace foretrace::runtime {

class Launcher;
struct GraphInstance;
class Clock;
class SideBySide;
struct Executed;

struct State {
  State();
  ~State();

  LibraryLock mutex;
  Settings settings;
  config::Loaded chip;
  std::shared_ptr<const spec::GpuSpec> spec;
  frontend::Toolchain toolchain;
  DeviceMemory memory;
  VirtualMemory virtual_memory{memory};
  SharedMemory shared{memory, virtual_memory};
  Arrays arrays;  ///< and textures and surfaces
  L2Passage l2_passage;
  Streams streams;
  WaitingLaunches waiting{*this};
  std::set<std::pair<int, int>> peers;  ///< devices that may use memory of others: {which, whose}
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<SideBySide> side_by_side;
  std::unique_ptr<Clock> clock;       ///< the time line
  cudaError_t pending = cudaSuccess;  ///< a kernel's fault that no call has returned yet
  cudaError_t sticky = cudaSuccess;   ///< a kernel's fault that has been returned

  std::uint64_t stack_bytes = 1024;  ///< cudaLimitStackSize
  /// What cudaDeviceSetLimit may change, with CUDA's defaults.
  std::array<std::size_t, cudaLimitPersistingL2CacheSize + 1> limits = {1024, 1 << 20, 8 << 20, 2,
                                                                        2048, 128,     0};
  struct Choices {
    unsigned flags = cudaDeviceScheduleAuto;
    cudaFuncCache cache = cudaFuncCachePreferNone;
  } choices;
  const GraphInstance* running_graph = nullptr;  ///< whose nodes are being executed
  std::vector<const GraphInstance*> graph_tail;  ///< what its kernels have launched for after its end
  unsigned long long last_capture = 0;           ///< the last capture's id

  // What the program has registered.
  struct HostVariable {
    Module* module;
    std::string name;
  };
  std::vector<std::unique_ptr<Module>> modules;
  std::unordered_map<const void*, std::pair<Module*, std::string>> functions;  ///< by the host's stub
  std::unordered_map<const void*, Kernel*> resolved;
  std::unordered_map<const void*, HostVariable> variables;  ///< by the host's shadow variable
  struct ManagedVariable {
    void** pointer;
    Module* module;
    std::string name;
  };
  std::vector<ManagedVariable> managed;

  ModuleContext module_context() { return {spec->sm_number, &memory, &toolchain}; }
  /// The kernel of a host function, a cudaKernel_t or a cudaFunction_t; null: none. May throw InputError (module loading).
  Kernel* kernel(const void* function);
  std::unordered_map<const void*, Kernel*> handles;  ///< kernels that were given out as handles
  std::vector<std::unique_ptr<Library>> libraries;   ///< device code that the program has loaded itself

  /// Gives the stream the operation: executes it now, or adds it to the graph that captures the stream.
  cudaError_t submit(cudaStream_t stream, Operation operation);
  /// The same of a stream that is not captured and waits for no launch.
  cudaError_t submit_now(cudaStream_t handle, const Stream& stream, const Operation& operation);
  /// A kernel's fault, which is returned from now on; success: there was none.
  cudaError_t faulted();
  /// Something has been waited for: launches whose place on the time line is known now get into the document.
  void place_launches();
  /// Executes it now.
  cudaError_t execute(const Operation& operation, Executed& executed);
};

/// The process's state; made at the first call. Ends the program (stop) when that fails.
State& state();
/// Null when no call has made it yet.
State* state_if_any();

/// The calling thread's last error, and its mode of stream capture.
cudaError_t& last_error();
cudaStreamCaptureMode& capture_mode();

/// The call that this thread is in, nested ones not counted: what the thread does between calls is its own work.
class InCall {
 public:
  explicit InCall(State& state);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  State& state_;
};

/// Runs a call's body with the library locked; keeps its error for cudaGetLastError.
template <class Body>
cudaError_t call(Body&& body) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const InCall in_call(s);
  use_primary_context();
  cudaError_t result = cudaSuccess;
  try {
    if (s.waiting.any()) s.waiting.collect();
    result = s.faulted();
    if (result == cudaSuccess) result = body(s);
  } catch (const ToolError& error) {
    stop(std::string(error.what()) + "\n" + error.output());
  } catch (const std::exception& error) { stop(error.what()); }
  if (result != cudaSuccess && result != cudaErrorNotReady) last_error() = result;
  return result;
}

}  // namespace foretrace::runtime
