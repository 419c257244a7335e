// foretrace predict: from source to report.
//
// A job is one chip in one variant; it runs all launches in their order, so that launches that share memory, and caches when --warm is
// given, see what the ones before left.

#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/kernel_options.h"
#include "sim/app/launch_options.h"
#include "sim/app/make_prediction.h"
#include "sim/app/options.h"
#include "sim/app/run_launch.h"
#include "sim/app/scratch_file.h"
#include "sim/engine/ideal.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/load.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

constexpr const char* kPredictUsage =
    "predict FILE.cu|FILE.cubin|LAUNCHES.toml [--kernel NAME] --arch CHIP[,CHIP...] [OPTIONS]";

struct PredictOptions {
  ChipOptions chips;
  KernelOptions kernel;
  LaunchOptions launch;
  OutputOptions output;
  std::string trace;
  std::uint64_t max_instructions = 0;
  int threads = 0;
  bool warm = false;
  bool gains = false;
  std::string accuracy_word = "auto";
  engine::Accuracy accuracy = engine::Accuracy::automatic;
};

/// A launch and the launches of its file, for `after`.
struct Planned {
  frontend::LaunchDescription launch;
  bool reported = true;  ///< false: runs only because a reported one comes after it
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
      if (found == 0) throw InputError(fmt::format("{}: no kernel matches {}", file, chosen.kernel.regex));
      continue;
    }
    const std::vector<frontend::LaunchDescription> launches = frontend::load_launch_file(file);
    std::map<std::string, bool> wanted;
    std::size_t found = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (!chosen.kernel.matches(launches[i].kernel)) continue;
      ++found;
      wanted[launches[i].name] = true;
      for (const auto* before : frontend::launches_before(launches, i)) wanted.emplace(before->name, false);
    }
    if (found == 0) throw InputError(fmt::format("{}: no launch of the kernel asked for", file));
    for (const auto& launch : launches) {
      if (const auto it = wanted.find(launch.name); it != wanted.end())
        result.push_back({launch, it->second});
    }
  }
  return result;
}

/// Where the trace of a launch on a chip goes; empty: nowhere.
std::string trace_path(const std::string& trace, bool directory, const frontend::LaunchDescription& launch,
                       const Variant& variant) {
  if (trace.empty() || !directory) return trace;
  std::string name = launch.name.empty() ? launch.kernel : launch.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  }
  std::string chip = variant.chip.spec.name;
  for (const std::string& value : variant.overrides) chip += "_" + value;
  return (std::filesystem::path(trace) / fmt::format("{}.{}.trace", name, chip)).string();
}

class ChipJob {
 public:
  ChipJob(const Variant& variant, const std::vector<Planned>& launches, const PredictOptions& chosen,
          bool many_traces)
      : variant_(variant), launches_(launches), chosen_(chosen), many_traces_(many_traces),
        spec_(std::make_shared<spec::GpuSpec>(variant.chip.spec)), machine_(spec_) {}

