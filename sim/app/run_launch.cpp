#include "sim/app/run_launch.h"

#include <optional>

#include "model/units/error.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::app {

void check_gains(engine::Accuracy accuracy) {
  if (accuracy == engine::Accuracy::sampled)
    throw InputError(
        "--gains with --accuracy sampled: launches are simulated again to their end; expected one of the "
        "two");
}

engine::Outcome run_launch(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                           const std::shared_ptr<const isa::Program>& program, engine::Device& device,
                           engine::Machine& machine, const std::string& chip, const RunChoices& choices,
                           const JobContext& context) {
  const auto bind = [&] {
    if (choices.before_executing) choices.before_executing();
    emulate::LaunchContext bound = device.bind(launch, kernel);
    bound.max_instructions = choices.max_instructions;
    bound.print = emulate::to_standard_error;  // standard output is the report's
    return bound;
  };
  std::optional<trace::TraceWriter> writer;
  if (!choices.trace.empty()) {
    writer.emplace(choices.trace, *program, trace::LaunchInfo{launch, launch.name});
  }
  const std::uint64_t blocks = launch.grid.count();
  const std::string what = program->kernel + " on " + chip;
  engine::LaunchRun run = choices;
  run.threads = context.threads;
  run.writer = writer ? &*writer : nullptr;
  run.progress = [&](std::uint64_t done, Cycle) { context.progress->show(what, done, blocks); };
  const engine::Launch shape{launch, program};
  engine::Outcome outcome = choices.reader != nullptr
                                ? engine::run_shared(bind, shape, machine, run, *choices.reader)
                                : engine::run_launch(bind(), shape, machine, run);
  if (writer) writer->close();
  return outcome;
}

void emulate_only(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                  engine::Device& device, const spec::GpuSpec& spec, std::uint64_t resident,
                  const emulate::TextSink& print) {
  emulate::LaunchContext bound = device.bind(launch, kernel);
  bound.print = print;
  engine::on_chip(bound, spec);
  const emulate::Emulator emulator(bound);
  emulate::BlockSequence blocks(emulator, resident == 0 ? emulator.blocks() : resident, false);
  while (blocks.next()) {}
}

}  // namespace foretrace::app
