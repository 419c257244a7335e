// foretrace validate: predictions beside what a real GPU was measured on, made now or frozen before.
//
// Every launch of a measurement is predicted from the very machine code that was measured (kept beside the document), at the clocks
// that ran then, cold as ncu flushes. Arguments come from the launch files. Leaving out is asked for, and repeated in the summary.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/launch_index.h"
#include "sim/app/options.h"
#include "sim/app/predict_one.h"
#include "sim/app/version.h"
#include "sim/frontend/process.h"
#include "sim/frontend/toolchain.h"
#include "sim/report/json.h"
#include "sim/report/page.h"
#include "sim/validate/class_errors.h"
#include "sim/validate/frozen.h"
#include "sim/validate/launch_class.h"
#include "sim/validate/picture.h"
#include "sim/validate/validation.h"

namespace foretrace::app {

namespace {

constexpr const char* kValidateUsage =
    "validate --measurements FILE.json [--frozen FILE.json] [OPTIONS]\n       foretrace validate --freeze "
    "FILE.json --arch CHIP [OPTIONS]";

/// Points by which a class's error may exceed the committed one; more wants the table renewed, with a reason.
constexpr double kSlack = 0.5;

struct ValidateOptions {
  std::string measurements, arch, freeze, frozen, clock = "observed", split = "all", picture, html, errors,
                                                  write_errors;
  std::vector<std::string> launches, set, leave_out;
  std::uint64_t largest = 0;
  double max_mean = 0;
  int threads = 0;
  bool show_held_out = false;
  OutputOptions output;
};

ValidatedChip chip_of(const ValidateOptions& chosen) {
  ValidatedChip chip{config::resolve_name(chosen.arch), {}, config::parse_clock(chosen.clock)};
  for (const std::string& text : chosen.set) {
    for (const config::Override& value : config::parse_set(text)) chip.overrides.push_back(value);
  }
  return chip;
}

/// What was predicted of each launch, or why there is nothing.
struct Answer {
  std::optional<validate::PredictedLaunch> predicted;
  std::string failure;
};

using PredictAnswer = std::function<validate::PredictedLaunch(const JobContext&)>;

/// Runs the predictions side by side; a failure is an answer too, so that one launch does not hide the others.
std::vector<Answer> answers(const std::vector<PredictAnswer>& questions, int threads) {
  std::vector<Answer> all(questions.size());
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    jobs.push_back([&, i](const JobContext& context) {
      try {
        all[i].predicted = questions[i](context);
      } catch (const InputError& error) { all[i].failure = error.what(); }
      return std::vector<report::Prediction>();
    });
  }
  run_jobs(jobs, threads);
  return all;
}

bool is_in(const std::string& split, bool held_out) {
  return split == "all" || held_out == (split == "held-out");
}

int freeze(const ValidateOptions& chosen) {
  const LaunchIndex index(chosen.launches);
  const ValidatedChip chip = chip_of(chosen);
  const config::Loaded loaded = config::load_gpu(chip.arch, chip.overrides, chip.clock);
  std::vector<const IndexedLaunch*> launches;
  for (const IndexedLaunch& each : index.all()) {
    if (each.launch.fault != frontend::ExpectedFault::none) continue;  // not run on a device either
    if (std::find(chosen.leave_out.begin(), chosen.leave_out.end(), each.launch.name) !=
        chosen.leave_out.end())
      continue;
    if (is_in(chosen.split, validate::is_held_out(each.file))) launches.push_back(&each);
  }
  for (const std::string& name : chosen.leave_out) {
    if (std::none_of(index.all().begin(), index.all().end(),
                     [&](const IndexedLaunch& each) { return each.launch.name == name; }))
      throw InputError(fmt::format("--leave-out {}: no such launch in {}", name, listed(chosen.launches)));
  }
  if (launches.empty()) throw InputError("no launch is left to predict");
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  if (!toolchain.nvcc)
    throw InputError("--freeze compiles the launches' sources, and there is no nvcc (scripts/setup)");
  // The largest first, so that the threads end together.
  const auto threads_of = [](const IndexedLaunch* each) {
    return each->launch.grid.count() * each->launch.block.count();
  };
  std::stable_sort(launches.begin(), launches.end(),
                   [&](const auto* a, const auto* b) { return threads_of(a) > threads_of(b); });
  const MeasuredCodes none;
  std::vector<PredictAnswer> questions;
  for (const IndexedLaunch* each : launches) {
    questions.push_back(
        [&, each](const JobContext& context) { return predict_one(*each, index, chip, none, context); });
  }
  const std::vector<Answer> all = answers(questions, chosen.threads);
  validate::Frozen frozen;
  frozen.foretrace = kVersion;
  frozen.commit = kCommit;
  frozen.date =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  frozen.arch = chip.arch;
  frozen.config_sha256 = loaded.sha256;
  frozen.clock_hz = loaded.spec.clock;
  frozen.toolkit = toolchain.nvcc->version;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].predicted) {
      frozen.launches.push_back(*all[i].predicted);
    } else {
      frozen.failed.push_back(fmt::format("{}: {}", launches[i]->launch.name, all[i].failure));
    }
  }
  if (frozen.launches.empty()) {
    throw InputError(fmt::format("--freeze {}: none of {} launches can be predicted; the first, {}",
                                 chosen.freeze, launches.size(), frozen.failed.front()));
  }
  std::sort(frozen.launches.begin(), frozen.launches.end(),
            [](const auto& a, const auto& b) { return std::tie(a.file, a.name) < std::tie(b.file, b.name); });
  report::write_file(chosen.freeze, validate::to_json(frozen));
  for (const std::string& each : frozen.failed) std::cout << "NOT PREDICTED: " << each << "\n";
  std::cout << fmt::format("{}: {} launches predicted for {} at {} MHz, {} not predicted\n", chosen.freeze,
                           frozen.launches.size(), frozen.arch, frozen.clock_hz.sm / 1'000'000,
                           frozen.failed.size());
  return frozen.failed.empty() ? 0 : 1;
}

