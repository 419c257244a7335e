// foretrace validate: predictions beside what a real GPU was measured on.
//
// Every launch of a measurement is predicted from the very machine code that was measured (kept beside the document), at the clocks that
// ran then, cold as ncu flushes. Arguments come from the launch files. Leaving out is asked for, and repeated in the summary.

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/make_prediction.h"
#include "sim/app/options.h"
#include "sim/app/run_launch.h"
#include "sim/app/version.h"
#include "sim/compare/error_statistics.h"
#include "sim/compare/measurement.h"
#include "sim/frontend/load.h"
#include "sim/frontend/process.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

constexpr const char* kCycles = "gpc__cycles_elapsed.max";
constexpr const char* kActive = "sm__cycles_active.avg";

struct ValidateOptions {
  std::string measurements, launches, arch;
  std::vector<std::string> set;
  std::uint64_t largest = 0;
  double max_mean = 0;
  int threads = 0;
  OutputOptions output;
};

/// Launch files of a directory, by the launches' names.
class Lessons {
 public:
  explicit Lessons(const std::filesystem::path& directory) {
    if (!std::filesystem::is_directory(directory)) {
      throw InputError(fmt::format("--launches {}: no directory of that name; expected the one that holds the launch files", directory.string()));
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      for (auto& launch : frontend::load_launch_file(file)) {
        const std::string name = launch.name;
        by_name_.emplace(name, std::move(launch));
      }
    }
  }
  const frontend::LaunchDescription& at(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw InputError(fmt::format("launch {}: measured, but in none of the launch files", name));
    return found->second;
  }

 private:
  std::map<std::string, frontend::LaunchDescription> by_name_;
};

/// The measured cubin, decompressed into a directory of ours; its path.
std::string unpack(const std::filesystem::path& compressed, const std::filesystem::path& directory) {
  const std::filesystem::path target = directory / compressed.stem();
  if (std::filesystem::exists(target)) return target.string();
  const std::string bytes = report::read_file(compressed.string());
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw InputError(fmt::format("{}: not a zstd file that states its size", compressed.string()));
  }
  std::string cubin(size, '\0');
  const std::size_t got = ZSTD_decompress(cubin.data(), cubin.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size) throw InputError(fmt::format("{}: damaged zstd file", compressed.string()));
  report::write_file(target.string(), cubin);
  return target.string();
}

report::Prediction predict_measured(const compare::MeasuredLaunch& measured, const frontend::LaunchDescription& launch,
                                    const Lessons& lessons, const std::string& cubin, const ValidateOptions& chosen,
                                    const JobContext& context) {
  std::vector<config::Override> overrides;
  for (const std::string& text : chosen.set) {
    for (const config::Override& value : config::parse_set(text)) overrides.push_back(value);
  }
  Variant variant{config::load_gpu(chosen.arch, overrides, {spec::ClockChoice::custom, measured.clocks()}), {}};
  const auto spec = std::make_shared<const spec::GpuSpec>(variant.chip.spec);
  frontend::LoadRequest request;
  request.file = cubin;
  request.sm = spec->sm_number;
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  engine::Device device;
  std::vector<const frontend::LaunchDescription*> before;
  for (const auto* earlier = &launch; !earlier->after.empty();) before.push_back(earlier = &lessons.at(earlier->after));
  for (auto earlier = before.rbegin(); earlier != before.rend(); ++earlier) {
    request.kernel = (*earlier)->kernel;
    emulate_only(**earlier, frontend::load_kernels(request, toolchain).front(), device);
  }
  request.kernel = measured.mangled;
  const frontend::LoadedKernel kernel = frontend::load_kernels(request, toolchain).front();
  if (kernel.program.code_sha256 != measured.code_sha256) {
    throw InputError(fmt::format("launch {}: the cubin's code is {}; expected the measured {}", measured.name,
                                 kernel.program.code_sha256, measured.code_sha256));
  }
  const auto program = std::make_shared<const isa::Program>(kernel.program);
  engine::Machine machine(spec);
  engine::Outcome outcome = run_launch(launch, kernel, program, device, machine, spec->name, {}, context);
  return make_prediction(variant, spec, program, {measured.name, launch.grid, launch.block, launch.cluster, launch.dynamic_shared, false},
                         std::move(outcome));
}

nlohmann::ordered_json number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// Errors of one metric over the launches that both sides have it for.
compare::ErrorStatistics errors_of(const std::vector<report::LaunchResult>& results,
                                   const std::vector<const compare::MeasuredLaunch*>& measured, const std::string& metric,
                                   double at_least = 0) {
  std::vector<compare::ValuePair> pairs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    double reference = 0;
    const report::Value value = results[i].metrics.get(metric);
    if (value && measured[i]->mean(metric, reference) && reference >= at_least) pairs.push_back({*value, reference});
  }
  return compare::error_statistics(pairs);
}

std::string line_of(const std::string& name, const compare::ErrorStatistics& errors) {
  const auto text = [](const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : std::string("-"); };
  return fmt::format("  {:<72} {:>4} {:>9} {:>9} {:>9} {:>9} {:>8}\n", name, errors.pairs, text(errors.mean_abs_pct),
                     text(errors.median_abs_pct), text(errors.p90_abs_pct), text(errors.worst_abs_pct),
                     errors.pearson ? fmt::format("{:.4f}", *errors.pearson) : "-");
}

}  // namespace

