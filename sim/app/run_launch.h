// One launch on one chip: bound, emulated, simulated.
#pragma once

#include "sim/app/jobs.h"
#include "sim/engine/device.h"
#include "sim/engine/machine.h"
#include "sim/engine/run_launch.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/module.h"

namespace foretrace::app {

struct RunChoices : engine::LaunchRun {
  std::uint64_t max_instructions = 0;      ///< a block; 0: no limit
  std::string trace;                       ///< file to record to; empty: none
  engine::SharedReader* reader = nullptr;  ///< see engine::run_shared; null: the launch is executed
  std::function<void()> before_executing;  ///< with a reader: called where the launch is executed after all
};

/// Throws InputError where --gains cannot be had with this accuracy.
void check_gains(engine::Accuracy accuracy);

/// Emulates the launch on `device`, unless a reader has its records, and simulates it on `machine` at the same time; `chip` names the machine in the progress line.
engine::Outcome run_launch(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                           const std::shared_ptr<const isa::Program>& program, engine::Device& device,
                           engine::Machine& machine, const std::string& chip, const RunChoices& choices,
                           const JobContext& context);

/// Emulates the launch only, `resident` blocks at a time where they wait (0: all): what it leaves in memory is what a launch after it finds.
/// `print`: what becomes of the kernel's text.
void emulate_only(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                  engine::Device& device, const spec::GpuSpec& spec, std::uint64_t resident = 0,
                  const emulate::TextSink& print = emulate::to_standard_output);

}  // namespace foretrace::app
