#include "sim/engine/run_launch.h"

#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/engine/sampled_launch.h"
#include "sim/engine/sources.h"

namespace foretrace::engine {

namespace {

/// Whole blocks, executed ahead of the cycle model by a thread of their own.
Outcome run_exactly(const emulate::LaunchContext& context, const LaunchShape& shape, Machine& machine,
                    const LaunchRun& run) {
  const emulate::Emulator emulator(context);
  EmulatedBlocks source(emulator, machine.resident_blocks(shape), run.writer);
  RunOptions options;
  options.warm = run.warm;
  options.threads = run.threads;
  options.progress = run.progress;
  options.timeline = run.timeline;
  if (run.keep == nullptr) return machine.run(shape, source, options);
  KeepingBlocks keeping(source, *run.keep);
  return machine.run(shape, keeping, options);
}

Outcome simulated_exactly(Outcome outcome, const std::string& why) {
  if (why.empty()) return outcome;
  std::string& note = outcome.estimate.note;
  note = fmt::format("simulated exactly: {}{}{}", why, note.empty() ? "" : "; ", note);
  return outcome;
}

}  // namespace

Accuracy parse_accuracy(const std::string& word, const std::string& where) {
  if (word == "auto") return Accuracy::automatic;
  if (word == "sampled" || word == "fast") return Accuracy::sampled;
  if (word == "exact") return Accuracy::exact;
  throw InputError(fmt::format("{} {}: expected auto, sampled (or fast) or exact", where, word));
}

Outcome run_launch(const emulate::LaunchContext& bound, const LaunchShape& shape, Machine& machine,
                   const LaunchRun& run) {
  check_launch(machine.spec(), shape);
  emulate::LaunchContext context = bound;
  context.results_unused = !run.complete;
  if (run.accuracy == Accuracy::exact || run.writer != nullptr || run.timeline != nullptr)
    return run_exactly(context, shape, machine, run);
  const bool asked = run.accuracy == Accuracy::sampled;
  const Suitability suits = suitability(context, shape, machine, asked);
  if (!suits.sampled) return simulated_exactly(run_exactly(context, shape, machine, run), suits.why_not);
  Outcome outcome = run_sampled(context, shape, machine, run, suits.survey);
  if (outcome.estimate.sampled) return outcome;
  std::string why = std::exchange(outcome.estimate.note, "");
  return simulated_exactly(std::move(outcome), asked ? why : "");
}

}  // namespace foretrace::engine