int validate(const Words& words) {
  ValidateOptions chosen;
  chosen.launches = (config::config_directory().parent_path() / "validate" / "kernels").string();
  options::options_description known("options");
  known.add_options()
      ("measurements", options::value(&chosen.measurements)->required(), "a document of validate/measurements; its folder of the same name holds the code")
      ("arch", options::value(&chosen.arch), "the chip (default: the document's name)")
      ("launches", options::value(&chosen.launches)->default_value(chosen.launches), "directory of the launch files")
      ("set", options::value(&chosen.set)->composing(), "override a value of the chip")
      ("largest", options::value(&chosen.largest), "leave out launches of more warp instructions than this")
      ("max-mean", options::value(&chosen.max_mean), "exit code 1 if the mean cycle error of launches of at least 20,000 cycles is above this, in percent")
      ("threads", options::value(&chosen.threads), "host threads (default: all)");
  chosen.output.add_to(known);
  options::variables_map values;
  if (!parse(words, "validate --measurements FILE.json [OPTIONS]", known, "", values)) return 0;

  const std::filesystem::path document(chosen.measurements);
  const compare::Measurement measurement = compare::read_measurement(report::read_file(chosen.measurements), chosen.measurements);
  if (chosen.arch.empty()) chosen.arch = document.stem().string();
  // GPUs with the same machine code share its folder: all but one have a link to it.
  const std::filesystem::path code = document.parent_path() / document.stem() / "cubins";
  const Lessons lessons{std::filesystem::path(chosen.launches)};

  const frontend::TemporaryDirectory directory;
  std::vector<const compare::MeasuredLaunch*> compared;
  std::vector<std::string> left_out;
  std::vector<Job> jobs;
  for (const compare::MeasuredLaunch& measured : measurement.launches) {
    double instructions = 0;
    if (chosen.largest && measured.mean("smsp__inst_executed.sum", instructions) && instructions > static_cast<double>(chosen.largest)) {
      left_out.push_back(measured.name);
      continue;
    }
    compared.push_back(&measured);
    const std::string cubin = unpack(code / (measured.cubin + ".zst"), directory.path());
    const frontend::LaunchDescription& launch = lessons.at(measured.name);
    jobs.push_back([&, cubin](const JobContext& context) {
      std::vector<report::Prediction> one;
      one.push_back(predict_measured(measured, launch, lessons, cubin, chosen, context));
      return one;
    });
  }
  if (jobs.empty()) throw InputError(fmt::format("{}: no launch is left to compare", chosen.measurements));
  std::vector<report::LaunchResult> results;
  for (const report::Prediction& prediction : run_jobs(jobs, chosen.threads)) results.push_back(report::make_result(prediction));

  std::vector<std::string> names;
  for (const report::Metric& metric : report::metrics()) {
    const bool both = std::any_of(compared.begin(), compared.end(), [&](const auto* launch) { return launch->metrics.count(metric.name); });
    if (both) names.push_back(metric.name);
  }
  nlohmann::ordered_json json{{"schema", 1}, {"foretrace", kVersion}, {"commit", kCommit}, {"arch", chosen.arch},
                              {"device", measurement.device}, {"compared", results.size()}, {"left_out", left_out}};
  std::string text = fmt::format("{} on {} ({}), driver {}\n\n", chosen.arch, measurement.device, measurement.date, measurement.driver);
  text += fmt::format("  {:<34} {:>12} {:>12} {:>8}   {:>12} {:>12} {:>8}\n", "Launch", "Elapsed", "Measured", "Error %",
                      "SM active", "Measured", "Error %");
  for (std::size_t i = 0; i < results.size(); ++i) {
    nlohmann::ordered_json row{{"name", compared[i]->name}, {"kernel", results[i].kernel}};
    nlohmann::ordered_json& metrics = row["metrics"];
    for (const std::string& name : names) {
      double reference = 0;
      if (!compared[i]->mean(name, reference)) continue;
      metrics[name] = {{"predicted", number(results[i].metrics.get(name))}, {"measured", reference}};
    }
    json["launches"].push_back(row);
    text += fmt::format("  {:<34}", compared[i]->name);
    for (const char* name : {kCycles, kActive}) {
      double reference = 0;
      compared[i]->mean(name, reference);
      const double value = results[i].metrics.get(name).value_or(0);
      text += fmt::format(" {:>12.0f} {:>12.0f} {:>8.2f}  ", value, reference,
                          compare::relative_error_pct(value, reference).value_or(0));
    }
    text += "\n";
  }
  text += fmt::format("\n  {:<72} {:>4} {:>9} {:>9} {:>9} {:>9} {:>8}\n", "Absolute error, %", "n", "mean", "median", "p90", "worst", "r");
  const compare::ErrorStatistics long_cycles = errors_of(results, compared, kCycles, 20000);
  text += line_of(std::string(kCycles) + ", launches of at least 20,000 cycles", long_cycles);
  for (const std::string& name : names) {
    const compare::ErrorStatistics errors = errors_of(results, compared, name);
    json["metrics"][name] = {{"mean_abs_pct", number(errors.mean_abs_pct)}, {"median_abs_pct", number(errors.median_abs_pct)},
                             {"p90_abs_pct", number(errors.p90_abs_pct)}, {"worst_abs_pct", number(errors.worst_abs_pct)},
                             {"pearson", number(errors.pearson)}};
    text += line_of(name, errors);
  }
  text += fmt::format("\n  {} launches compared, {} left out{}\n", results.size(), left_out.size(), left_out.empty() ? "" : " (--largest)");
  const std::string dump = json.dump(2) + "\n";
  if (chosen.output.json == "-") {
    std::cout << dump;
  } else {
    if (!chosen.output.json.empty()) report::write_file(chosen.output.json, dump);
    std::cout << text;
  }
  return chosen.max_mean > 0 && long_cycles.mean_abs_pct.value_or(0) > chosen.max_mean ? 1 : 0;
}

}  // namespace foretrace::app
