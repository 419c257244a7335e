#include "sim/engine/later_waves.h"

#include "model/isa/spin_loops.h"
#include "sim/engine/sources.h"
#include "sim/sampling/constants.h"
#include "sim/sampling/convergence.h"

namespace foretrace::engine {

std::optional<LaterWaves> later_waves(const emulate::LaunchContext& context, const Launch& shape,
                                      Machine& machine, int threads, const sampling::Survey& survey) {
  const std::uint64_t blocks = shape.grid.count(), resident = machine.resident_blocks(shape);
  const double block = survey.instructions / static_cast<double>(blocks),
               wave = block * static_cast<double>(resident);
  if (blocks < 2 * resident || wave <= sampling::kWholeWave) return {};
  if (!emulate::blocks_are_independent(*context.program) || !isa::spin_loops(*context.program).empty())
    return {};
  const auto fork = context.memory->fork();
  const emulate::Emulator emulator(sampling::without_effects(context, *fork));
  StreamedBlocks source(emulator, resident, block);
  sampling::MonitoredLaunch launch = sampling::monitored(survey, machine.spec_for(shape), blocks, resident);
  launch.in_step = false;
  sampling::ConvergenceMonitor monitor(launch);
  RunOptions options;
  options.threads = threads;
  options.watch_interval = 500;
  options.watch = [&](const gpu::Snapshot& snapshot) -> gpu::Verdict {
    return {.stop = monitor.converged(snapshot) || monitor.hopeless(snapshot)};
  };
  Outcome outcome = machine.run(shape, source, options);
  if (!monitor.steady_rate()) return {};
  return LaterWaves{*monitor.steady_rate(), std::move(outcome.counters)};
}

}  // namespace foretrace::engine
