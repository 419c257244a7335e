// foretrace simulate: predict from a trace, on any chip that runs the same machine code.

#include <optional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/kernel_options.h"
#include "sim/app/make_prediction.h"
#include "sim/app/options.h"
#include "sim/engine/ideal.h"
#include "sim/engine/sources.h"
#include "sim/report/first_warps.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

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
  std::string timeline;
  for (const Variant& variant : chips) {
    jobs.push_back([&](const JobContext& context) {
      trace::TraceReader reader(file);
      const trace::LaunchInfo& launch = reader.launch();
      const auto spec = std::make_shared<const spec::GpuSpec>(variant.chip.spec);
      engine::Machine machine(spec);
      engine::RunOptions run;
      run.threads = context.threads;
      const std::string what = reader.program()->kernel + " on " + spec->name;
      run.progress = [&](std::uint64_t done, Cycle) {
        context.progress->show(what, done, launch.grid.count());
      };
      std::optional<report::FirstWarps> warps;
      if (!output.html.empty() && &variant == &chips.front()) run.timeline = warps.emplace().timeline();
      engine::Outcome outcome = engine::run_traced(file, reader, machine, run);
      if (warps) timeline = warps->json(spec->name, reader.program());
      std::vector<report::Prediction> predictions;
      predictions.push_back(
          make_prediction(variant, reader.program(), {launch, launch.name, false}, std::move(outcome)));
      if (gains) {
        context.progress->show("limits of " + what, 0, engine::kIdeals);
        engine::RunOptions again;
        again.threads = context.threads;
        predictions.back().gains = engine::gains(file, *spec, engine::shape_of(reader), again);
      }
      return predictions;
    });
  }
  const std::vector<report::Prediction> predictions = run_jobs(jobs, threads);
  write_results(predictions, output, timeline);
  return 0;
}

}  // namespace foretrace::app