/// Divides a measurement's launches into those to compare and those that options leave out.
class Selection {
 public:
  Selection(const ValidateOptions& chosen, validate::Validation& validation)
      : chosen_(chosen), validation_(validation) {
    for (const std::string& each : chosen.leave_out) unused_.insert(each);
  }
  bool takes(const validate::MeasuredLaunch& launch) {
    double instructions = 0;
    unused_.erase(launch.name);
    if (std::find(chosen_.leave_out.begin(), chosen_.leave_out.end(), launch.name) !=
        chosen_.leave_out.end()) {
      return leave_out(launch, "--leave-out");
    }
    if (chosen_.largest && launch.mean("smsp__inst_executed.sum", instructions) &&
        instructions > static_cast<double>(chosen_.largest)) {
      return leave_out(launch, fmt::format("--largest {}", chosen_.largest));
    }
    return true;
  }
  bool takes(const validate::MeasuredLaunch& launch, const std::string& file) {
    return is_in(chosen_.split, validate::is_held_out(file)) || leave_out(launch, "--split " + chosen_.split);
  }
  bool leave_out(const validate::MeasuredLaunch& launch, const std::string& why) {
    validation_.left_out.push_back({launch.name, why});
    return false;
  }
  void check_all_used() const {
    if (!unused_.empty()) {
      throw InputError(
          fmt::format("--leave-out {}: no such launch in {}", *unused_.begin(), chosen_.measurements));
    }
  }

 private:
  const ValidateOptions& chosen_;
  validate::Validation& validation_;
  std::set<std::string> unused_;
};

void compare_frozen(const ValidateOptions& chosen, const validate::Measurement& measurement,
                    validate::Validation& validation) {
  const validate::Frozen frozen = validate::read_frozen(report::read_file(chosen.frozen), chosen.frozen);
  if (frozen.arch != config::resolve_name(chosen.arch)) {
    throw InputError(
        fmt::format("{}: predictions for {}; expected {}", chosen.frozen, frozen.arch, chosen.arch));
  }
  validation.commit = frozen.commit;
  validation.foretrace = frozen.foretrace;
  validation.config_sha256 = frozen.config_sha256;
  validation.frozen = fmt::format("{} at commit {}, SM clock {} MHz", frozen.date, frozen.commit,
                                  frozen.clock_hz.sm / 1'000'000);
  Selection selection(chosen, validation);
  for (const validate::MeasuredLaunch& measured : measurement.launches) {
    if (!selection.takes(measured)) continue;
    const validate::PredictedLaunch* predicted = validate::find(frozen, measured.name);
    if (predicted == nullptr) {
      selection.leave_out(measured, "not among the frozen predictions");
    } else if (!measured.code_sha256.empty() && predicted->code_sha256 != measured.code_sha256) {
      selection.leave_out(measured, "frozen for other machine code");
    } else if (selection.takes(measured, predicted->file)) {
      validation.launches.emplace_back(*predicted, measured);
    }
  }
  selection.check_all_used();
}

