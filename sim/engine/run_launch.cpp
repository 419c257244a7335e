#include "sim/engine/run_launch.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/engine/extrapolate.h"
#include "sim/engine/progress.h"
#include "sim/engine/sources.h"
#include "sim/engine/survey.h"
#include "sim/engine/tail.h"

namespace foretrace::engine {

namespace {

constexpr std::uint64_t kSurveyWork = 12'000'000;  // warp instructions of the survey, about
// What simulating costs: warp instructions, and requests to L2 at the price of some. Before the rates are looked at: a share of the work
// within bounds; then from look to look. After a long time a launch that is nearly settled will do.
constexpr double kRequestCost = 1.5, kFirstShare = 0.2, kFirstLeast = 2e6, kFirstMost = 12e6, kNextLook = 1.15, kLongLook = 30e6;
// Beginnings and ends of blocks are part of a rate: so many chip-fulls are simulated where that takes no more warp instructions than this.
constexpr double kFulls = 5, kAffordable = 60e6;
constexpr double kMostError = 0.008, kMostDrift = 0.025;  // of a rate that has settled: standard error, change from half to half
// L2 is full when it has taken up so many times its size; it begins to write back at this share; DRAM matters from this share of its rate.
constexpr double kFilled = 1.3, kFills = 0.4, kDramMatters = 0.3;
constexpr double kWorthLeaving = 0.15;             // share of the work; less is simulated to the end
constexpr double kProbeWork = 3e6;                 // warp instructions of a run with fewer blocks an SM
// Chip-fulls of blocks below which there is hardly a steady state, only a ramp and a tail: simulated to the end up to so many warp
// instructions, and else estimated with that share of the cycles as further doubt.
constexpr double kFewestFulls = 3, kPatientWork = 150e6, kFewFullsDoubt = 0.25;
constexpr double kFewFulls = 30;                   // chip-fulls of blocks below which the tail is looked at closely

/// Decides when to stop.
class Watch {
 public:
  Watch(const Survey& survey, std::uint64_t blocks, std::uint64_t chip_full, double dram_bytes, std::uint64_t l2_bytes, double look_from)
      : work_(survey.instructions), full_work_(survey.instructions / static_cast<double>(blocks) * static_cast<double>(chip_full)), dram_bytes_(dram_bytes), l2_bytes_(static_cast<double>(l2_bytes)), progress_(chip_full, dram_bytes),
        next_look_(look_from > 0 ? look_from : std::clamp(kFirstShare * survey.instructions, kFirstLeast, kFirstMost)) {}
  bool operator()(const gpu::Moment& moment) {
    progress_.note(moment);
    const auto done = static_cast<double>(moment.instructions);
    const double cost = done + kRequestCost * static_cast<double>(moment.memory.tex_requests);
    if (cost < next_look_) return true;
    next_look_ = cost * kNextLook;
    if (done > (1 - kWorthLeaving) * work_) return true;
    const Pace pace = progress_.pace();
    if (!pace.known || (!pace.by_blocks && kFulls * full_work_ < kAffordable)) return true;
    const double slack = cost > kLongLook ? 2 : 1;
    if (pace.error > kMostError * slack || std::abs(pace.drift) > kMostDrift * slack || std::abs(pace.memory_drift) > kMostDrift * slack) {
      return true;
    }
    if (l2_will_change(pace, done)) return true;
    pace_ = pace;
    return false;
  }
  const std::optional<Pace>& settled() const { return pace_; }

 private:
  /// Bytes that L2 has taken up: read from DRAM, or written and sent there or still dirty.
  static double taken_up(const gpu::Moment& moment) {
    return static_cast<double>(moment.memory.dram_bytes_read + moment.memory.dram_bytes_write + moment.memory.dirty_sectors_left * kSectorBytes);
  }
  /// While L2 fills, what is written stays there: a rate that DRAM bounds falls when it is full. True where that is still to come and
  /// would matter.
  bool l2_will_change(const Pace& pace, double done) const {
    const double now = taken_up(pace.to), grew = now - taken_up(pace.from);
    if (now > kFilled * l2_bytes_) return false;
    const auto took = static_cast<double>(pace.to.now - pace.from.now), did = static_cast<double>(pace.to.instructions - pace.from.instructions);
    const bool ever = now + grew / did * (work_ - done) > kFills * l2_bytes_;
    return ever && grew / took > kDramMatters * dram_bytes_;
  }