  std::vector<report::Prediction> run(const JobContext& context) {
    const frontend::Toolchain toolchain = frontend::find_toolchain();
    std::vector<report::Prediction> results;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const Planned& planned = launches_[i];
      if (planned.launch.after.empty()) device_ = std::make_unique<engine::Device>();
      const bool followed = i + 1 < launches_.size() && !launches_[i + 1].launch.after.empty();
      report::Prediction prediction = run_one(planned, followed, toolchain, context);
      if (planned.reported) results.push_back(std::move(prediction));
    }
    return results;
  }

 private:
  /// `followed`: a launch after it finds what it leaves in memory.
  report::Prediction run_one(const Planned& planned, bool followed, const frontend::Toolchain& toolchain,
                             const JobContext& context) {
    const frontend::LaunchDescription& launch = planned.launch;
    frontend::LoadRequest request;
    request.file = launch.source.string();
    request.sm = spec_->sm_number;
    request.kernel = launch.kernel;
    request.defines = launch.defines;
    request.options = frontend::split_options(launch.nvcc);
    const frontend::LoadedKernel kernel = frontend::load_kernels(request, toolchain).front();
    const auto program = std::make_shared<const isa::Program>(kernel.program);
    std::uint64_t buffer_bytes = 0;
    for (const frontend::Argument& argument : launch.arguments) {
      if (argument.kind == frontend::ArgumentKind::buffer) buffer_bytes += argument.buffer_bytes();
    }
    const engine::LaunchShape shape{program,      launch.grid,   launch.block, launch.dynamic_shared,
                                    buffer_bytes, launch.cluster};
    engine::check_launch(*spec_, shape);

    std::string trace =
        planned.reported ? trace_path(chosen_.trace, many_traces_, launch, variant_) : std::string();
    std::optional<ScratchFile> scratch;
    if (chosen_.gains && planned.reported && trace.empty()) trace = scratch.emplace().path();
    engine::Outcome outcome = run_launch(
        launch, kernel, program, *device_, machine_, spec_->name,
        {chosen_.warm, chosen_.max_instructions, trace, chosen_.accuracy, followed || !launch.dumps.empty()},
        context);
    for (const frontend::Dump& dump : launch.dumps) {
      const std::vector<std::byte> bytes = device_->read(dump.buffer);
      report::write_file(dump.file.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    report::Prediction prediction = make_prediction(
        variant_, spec_, program,
        {launch.name, launch.grid, launch.block, launch.cluster, launch.dynamic_shared, chosen_.warm},
        std::move(outcome));
    if (chosen_.gains && planned.reported) {
      context.progress->show("limits of " + program->kernel, 0, engine::kIdeals);
      prediction.gains = engine::gains(trace, *spec_, shape, context.threads);
    }
    return prediction;
  }

  const Variant& variant_;
  const std::vector<Planned>& launches_;
  const PredictOptions& chosen_;
  const bool many_traces_;
  std::shared_ptr<const spec::GpuSpec> spec_;
  engine::Machine machine_;
  std::unique_ptr<engine::Device> device_;
};

/// Launches stand together, chips side by side: what one launch does on each chip is read in one place.
std::vector<report::Prediction> by_launch(std::vector<report::Prediction> by_chip, std::size_t chips) {
  if (chips == 0) return by_chip;
  const std::size_t launches = by_chip.size() / chips;
  std::vector<report::Prediction> result;
  for (std::size_t launch = 0; launch < launches; ++launch) {
    for (std::size_t chip = 0; chip < chips; ++chip)
      result.push_back(std::move(by_chip[chip * launches + launch]));
  }
  return result;
}

}  // namespace

int predict(const Words& words) {
  PredictOptions chosen;
  options::options_description known("options");
  chosen.kernel.add_to(known);
  chosen.launch.add_to(known);
  chosen.chips.add_to(known);
  known.add_options()("warm", options::bool_switch(&chosen.warm),
                      "caches start as the launch before left them (default: cold, as ncu flushes them)")(
      "gains", options::bool_switch(&chosen.gains), kGainsHelp)(
      "trace", options::value(&chosen.trace)->value_name("FILE"),
      "record the launch: a file for one chip, a directory for several")(
      "max-instructions", options::value(&chosen.max_instructions)->value_name("N"),
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

  chosen.accuracy = engine::parse_accuracy(chosen.accuracy_word, "--accuracy");
  const std::vector<Variant> chips = variants(chosen.chips);
  if (chosen.gains && chosen.warm)
    throw InputError(
        "--gains with --warm: launches are simulated again with cold caches; expected one of the two");
  const std::vector<Planned> launches = plan(values["file"].as<std::vector<std::string>>(), chosen);
  const auto reported = static_cast<std::size_t>(std::count_if(
      launches.begin(), launches.end(), [](const Planned& planned) { return planned.reported; }));
  const bool directory = chips.size() * reported > 1;
  if (!chosen.trace.empty() && directory && !std::filesystem::is_directory(chosen.trace)) {
    throw InputError(fmt::format("--trace {}: {} traces asked for; expected an existing directory",
                                 chosen.trace, chips.size() * reported));
  }
  std::vector<Job> jobs;
  jobs.reserve(chips.size());
  for (const Variant& variant : chips) {
    jobs.push_back([&](const JobContext& context) {
      return ChipJob(variant, launches, chosen, directory).run(context);
    });
  }
  write_results(by_launch(run_jobs(jobs, chosen.threads), chips.size()), chosen.output);
  return 0;
}

}  // namespace foretrace::app
