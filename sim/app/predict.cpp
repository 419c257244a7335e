// foretrace predict: from source to report.
//
// Each chip runs all launches in their order, so that launches that share memory, and caches when --warm is given, see what the ones
// before left; chips of the same machine code share their execution (chip_runs.h).

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/chip_runs.h"
#include "sim/app/kernel_options.h"
#include "sim/app/launch_options.h"
#include "sim/app/options.h"
#include "sim/app/run_launch.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/load.h"

namespace foretrace::app {

namespace {

constexpr const char* kPredictUsage =
    "predict FILE.cu|FILE.cubin|LAUNCHES.toml [--kernel NAME] --arch CHIP[,CHIP...] [OPTIONS]";

struct PredictOptions {
  ChipOptions chips;
  KernelOptions kernel;
  LaunchOptions launch;
  OutputOptions output;
  ChipRunChoices run;
  int threads = 0;
  std::string accuracy_word = "auto";
};

std::vector<Planned> plan(const std::vector<std::string>& files, const PredictOptions& chosen) {
  std::vector<Planned> result;
  for (const std::string& file : files) {
    if (std::filesystem::path(file).extension() != ".toml") {
      if (chosen.kernel.regex.empty()) {
        result.push_back({chosen.launch.description(file, chosen.kernel), true});
        continue;
      }
      KernelOptions one = chosen.kernel;
      one.name.clear();
      const std::vector<Variant> chips = variants(chosen.chips);
      const auto names = frontend::list_kernels(one.request(file, chips.front().chip.spec.sm_number),
                                                frontend::find_toolchain());
      one.regex.clear();
      std::size_t found = 0;
      for (const std::string& name : names) {
        if (!chosen.kernel.matches(name)) continue;
        one.name = name;
        result.push_back({chosen.launch.description(file, one), true});
        ++found;
      }
      if (found == 0)
        throw InputError(
            fmt::format("{}: no kernel matches '{}'; it has {}", file, chosen.kernel.regex, listed(names)));
      continue;
    }
    const std::vector<frontend::LaunchDescription> launches = frontend::load_launch_file(file);
    std::map<std::string, bool> wanted;
    for (const std::size_t i : chosen.kernel.among(launches, file)) {
      wanted[launches[i].name] = true;
      for (const auto* before : frontend::launches_before(launches, i)) wanted.emplace(before->name, false);
    }
    for (const auto& launch : launches) {
      if (const auto it = wanted.find(launch.name); it != wanted.end())
        result.push_back({launch, it->second});
    }
  }
  return result;
}

}  // namespace

int predict(const Words& words) {
  PredictOptions chosen;
  options::options_description known("options");
  chosen.kernel.add_to(known);
  chosen.launch.add_to(known);
  chosen.launch.add_dumps_to(known);
  chosen.chips.add_to(known);
  known.add_options()("warm", options::bool_switch(&chosen.run.warm),
                      "caches start as the launch before left them (default: cold, as ncu flushes them)")(
      "gains", options::bool_switch(&chosen.run.gains), kGainsHelp)(
      "trace", options::value(&chosen.run.trace)->value_name("FILE"),
      "record the launch: a file for one chip, a directory for several")(
      "max-instructions", count(&chosen.run.max_instructions),
      "stop a block that executes more warp instructions than this")(
      "accuracy",
      options::value(&chosen.accuracy_word)->value_name("WHICH")->default_value(chosen.accuracy_word),
      "exact: simulate every instruction; sampled (or fast): a part, and estimate the rest with an interval; "
      "auto: sampled for large launches only")(
      "threads", options::value(&chosen.threads)->value_name("N"),
      "host threads (default: all); any number gives the same result");
  chosen.output.add_to(known);
  chosen.output.add_page_to(known);
  options::variables_map values;
  if (!parse(words, kPredictUsage, known, "file", values)) return 0;
  if (!values.count("file"))
    throw InputError(fmt::format("no file given; expected: foretrace {}", kPredictUsage));

  const auto& files = values["file"].as<std::vector<std::string>>();
  if (std::all_of(files.begin(), files.end(),
                  [](const std::string& file) { return std::filesystem::path(file).extension() == ".toml"; }))
    refuse_given(values, kLaunchWords, kOfLaunchFiles);
  chosen.run.accuracy = engine::parse_accuracy(chosen.accuracy_word, "--accuracy");
  const std::vector<Variant> chips = variants(chosen.chips);
  if (chosen.run.gains && chosen.run.warm)
    throw InputError(
        "--gains with --warm: launches are simulated again with cold caches; expected one of the two");
  if (chosen.run.gains) check_gains(chosen.run.accuracy);
  const std::vector<Planned> launches = plan(files, chosen);
  const auto reported = static_cast<std::size_t>(std::count_if(
      launches.begin(), launches.end(), [](const Planned& planned) { return planned.reported; }));
  chosen.run.many_traces = chips.size() * reported > 1;
  if (!chosen.run.trace.empty() && chosen.run.many_traces &&
      !std::filesystem::is_directory(chosen.run.trace)) {
    throw InputError(fmt::format("--trace {}: {} traces asked for; expected an existing directory",
                                 chosen.run.trace, chips.size() * reported));
  }
  std::string timeline;
  if (!chosen.output.html.empty()) chosen.run.first_warps = &timeline;
  const auto predictions = run_on_chips(chips, launches, chosen.run, chosen.threads);
  write_results(predictions, chosen.output, timeline);
  return 0;
}

}  // namespace foretrace::app
