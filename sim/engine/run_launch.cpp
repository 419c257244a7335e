#include "sim/engine/run_launch.h"

#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/engine/sampled_launch.h"
#include "sim/engine/sources.h"

namespace foretrace::engine {

namespace {

emulate::LaunchContext launched(emulate::LaunchContext context, const Machine& machine,
                                const LaunchRun& run) {
  on_chip(context, machine.spec());
  context.results_unused = !run.complete;
  context.stop = run.stop;
  return context;
}

bool has_to_be_exact(const LaunchRun& run) {
  return run.accuracy == Accuracy::exact || run.writer != nullptr;
}

/// Whole blocks, executed ahead of the cycle model by a thread of their own.
Outcome run_exactly(const emulate::LaunchContext& context, const Launch& shape, Machine& machine,
                    const LaunchRun& run) {
  const emulate::Emulator emulator(context);
  EmulatedBlocks source(emulator, machine.resident_blocks(shape), run.threads, run.writer, run.share);
  if (run.keep == nullptr) return machine.run(shape, source, run);
  KeepingBlocks keeping(source, *run.keep);
  return machine.run(shape, keeping, run);
}

Outcome simulated_exactly(Outcome outcome, const std::string& why) {
  if (why.empty()) return outcome;
  std::string& note = outcome.estimate.note;
  note = fmt::format("simulated exactly: {}{}{}", why, note.empty() ? "" : "; ", note);
  return outcome;
}

/// A part, or all where the rates do not settle.
Outcome sampled(const emulate::LaunchContext& context, const Launch& shape, Machine& machine,
                const LaunchRun& run, const sampling::Survey& survey) {
  Outcome outcome = run_sampled(context, shape, machine, run, survey);
  if (outcome.estimate.sampled) return outcome;
  std::string why = std::exchange(outcome.estimate.note, "");
  return simulated_exactly(std::move(outcome), run.accuracy == Accuracy::sampled ? why : "");
}

/// A launch executed because another's records do not suffice.
class OwnBlocks final : public work::BlockSource {
 public:
  OwnBlocks(const emulate::LaunchContext& context, std::uint64_t resident, int threads, std::uint64_t skipped)
      : context_(context), emulator_(context_), blocks_(emulator_, resident, threads, nullptr) {
    blocks_.skip(skipped);
  }
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  const emulate::LaunchContext context_;
  const emulate::Emulator emulator_;
  EmulatedBlocks blocks_;
};

std::shared_ptr<const work::BlockRecord> OwnBlocks::next() { return blocks_.next(); }

/// Whole blocks as the reader has them. `own`: the launch as this chip executes it, if it has to.
Outcome take_exactly(const std::function<emulate::LaunchContext()>& own, const Launch& shape,
                     Machine& machine, const LaunchRun& run, SharedReader& reader) {
  const std::uint64_t resident = machine.resident_blocks(shape);
  TakenBlocks taken(reader, shape.grid.count(), resident, [&](std::uint64_t skipped) {
    return std::make_unique<OwnBlocks>(own(), resident, run.threads, skipped);
  });
  if (run.writer == nullptr) return machine.run(shape, taken, run);
  WritingBlocks writing(taken, *run.writer);
  return machine.run(shape, writing, run);
}

}  // namespace

Accuracy parse_accuracy(const std::string& word, const std::string& where) {
  if (word == "auto") return Accuracy::automatic;
  if (word == "sampled" || word == "fast") return Accuracy::sampled;
  if (word == "exact") return Accuracy::exact;
  throw InputError(fmt::format("{} {}: expected auto, sampled (or fast) or exact", where, word));
}

void on_chip(emulate::LaunchContext& context, const spec::GpuSpec& spec) {
  context.shared_unit = spec.limits.shared_unit;
  context.shared_reserved = spec.limits.shared_reserved;
}

Outcome run_launch(const emulate::LaunchContext& bound, const Launch& shape, Machine& machine,
                   const LaunchRun& run) {
  const SharedBlocks::Closing closing(run.share);
  check_launch(machine.spec(), shape);
  const emulate::LaunchContext context = launched(bound, machine, run);
  const std::uint64_t resident = machine.resident_blocks(shape);
  if (has_to_be_exact(run)) {
    if (run.share != nullptr) run.share->begin(resident, true, "");
    return run_exactly(context, shape, machine, run);
  }
  const Suitability suits = suitability(context, shape, machine, run.accuracy == Accuracy::sampled);
  if (!suits.sampled) {
    if (run.share != nullptr) run.share->begin(resident, suits.on_any_chip, suits.why_not);
    return simulated_exactly(run_exactly(context, shape, machine, run), suits.why_not);
  }
  if (run.share != nullptr) run.share->close();  // others need not wait
  return sampled(context, shape, machine, run, suits.survey);
}

Outcome run_shared(const std::function<emulate::LaunchContext()>& bind, const Launch& shape, Machine& machine,
                   const LaunchRun& run, SharedReader& reader) {
  check_launch(machine.spec(), shape);
  const auto own = [&] { return launched(bind(), machine, run); };
  if (has_to_be_exact(run)) return take_exactly(own, shape, machine, run, reader);
  if (const std::optional<std::string> why = reader.exact_everywhere())
    return simulated_exactly(take_exactly(own, shape, machine, run, reader), *why);
  const emulate::LaunchContext context = own();
  const Suitability suits = suitability(context, shape, machine, run.accuracy == Accuracy::sampled);
  if (suits.sampled) return sampled(context, shape, machine, run, suits.survey);
  return simulated_exactly(run.complete ? run_exactly(context, shape, machine,
                                                      run)  // it was bound: memory is to be as it leaves it
                                        : take_exactly([&] { return context; }, shape, machine, run, reader),
                           suits.why_not);
}

}  // namespace foretrace::engine
