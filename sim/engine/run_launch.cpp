#include "sim/engine/run_launch.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "model/isa/waiting_loops.h"
#include "model/units/error.h"
#include "sim/engine/ending.h"
#include "sim/engine/extrapolate.h"
#include "sim/engine/settle.h"
#include "sim/engine/sources.h"
#include "sim/engine/survey.h"

namespace foretrace::engine {

namespace {

constexpr std::uint64_t kSurveyWork = 12'000'000;  // warp instructions of the survey, about
// A run with fewer blocks an SM ends at this cost, or after so many of its chip-fulls.
constexpr double kProbeCost = 5e6, kProbeFulls = 4;
constexpr double kUnknownSharing = 0.5;
// Chip-fulls of blocks below which there is hardly a steady state, only a ramp and a tail: simulated to the end up to so many warp
// instructions.
constexpr double kFewestFulls = 3, kPatientWork = 150e6;
constexpr double kFewFulls = 30;  // chip-fulls of blocks below which the tail is looked at closely
// Blocks that take values back from atomics and differ by more than this in their work: what one does depends on what others did.
constexpr double kTellsOthers = 0.01;

/// Exactly: whole blocks, executed ahead of the cycle model by a thread of their own.
Outcome run_exactly(const emulate::LaunchContext& context, const LaunchShape& shape, Machine& machine,
                    const LaunchRun& run) {
  const emulate::Emulator emulator(context);
  EmulatedBlocks source(emulator, machine.resident_blocks(shape), run.writer);
  RunOptions options;
  options.warm = run.warm;
  options.threads = run.threads;
  options.progress = run.progress;
  return machine.run(shape, source, options);
}

/// The launch's blocks for the cycle model, in the form that suits the kernel.
class Blocks {
 public:
  Blocks(const emulate::LaunchContext& context, std::uint64_t resident) : emulator_(context) {
    if (emulate::blocks_are_independent(*context.program) && context.cluster.count() == 1) {
      streamed_.emplace(emulator_);
    } else {
      emulated_.emplace(emulator_, resident, nullptr);
    }
  }
  work::BlockSource& source() { return streamed_ ? static_cast<work::BlockSource&>(*streamed_) : *emulated_; }
  void finish() { streamed_ ? streamed_->finish() : emulated_->finish(); }