  double work_, full_work_, dram_bytes_, l2_bytes_;
  Progress progress_;
  double next_look_;
  std::optional<Pace> pace_;
};

/// Exactly: whole blocks, executed ahead of the cycle model by a thread of their own.
Outcome run_exactly(const emulate::LaunchContext& context, const LaunchShape& shape, Machine& machine, const LaunchRun& run) {
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
double shared_by_blocks(const emulate::LaunchContext& context, const LaunchShape& shape, const spec::GpuSpec& spec,
                        std::shared_ptr<const spec::GpuSpec> chip, const LaunchRun& run, std::uint32_t per_sm, const Pace& full) {
  if (per_sm < 2) return 1;
  const std::uint32_t half = per_sm / 2;
  const auto fork = context.memory->fork();
  emulate::LaunchContext own = context;
  own.memory = fork.get();
  own.print = own.report = [](std::string_view) {};
  Machine machine(std::move(chip));
  const emulate::Emulator emulator(own);
  if (!emulate::blocks_are_independent(*context.program)) return 1;
  StreamedBlocks source(emulator);
  Progress progress(std::uint64_t{half} * spec.sm.count, 1);
  RunOptions options;
  options.threads = 1;  // the fork is for one thread
  options.warm = run.warm;
  options.blocks_per_sm = half;
  options.watch = [&](const gpu::Moment& moment) {
    progress.note(moment);
    return static_cast<double>(moment.instructions) < kProbeWork;
  };
  machine.run(shape, source, options);
  const Pace pace = progress.pace();
  if (!pace.known || pace.instructions <= 0) return 1;
  // rate(half) / rate(full) = (half / full)^(1 - shared)
  const double slower = std::log(pace.instructions / full.instructions) / std::log(static_cast<double>(half) / per_sm);
  return std::clamp(1 - slower, 0.0, 1.0);
}

/// Work of blocks along the grid, relative to their mean, where they differ.
std::vector<double> work_along_grid(const Survey& survey, std::uint64_t blocks) {
  if (survey.uniform || survey.sample.size() < 8) return {};
  constexpr std::size_t kPlaces = 4096;
  std::vector<double> work(std::min<std::size_t>(kPlaces, blocks));
  double sum = 0;
  std::size_t sample = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {  // the nearest block of the sample
    const double block = (static_cast<double>(i) + 0.5) / static_cast<double>(work.size()) * static_cast<double>(blocks);
    const auto distance = [&](std::size_t s) { return std::abs(static_cast<double>(survey.sample[s].block) - block); };
    while (sample + 1 < survey.sample.size() && distance(sample + 1) <= distance(sample)) ++sample;
    work[i] = static_cast<double>(survey.sample[sample].instructions);
    sum += work[i];
  }
  if (sum <= 0) return {};
  for (double& each : work) each *= static_cast<double>(work.size()) / sum;
  return work;
}

struct Ending {
  double cycles = 0;  ///< of the whole launch
  double low = 0, high = 0;
  double idle = 0;    ///< cycles at the end in which the mean SM has no block
};

/// The end of the launch from a settled simulation.
Ending ending(const Survey& survey, const Pace& pace, const gpu::Moment& stopped, Cycle first_end, TailSetup tail,
              const spec::GpuSpec& spec) {
  const double left = survey.instructions - static_cast<double>(stopped.instructions);
  const auto blocks = static_cast<double>(tail.blocks), full = static_cast<double>(tail.sms * tail.per_sm);
  const double mean_work = survey.instructions / blocks;
  // Blocks a cycle; where progress is instructions, by the mean block.
  const double block_rate = pace.by_blocks ? pace.rate : pace.rate / mean_work;
  const double steady = left / mean_work / block_rate;
  const double residence = full / block_rate;
  if (first_end != 0) tail.quickest = std::max(0.0, static_cast<double>(first_end) - spec.launch.start - spec.launch.block_start) / residence;
  tail.spread = 0.01;
  const double together = tail_beyond_work(tail) * residence;
  tail.spread = 0.08;
  const double apart = tail_beyond_work(tail) * residence;
  const double beyond = (together + apart) / 2;
  const double overhead = static_cast<double>(spec.launch.block_end + spec.launch.drain);
  Ending result;
  result.cycles = static_cast<double>(stopped.now) + steady + beyond + overhead;
  result.idle = overhead + beyond / 2;
  const double of_rate = std::hypot(2.2 * pace.error, 0.75 * pace.drift, 2 * survey.relative_error);
  const double doubt = std::hypot(steady * std::hypot(of_rate, 0.012), 0.75 * (together - apart), 0.3 * std::hypot(beyond, residence));
  result.low = std::max(static_cast<double>(stopped.now), result.cycles - doubt);
  result.high = result.cycles + doubt;
  return result;
}

Outcome with_note(Outcome outcome, std::string note) {
  outcome.estimate.note = std::move(note);
  return outcome;
}

}  // namespace

Accuracy parse_accuracy(const std::string& word, const std::string& where) {
  if (word == "auto") return Accuracy::automatic;
  if (word == "fast") return Accuracy::fast;
  if (word == "exact") return Accuracy::exact;
  throw InputError(fmt::format("{} {}: expected auto, fast or exact", where, word));
}

Outcome run_launch(const emulate::LaunchContext& context, const LaunchShape& shape, Machine& machine, const LaunchRun& run) {
  check_launch(machine.spec(), shape);
  const bool asked = run.accuracy == Accuracy::fast;
  if (run.accuracy == Accuracy::exact || run.writer != nullptr) return run_exactly(context, shape, machine, run);
  if (context.cluster.count() > 1) {
    return with_note(run_exactly(context, shape, machine, run), asked ? "simulated exactly: blocks of a cluster run together" : "");
  }
  const std::uint64_t blocks = shape.grid.count();
  const std::uint64_t typical = typical_block(context, kSurveyWork);
  if (!asked && typical * blocks < kExactWork / 2) return run_exactly(context, shape, machine, run);
  if (typical >= kSurveyWork) {
    return with_note(run_exactly(context, shape, machine, run),
                     fmt::format("simulated exactly: a block executes {} million warp instructions or more", kSurveyWork / 1'000'000));
  }
  const sm::StaticProgram program(shape.program, machine.spec());
  const Survey known = survey(context, program, machine.spec(), kSurveyWork);
  if (!known.possible) {
    return with_note(run_exactly(context, shape, machine, run), fmt::format("simulated exactly: {}", known.obstacle));
  }
  if (!asked && known.instructions < static_cast<double>(kExactWork)) return run_exactly(context, shape, machine, run);

  const spec::GpuSpec& spec = machine.spec();
  const std::uint64_t resident = machine.resident_blocks(shape);
  const bool few = static_cast<double>(blocks) < kFewestFulls * static_cast<double>(resident);
  if (few && known.instructions < kPatientWork) {
    return with_note(run_exactly(context, shape, machine, run),
                     asked ? "simulated exactly: fewer blocks than three times what the chip holds" : "");
  }
  const double dram_bytes = static_cast<double>(spec.dram.channels) * spec.dram.channel_bytes * static_cast<double>(spec.clock.dram) /
                            static_cast<double>(spec.clock.sm);
  Watch watch(known, blocks, std::min(resident, blocks), dram_bytes, spec.l2.bytes, run.look_from);
  Blocks source(context, resident);
  gpu::Moment stopped;
  Cycle first_end = 0;  // of a block, when the chip was still filling
  RunOptions options;
  options.warm = run.warm;
  options.threads = run.threads;
  options.progress = run.progress;
  options.watch_interval = 500;
  options.watch = [&](const gpu::Moment& moment) {
    stopped = moment;
    if (first_end == 0 && moment.ended != 0) first_end = moment.now;
    return watch(moment);
  };
  Outcome outcome = machine.run(shape, source.source(), options);
  if (!watch.settled()) {
    return with_note(std::move(outcome), asked ? "simulated exactly: its rates did not settle before it ended" : "");
  }
  const Pace& pace = *watch.settled();
  TailSetup tail;
  tail.blocks = blocks;
  tail.sms = spec.sm.count;
  tail.per_sm = outcome.occupancy.blocks;
  tail.work = work_along_grid(known, blocks);
  if (static_cast<double>(blocks) < kFewFulls * static_cast<double>(resident)) {
    tail.shared = shared_by_blocks(context, shape, spec, machine.shared_spec(), run, tail.per_sm, pace);
  }
  const Ending end = ending(known, pace, stopped, first_end, tail, spec);
  const auto elapsed = static_cast<Cycle>(std::llround(end.cycles));
  outcome.estimate.sampled = true;
  const double doubt = few ? kFewFullsDoubt * end.cycles : 0;
  outcome.estimate.cycles_low = end.low - doubt;
  outcome.estimate.cycles_high = end.high + doubt;
  outcome.estimate.simulated = static_cast<double>(outcome.counters.inst_executed) / known.instructions;
  outcome.counters = extrapolate(outcome.counters, known, pace, program, elapsed, static_cast<Cycle>(std::llround(end.idle)));
  if (run.complete) source.finish();
  return outcome;
}

}  // namespace foretrace::engine
