// One launch on one chip, exactly or sampled: the one way from a bound launch to an outcome.
//
// Exact:   every instruction of every block is executed and simulated.
// Sampled: a part is simulated, the rest is estimated with an interval (sampled_launch.h, docs/accuracy.md).
#pragma once

#include <cstdint>
#include <functional>

#include "sim/emulate/emulator.h"
#include "sim/engine/kept_blocks.h"
#include "sim/engine/machine.h"
#include "sim/engine/shared_blocks.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::engine {

enum class Accuracy : std::uint8_t {
  automatic,  ///< exact for launches of less than sampling::kExactWork warp instructions, else sampled
  sampled,
  exact
};

/// "auto", "sampled" ("fast" is the same), "exact"; throws InputError naming `where` for another word.
Accuracy parse_accuracy(const std::string& word, const std::string& where);

/// How a launch is executed and simulated; `stop` ends both.
struct LaunchRun : RunOptions {
  Accuracy accuracy = Accuracy::automatic;
  bool complete =
      true;  ///< memory holds all that the launch writes afterwards; false: nobody reads it (LaunchContext::results_unused)
  double look_from =
      0;  ///< sampled: simulate at least so many warp instructions; 0: what the size of the launch suggests
  trace::TraceWriter* writer = nullptr;  ///< records every block, which asks for an exact run; may be null
  KeptBlocks* keep = nullptr;     ///< gets the records where the launch is simulated exactly; may be null
  SharedBlocks* share = nullptr;  ///< the same, for runs on other chips; closed at the end; may be null
};

/// What a launch can see of the chip that it is executed for, its shared memory.
void on_chip(emulate::LaunchContext& context, const spec::GpuSpec& spec);

/// Executes the launch on `context`'s memory and simulates it on `machine`. Throws InputError when the chip cannot run it, KernelFault.
Outcome run_launch(const emulate::LaunchContext& context, const Launch& shape, Machine& machine,
                   const LaunchRun& run);

/// The same of a launch whose records come from the run of another chip (LaunchRun::share), with the same accuracy. `bind` is called where
/// this chip has to execute the launch itself, at least in part; memory is then as run_launch() leaves it.
Outcome run_shared(const std::function<emulate::LaunchContext()>& bind, const Launch& shape, Machine& machine,
                   const LaunchRun& run, SharedReader& reader);

}  // namespace foretrace::engine