void compare_now(const ValidateOptions& chosen, const validate::Measurement& measurement,
                 validate::Validation& validation) {
  const std::filesystem::path document(chosen.measurements);
  const LaunchIndex index(chosen.launches);
  const ValidatedChip chip = chip_of(chosen);
  validation.config_sha256 = config::load_gpu(chip.arch, chip.overrides, chip.clock).sha256;
  const frontend::TemporaryDirectory scratch;
  // GPUs with the same machine code share its folder: all but one have a link to it.
  const PackedCubins cubins(document.parent_path() / document.stem() / "cubins", scratch.path());
  MeasuredCodes codes;
  std::vector<const validate::MeasuredLaunch*> compared;
  Selection selection(chosen, validation);
  for (const validate::MeasuredLaunch& measured : measurement.launches) {
    if (!measured.cubin.empty())
      codes[measured.name] = {cubins.path_of(measured.cubin), measured.mangled, measured.code_sha256};
    if (selection.takes(measured) && selection.takes(measured, index.at(measured.name).file))
      compared.push_back(&measured);
  }
  selection.check_all_used();
  std::vector<PredictAnswer> questions;
  for (const validate::MeasuredLaunch* measured : compared) {
    questions.push_back([&, measured](const JobContext& context) {
      ValidatedChip at_measured_clocks = chip;
      if (measured->clocks().sm > 0)
        at_measured_clocks.clock = {spec::ClockChoice::custom, measured->clocks()};
      validate::PredictedLaunch predicted =
          predict_one(index.at(measured->name), index, at_measured_clocks, codes, context);
      if (measured->less.empty()) return predicted;
      return validate::difference(
          predicted, predict_one(index.at(measured->less), index, at_measured_clocks, codes, context),
          *measured);
    });
  }
  const std::vector<Answer> all = answers(questions, chosen.threads);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].predicted) {
      validation.launches.emplace_back(*all[i].predicted, *compared[i]);
    } else {
      validation.failed.push_back({compared[i]->name, all[i].failure});
    }
  }
}

/// 1 where a class of kernel got worse than the committed errors.
int check_errors(const ValidateOptions& chosen, const validate::Validation& validation,
                 const validate::ClassErrorTable& before) {
  const validate::ClassErrorTable now = validate::class_error_table(validation);
  if (!chosen.write_errors.empty()) report::write_file(chosen.write_errors, validate::to_json(now));
  if (chosen.errors.empty()) return 0;
  const std::vector<std::string> worse = validate::what_got_worse(before, now, kSlack);
  for (const std::string& each : worse) std::cout << "  WORSE than " << chosen.errors << ": " << each << "\n";
  return worse.empty() ? 0 : 1;
}

int compare_measured(ValidateOptions& chosen) {
  const validate::Measurement measurement =
      validate::read_measurement(report::read_file(chosen.measurements), chosen.measurements);
  const std::filesystem::path document(chosen.measurements);
  if (chosen.arch.empty())
    chosen.arch = measurement.arch.empty() ? document.stem().string() : measurement.arch;
  const validate::ClassErrorTable before =
      chosen.errors.empty() ? validate::ClassErrorTable()
                            : validate::read_class_errors(report::read_file(chosen.errors), chosen.errors);
  validate::Validation validation;
  validation.foretrace = kVersion;
  validation.commit = kCommit;
  validation.arch = config::resolve_name(chosen.arch);
  validation.measured = measurement;
  validation.show_held_out = chosen.show_held_out;
  if (chosen.frozen.empty()) {
    compare_now(chosen, measurement, validation);
  } else {
    compare_frozen(chosen, measurement, validation);
  }
  if (validation.launches.empty() && validation.failed.empty()) {
    throw InputError(fmt::format("{}: no launch is left to compare", chosen.measurements));
  }
  const std::string json = validate::to_json(validation);
  if (chosen.output.json == "-") {
    std::cout << json;
  } else {
    if (!chosen.output.json.empty()) report::write_file(chosen.output.json, json);
    std::cout << validate::to_text(validation);
  }
  if (!chosen.html.empty()) report::write_file(chosen.html, report::validation_page(json));
  if (!chosen.picture.empty()) report::write_file(chosen.picture, validate::to_svg(validation));
  const int worse = check_errors(chosen, validation, before);
  if (!validation.failed.empty()) {
    std::cerr << fmt::format("foretrace: {} of {} measured launches could not be compared\n",
                             validation.failed.size(), measurement.launches.size());
    return 2;
  }
  const double mean =
      validate::errors_of(validation.all(), validate::kElapsed, 20000).mean_abs_pct.value_or(0);
  return chosen.max_mean > 0 && mean > chosen.max_mean ? 1 : worse;
}