 private:
  emulate::Emulator emulator_;
  std::optional<StreamedBlocks> streamed_;
  std::optional<EmulatedBlocks> emulated_;
};

/// How much an SM's rate depends on the blocks it holds (TailSetup::shared): a run with half as many as fit, beside the pace with all.
double shared_by_blocks(const emulate::LaunchContext& context, const LaunchShape& shape,
                        const spec::GpuSpec& spec, std::shared_ptr<const spec::GpuSpec> chip,
                        const LaunchRun& run, std::uint32_t per_sm, const Pace& full) {
  if (per_sm < 2 || !emulate::blocks_are_independent(*context.program)) return kUnknownSharing;
  const std::uint32_t half = per_sm / 2;
  const auto fork = context.memory->fork();
  emulate::LaunchContext own = context;
  own.memory = fork.get();
  own.print = own.report = [](std::string_view) {};
  Machine machine(std::move(chip));
  const emulate::Emulator emulator(own);
  StreamedBlocks source(emulator);
  const double chip_full = static_cast<double>(half) * spec.sm.count;
  std::vector<gpu::Moment> moments;
  RunOptions options;
  options.threads = 1;  // the fork is for one thread
  options.warm = run.warm;
  options.blocks_per_sm = half;
  options.watch_interval = 100;
  options.watch = [&](const gpu::Moment& moment) {
    moments.push_back(moment);
    return cost_of(moment) < kProbeCost && static_cast<double>(moment.ended) < kProbeFulls * chip_full;
  };
  machine.run(shape, source, options);
  if (moments.empty()) return kUnknownSharing;
  const gpu::Moment& last = moments.back();
  // From when a chip-full of these had ended, or half of what was simulated was done.
  const gpu::Moment& ramped = *std::find_if(moments.begin(), moments.end(), [&](const gpu::Moment& moment) {
    return static_cast<double>(moment.ended) >= chip_full || 2 * moment.instructions >= last.instructions;
  });
  if (ramped.now == last.now || ramped.instructions == last.instructions) return kUnknownSharing;
  const double rate = static_cast<double>(last.instructions - ramped.instructions) /
                      static_cast<double>(last.now - ramped.now);
  // rate(half) / rate(full) = (half / full)^(1 - shared)
  const double slower = std::log(rate / full.instructions) / std::log(static_cast<double>(half) / per_sm);
  return std::clamp(1 - slower, 0.0, 1.0);
}

Outcome with_note(Outcome outcome, std::string note) {
  std::string& own = outcome.estimate.note;
  own = own.empty() || note.empty() ? own + note : note + "; " + own;
  return outcome;
}

}  // namespace

Accuracy parse_accuracy(const std::string& word, const std::string& where) {
  if (word == "auto") return Accuracy::automatic;
  if (word == "fast") return Accuracy::fast;
  if (word == "exact") return Accuracy::exact;
  throw InputError(fmt::format("{} {}: expected auto, fast or exact", where, word));
}

Outcome run_launch(const emulate::LaunchContext& context, const LaunchShape& shape, Machine& machine,
                   const LaunchRun& run) {
  check_launch(machine.spec(), shape);
  const bool asked = run.accuracy == Accuracy::fast;
  if (run.accuracy == Accuracy::exact || run.writer != nullptr)
    return run_exactly(context, shape, machine, run);
  if (context.cluster.count() > 1) {
    return with_note(run_exactly(context, shape, machine, run),
                     asked ? "simulated exactly: blocks of a cluster run together" : "");
  }
  const std::uint64_t blocks = shape.grid.count();
  const std::uint64_t typical = typical_block(context, kSurveyWork);
  if (!asked && typical * blocks < kExactWork / 2) return run_exactly(context, shape, machine, run);
  if (typical >= kSurveyWork) {
    return with_note(run_exactly(context, shape, machine, run),
                     fmt::format("simulated exactly: a block {}executes {} million warp instructions or more",
                                 isa::waiting_loops(*context.program).empty() ? "" : "waits for others, or ",
                                 kSurveyWork / 1'000'000));
  }
  const sm::StaticProgram program(shape.program, machine.spec());
  const Survey known = survey(context, program, machine.spec(), kSurveyWork);
  if (!known.possible) {
    return with_note(run_exactly(context, shape, machine, run),
                     fmt::format("simulated exactly: {}", known.obstacle));
  }
  if (!asked && known.instructions < static_cast<double>(kExactWork))
    return run_exactly(context, shape, machine, run);

  const spec::GpuSpec& spec = machine.spec();
  const std::uint64_t resident = machine.resident_blocks(shape);
  const bool few = static_cast<double>(blocks) < kFewestFulls * static_cast<double>(resident);
  if (few && known.instructions < kPatientWork) {
    return with_note(run_exactly(context, shape, machine, run),
                     asked ? "simulated exactly: fewer blocks than three times what the chip holds" : "");
  }
  if (known.dependent ||
      (!emulate::blocks_are_independent(*context.program) && known.spread > kTellsOthers)) {
    return with_note(run_exactly(context, shape, machine, run),
                     "simulated exactly: what a block does depends on what others did");
  }
  const double dram_bytes = static_cast<double>(spec.dram.channels) * spec.dram.channel_bytes *
                            static_cast<double>(spec.clock.dram) / static_cast<double>(spec.clock.sm);
  Watch watch({.survey = &known,
               .blocks = blocks,
               .chip_full = std::min(resident, blocks),
               .dram_bytes = dram_bytes,
               .l2_bytes = static_cast<double>(spec.l2.bytes),
               .issue_slots = static_cast<double>(spec.sm.count) * kSubCores,
               .look_from = run.look_from});
  Blocks source(context, resident);
  gpu::Moment stopped;
  RunOptions options;
  options.warm = run.warm;
  options.threads = run.threads;
  options.progress = run.progress;
  options.watch_interval = 500;
  options.watch = [&](const gpu::Moment& moment) {
    stopped = moment;
    return watch(moment);
  };
  Outcome outcome = machine.run(shape, source.source(), options);
  if (!watch.settled()) {
    return with_note(std::move(outcome),
                     asked ? "simulated exactly: its rates did not settle before it ended" : "");
  }
  const Pace& pace = *watch.settled();
  TailSetup tail;
  tail.blocks = blocks;
  tail.sms = spec.sm.count;
  tail.per_sm = outcome.occupancy.blocks;
  tail.shared = kUnknownSharing;
  tail.work = work_along_grid(known, blocks);
  if (static_cast<double>(blocks) < kFewFulls * static_cast<double>(resident)) {
    tail.shared = shared_by_blocks(context, shape, spec, machine.shared_spec(), run, tail.per_sm, pace);
  }
  const Ending end = ending(known, watch.progress(), pace, tail, spec.launch);
  const auto elapsed = static_cast<Cycle>(std::llround(end.cycles));
  outcome.estimate.sampled = true;
  outcome.estimate.cycles_low = end.low;
  outcome.estimate.cycles_high = end.high;
  outcome.estimate.simulated = static_cast<double>(outcome.counters.inst_executed) / known.instructions;
  outcome.counters = extrapolate(outcome.counters, known, pace, program, elapsed,
                                 static_cast<Cycle>(std::llround(end.idle)));
  if (run.complete) source.finish();
  return outcome;
}

}  // namespace foretrace::engine
