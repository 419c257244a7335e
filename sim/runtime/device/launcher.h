// One kernel launch: checked, emulated, predicted, reported.
//
// Models:  a launch is emulated once; where it is predicted, too, its record goes straight into the cycle model. Caches stay warm from
//          launch to launch, as on a GPU, unless they are to be cold for each, as under Nsight Compute (Settings::cold).
//          Beyond a budget only some launches are simulated, and stand for the others (sampling::Representatives).
// Errors:  a launch that CUDA refuses gets CUDA's error code. A kernel's fault is explained on standard error, and the program gets
//          CUDA's code at its next call. What Foretrace cannot do ends the program (stop.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/emulate/emulator.h"
#include "sim/engine/machine.h"
#include "sim/engine/run_launch.h"
#include "sim/runtime/device/journal.h"
#include "sim/runtime/device/operation.h"
#include "sim/runtime/device/repeats.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

class DeviceQueue;

class Launcher {
 public:
  explicit Launcher(State& state);
  ~Launcher();
  /// CUDA's answer to the call itself; seconds of predicted GPU time, 0 when it is not predicted, those of the launches of its code among
  /// them, one after another.
  /// A fault of the kernel goes to State::pending. Throws InputError for what Foretrace cannot do.
  cudaError_t launch(const KernelCall& call, Executed& executed);
  /// CUDA's answer to a launch that it refuses.
  cudaError_t check(const KernelCall& call) { return check(call, *call.kernel->on(call.device).program()); }
  /// The number of the stream of the next launches.
  void place(std::uint64_t stream) { stream_ = stream; }
  Journal& journal() { return journal_; }

 private:
  cudaError_t check(const KernelCall& call, const isa::Program& program);
  bool wanted(std::uint64_t index, const Kernel& kernel) const;
  emulate::LaunchContext context_of(const KernelCall& call, const isa::Program& program);
  emulate::BlockCount execute(const emulate::LaunchContext& context, const isa::Program& program,
                              std::uint64_t resident, LaunchLine& line);
  emulate::BlockCount emulate_only(const emulate::LaunchContext& context, const isa::Program& program,
                                   std::uint64_t resident);
  double predict_or_represent(const KernelCall& call, const emulate::LaunchContext& context,
                              const engine::Launch& shape, LaunchLine& line);
  void find_l2(int device);
  void remember_dependence(std::uint64_t index, const report::Prediction& prediction);
  sampling::LaunchWork known_work(const KernelCall& call);
  void begin_representatives();
  report::Prediction predict(const KernelCall& call, const emulate::LaunchContext& context,
                             const engine::Launch& shape, std::uint64_t index);
  void run_asked(DeviceQueue& queue, Executed& executed);
  cudaError_t code_of(emulate::FaultKind kind) const;

  State& state_;
  Journal journal_;
  engine::Machine& machine(const KernelCall& call);
  engine::Machine& machine_with_caches(const KernelCall& call);

  /// What a device's launches are simulated by.
  struct Machines {
    std::map<SmPart, std::unique_ptr<engine::Machine>> of;  // once they are needed
    engine::Machine* last = nullptr;                        // has the caches
  };
  std::vector<Machines> machines_;  // by device
  std::optional<std::regex> pattern_;
  engine::Accuracy accuracy_ = engine::Accuracy::automatic;
  emulate::Checks checks_;
  int threads_ = 1;
  Repeats repeats_;
  int depth_ = 0;  // of launches by device code
  std::unordered_set<std::string>
      shown_;               // mangled names of kernels whose first warps were recorded (Settings::timelines)
  std::uint64_t next_ = 0;  // launches so far
  std::optional<sampling::Representatives> representatives_;
  std::unordered_set<std::uint64_t> move_all_of_l2_;  // simulated launches that moved as much as L2 holds
  std::unordered_map<std::uint64_t, host::Dependence>
      dependences_;  // of launches with any, in parts of their time
  std::uint64_t stream_ = 0;
  std::uint64_t before_ = 0;  // hash of the kernel launched before
};

}  // namespace foretrace::runtime