/// Where launch files are looked for when nothing is said: beside a published document, else the examples and the suite.
std::vector<std::string> default_launches(const ValidateOptions& chosen) {
  const std::filesystem::path validate = config::config_directory().parent_path() / "validate";
  const std::filesystem::path folder = std::filesystem::weakly_canonical(chosen.measurements).parent_path();
  if (!chosen.measurements.empty() && folder == std::filesystem::weakly_canonical(validate / "published"))
    return {folder.string()};
  std::vector<std::string> folders;
  for (const char* name : {"kernels", "suite"}) {
    if (std::filesystem::is_directory(validate / name)) folders.push_back((validate / name).string());
  }
  return folders;
}

}  // namespace

int validate(const Words& words) {
  ValidateOptions chosen;
  options::options_description known("options");
  known.add_options()("measurements", options::value(&chosen.measurements)->value_name("FILE"),
                      "a document of validate/measurements; its folder of the same name holds the code")(
      "arch", options::value(&chosen.arch)->value_name("CHIP"),
      "the chip (default: the one that the document names, or its file name)")(
      "launches", options::value(&chosen.launches)->value_name("DIR")->composing(),
      "directory of launch files, searched recursively (default: the examples and the suite)")(
      "set", options::value(&chosen.set)->value_name("KEY=VALUE")->composing(),
      "override a value of the chip")(
      "split", options::value(&chosen.split)->value_name("WHICH")->default_value(chosen.split),
      "kernels: development, held-out or all")("show-held-out", options::bool_switch(&chosen.show_held_out),
                                               "print the numbers of single held-out kernels too")(
      "largest", count(&chosen.largest), "leave out launches of more warp instructions than this")(
      "leave-out", options::value(&chosen.leave_out)->value_name("NAME")->composing(),
      "leave out the launch of this name")("picture", result_file(&chosen.picture)->value_name("FILE.svg"),
                                           "draw predicted against measured cycles into this SVG file")(
      "html", result_file(&chosen.html),
      "write a page of what was compared, one file that needs no network, to this file")(
      "freeze", result_file(&chosen.freeze),
      "predict all launch files for --arch and keep the predictions in this file")(
      "frozen", options::value(&chosen.frozen)->value_name("FILE"),
      "compare the predictions of this file instead of predicting now")(
      "clock", options::value(&chosen.clock)->value_name("WHICH")->default_value(chosen.clock),
      "clocks where none were measured: base, boost, observed or sm=MHZ,...")(
      "errors", options::value(&chosen.errors)->value_name("FILE"),
      "exit code 1 if any class of kernels is worse than in this file")(
      "write-errors", result_file(&chosen.write_errors),
      "write the errors of each class of kernels for --errors")(
      "max-mean", options::value(&chosen.max_mean)->value_name("PERCENT"),
      "exit code 1 if the mean cycle error of launches of at least 20,000 cycles is above this, in percent")(
      "threads", options::value(&chosen.threads)->value_name("N"), "host threads (default: all)");
  chosen.output.add_to(known);
  options::variables_map values;
  if (!parse(words, kValidateUsage, known, "", values)) return 0;
  if (chosen.measurements.empty() == chosen.freeze.empty()) {
    throw InputError("validate: expected either --measurements FILE or --freeze FILE");
  }
  if (!chosen.freeze.empty()) {
    refuse_given(values,
                 {"html", "frozen", "picture", "json", "errors", "write-errors", "max-mean", "largest",
                  "show-held-out"},
                 "--freeze: nothing is compared; expected --measurements FILE");
  }
  if (!chosen.frozen.empty())
    refuse_given(values, {"set", "clock", "launches", "threads"},
                 "--frozen: nothing is predicted anew; expected one of the two");
  if (chosen.split == "development")
    refuse_given(values, {"show-held-out"}, "--split development: none is compared; expected one of the two");
  if (values.count("max-mean") && !(chosen.max_mean > 0))
    throw InputError(fmt::format("--max-mean {}: expected a percentage above 0", chosen.max_mean));
  if (chosen.split != "development" && chosen.split != "held-out" && chosen.split != "all") {
    throw InputError(fmt::format("--split {}: expected development, held-out or all", chosen.split));
  }
  if (chosen.launches.empty()) chosen.launches = default_launches(chosen);
  if (chosen.freeze.empty()) return compare_measured(chosen);
  if (chosen.arch.empty()) throw InputError("--freeze: no chip is named; expected --arch");
  return freeze(chosen);
}

}  // namespace foretrace::app
