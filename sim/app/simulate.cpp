// foretrace simulate: predict from a trace, on any chip that runs the same machine code.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/kernel_options.h"
#include "sim/app/make_prediction.h"
#include "sim/app/options.h"
#include "sim/app/page_timeline.h"
#include "sim/engine/ideal.h"
#include "sim/engine/sources.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

namespace {

/// The reader names its file; what replays a record does not know it.
std::string in_file(const std::string& file, const std::string& what) {
  return what.find(file) == std::string::npos ? fmt::format("trace {}: {}", file, what) : what;
}

}  // namespace

int simulate(const Words& words) {
  ChipOptions chosen;
  OutputOptions output;
  int threads = 0;
  bool gains = false;
  options::options_description known("options");
  chosen.add_to(known);
  known.add_options()("threads", options::value(&threads)->value_name("N"),
                      "host threads (default: all); any number gives the same result")(
      "gains", options::bool_switch(&gains), kGainsHelp);
  output.add_to(known);
  output.add_page_to(known);
  options::variables_map values;
  if (!parse(words, "simulate FILE.trace --arch CHIP[,CHIP...] [OPTIONS]", known, "file", values)) return 0;
  const std::string file = one_file(values, "a trace, as 'foretrace predict --trace' writes");
  const std::vector<Variant> chips = variants(chosen);
  std::vector<Job> jobs;
  for (const Variant& variant : chips) {
    jobs.push_back([&](const JobContext& context) {
      trace::TraceReader reader(file);
      const trace::LaunchInfo& launch = reader.launch();
      const auto spec = std::make_shared<const spec::GpuSpec>(variant.chip.spec);
      engine::Machine machine(spec);
      engine::TracedBlocks source(reader);
      engine::RunOptions run;
      run.threads = context.threads;
      const std::string what = reader.program()->kernel + " on " + spec->name;
      run.progress = [&](std::uint64_t done, Cycle) {
        context.progress->show(what, done, launch.grid.count());
      };
      engine::Outcome outcome;
      try {
        outcome = machine.run(engine::shape_of(reader), source, run);
      } catch (const InputError& error) { throw InputError(in_file(file, error.what())); }
      work::BlockRecord none;
      if (reader.next(none))
        throw InputError(fmt::format("{}: more blocks than the grid of {}", file, launch.grid.count()));
      std::vector<report::Prediction> predictions;
      predictions.push_back(make_prediction(
          variant, spec, reader.program(),
          {launch.name, launch.grid, launch.block, launch.cluster, launch.dynamic_shared, false},
          std::move(outcome)));
      if (gains) {
        context.progress->show("limits of " + what, 0, engine::kIdeals);
        predictions.back().gains = engine::gains(file, *spec, engine::shape_of(reader), context.threads);
      }
      return predictions;
    });
  }
  const std::vector<report::Prediction> predictions = run_jobs(jobs, threads);
  write_results(
      predictions, output,
      output.html.empty() ? "" : page_timeline(file, predictions.front().gpu, std::max(1, threads)));
  return 0;
}

}  // namespace foretrace::app
