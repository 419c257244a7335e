#include "sim/engine/sampled_launch.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "model/isa/spin_loops.h"
#include "sim/engine/later_waves.h"
#include "sim/engine/sources.h"
#include "sim/sampling/constants.h"
#include "sim/sampling/convergence.h"
#include "sim/sampling/extrapolate.h"
#include "sim/sampling/tail_estimate.h"

namespace foretrace::engine {

namespace {

/// The launch's blocks for the cycle model, in the form that suits the kernel.
class Blocks {
 public:
  Blocks(const emulate::LaunchContext& context, std::uint64_t resident, int threads) : emulator_(context) {
    if (emulate::blocks_are_independent(*context.program)) {
      streamed_.emplace(emulator_);
    } else {
      emulated_.emplace(emulator_, resident, threads, nullptr);
    }
  }
  work::BlockSource& source() { return streamed_ ? static_cast<work::BlockSource&>(*streamed_) : *emulated_; }
  void skip(std::uint64_t blocks) { streamed_ ? streamed_->skip(blocks) : emulated_->skip(blocks); }
  void finish() { streamed_ ? streamed_->finish() : emulated_->finish(); }

 private:
  emulate::Emulator emulator_;
  std::optional<StreamedBlocks> streamed_;
  std::optional<EmulatedBlocks> emulated_;
};

}  // namespace

Suitability suitability(const emulate::LaunchContext& context, const Launch& shape, const Machine& machine,
                        bool asked) {
  Suitability result;
  const auto because = [&](std::string why) {
    result.why_not = std::move(why);
    return result;
  };
  result.on_any_chip = true;  // until something about this one is asked
  if (context.cluster.count() > 1) return because(asked ? "blocks of a cluster run together" : "");
  const std::uint64_t blocks = shape.grid.count();
  const auto budget = static_cast<std::uint64_t>(sampling::kSurveyWork.value);
  const bool many = blocks >= static_cast<std::uint64_t>(sampling::kWorthSurvey);
  const std::uint64_t longest = many ? static_cast<std::uint64_t>(sampling::kLongestBlock) : budget;
  const std::uint64_t typical = sampling::typical_block(context, longest);
  const double about = static_cast<double>(typical) * static_cast<double>(blocks);
  if (!asked && about < sampling::kExactWork / 2) return result;
  if (typical >= longest) {
    return because(fmt::format("a block {}executes {} million warp instructions or more",
                               isa::spin_loops(*context.program).empty() ? "" : "waits for others, or ",
                               longest / 1'000'000));
  }
  const sm::StaticProgram program(shape.program, machine.spec());
  result.survey = sampling::survey(context, program, machine.spec(), budget);
  const sampling::Survey& known = result.survey;
  if (!known.possible) return because(known.obstacle);
  if (!asked && known.instructions < sampling::kExactWork) return result;
  result.on_any_chip = false;
  const auto wave = static_cast<double>(machine.resident_blocks(shape));
  const double waves = static_cast<double>(blocks) / wave;
  const bool long_waves = known.instructions / waves >= sampling::kWaveWork;
  // Blocks that all run at once have no later waves: their rate speaks for the rest of them, unless some end long before others.
  const bool at_once =
      waves <= 1 && known.instructions >= sampling::kWaveWork && known.spread <= sampling::kEvenSpread;
  if (!at_once && (waves < sampling::kFewestWaves || long_waves) &&
      sampling::cost_of(known) < sampling::kPatientWork) {
    return because(
        asked || known.instructions >= sampling::kExactWork
            ? fmt::format("its {:.1f} waves of blocks are too few or too long to leave some out", waves)
            : "");
  }
  if (known.dependent ||
      (!emulate::blocks_are_independent(*context.program) && known.spread > sampling::kDependentSpread)) {
    return because("what a block does depends on what others did");
  }
  result.sampled = true;
  return result;
}

Outcome run_sampled(const emulate::LaunchContext& context, const Launch& shape, Machine& machine,
                    const LaunchRun& run, const sampling::Survey& survey) {
  const spec::GpuSpec& spec = machine.spec();
  const std::uint64_t blocks = shape.grid.count(), resident = machine.resident_blocks(shape);
  const std::uint64_t wave = std::min(resident, blocks);
  sampling::MonitoredLaunch monitored = sampling::monitored(survey, spec, blocks, resident);
  monitored.look_from = run.look_from;
  sampling::ConvergenceMonitor monitor(monitored);
  Blocks source(context, resident, run.threads);
  sampling::Gap gap{.blocks = blocks};
  bool decided = false, stopped = false;
  RunOptions options = run;
  options.watch_interval = 500;
  options.watch = [&](const gpu::Snapshot& snapshot) -> gpu::Verdict {
    if (decided || !monitor.converged(snapshot)) return {};
    decided = true;
    if (!monitor.steady_rate()->by_blocks) {
      stopped = true;
      return {.stop = true};
    }
    gap.first = snapshot.placed;
    gap.count = monitor.blocks_to_skip(snapshot);
    source.skip(gap.count);
    return {.skip = gap.count};
  };
  Outcome outcome = machine.run(shape, source.source(), options);
  if (!stopped && gap.count == 0) {
    outcome.estimate.note = "its rates did not settle before it ended";
    return outcome;
  }
  sampling::SteadyRate rate = *monitor.steady_rate();
  const Cycle simulated = outcome.counters.elapsed;
  sampling::TailEstimate end;
  if (stopped) {
    const sampling::BlockQueue queue{.blocks = blocks,
                                     .sms = spec.sm.count,
                                     .per_sm = outcome.occupancy.blocks,
                                     .work = sampling::work_along_grid(survey, blocks)};
    if (std::optional<LaterWaves> later = later_waves(context, shape, machine, run.threads, survey)) {
      end = sampling::first_and_later(survey, rate, later->rate, queue, spec.launch);
      rate = later->rate;
      outcome.counters = std::move(later->counters);
    } else {
      end = sampling::within_wave(survey, rate, simulated, queue, spec.launch);
    }
  } else {
    end = sampling::after_gap(survey, rate, gap, simulated, wave);
  }
  outcome.estimate.sampled = true;
  outcome.estimate.cycles_low = end.low;
  outcome.estimate.cycles_high = end.high;
  outcome.estimate.simulated = static_cast<double>(outcome.counters.inst_executed) / survey.instructions;
  const sm::StaticProgram program(shape.program, spec);
  outcome.counters = sampling::extrapolate(
      outcome.counters, survey, rate, program,
      spec.l2.dirty_fraction * static_cast<double>(spec.l2.bytes) / kSectorBytes,
      static_cast<Cycle>(std::llround(end.cycles)), static_cast<Cycle>(std::llround(end.idle)));
  if (run.complete) source.finish();
  return outcome;
}

}  // namespace foretrace::engine
