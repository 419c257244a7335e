// foretrace calibrate: from the answers of the microbenchmarks on a GPU to a configuration of it.

#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/calibrate/rules.h"
#include "sim/report/json.h"

namespace foretrace::app {
namespace {

/// The answers of documents of one device.
calibrate::Answers joined(const std::vector<std::string>& files) {
  calibrate::Answers answers = calibrate::read_answers(report::read_file(files.front()), files.front());
  for (std::size_t i = 1; i < files.size(); ++i) {
    answers.join(calibrate::read_answers(report::read_file(files[i]), files[i]));
  }
  return answers;
}

}  // namespace

int calibrate(const Words& words) {
  std::string base, output, title;
  std::vector<std::string> set, base_files;
  options::options_description known("options");
  known.add_options()("base", options::value(&base)->value_name("CHIP")->required(),
                      "the chip whose numbers stay where there is no answer")(
      "base-answers", options::value(&base_files)->value_name("FILE")->composing(),
      "the base chip's own answers (default: those in validate/measurements, if there are any)")(
      "set", options::value(&set)->value_name("KEY=VALUE")->composing(),
      "a number of the new chip that its vendor documents: l2.slices=96")(
      "title", options::value(&title)->value_name("TEXT"),
      "the new chip's title (default: the device's name)")(
      "output", result_file(&output),
      "write the configuration to this file (default: only print what was found)");
  options::variables_map values;
  if (!parse(words, "calibrate MICROBENCHMARKS.json ... --base CHIP [--output FILE.toml]", known, "file",
             values))
    return 0;
  const auto files =
      values.count("file") ? values["file"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (files.empty()) {
    throw InputError(
        "no file given; expected a document of validate/microbenchmarks/run, or several of one device; where "
        "the GPU is, "
        "'python3 -m foretrace calibrate' makes one");
  }
  if (output.empty())
    refuse_given(values, {"title"}, "no --output: it stands in the configuration; expected both");
  const calibrate::Answers answers = joined(files);

  std::vector<config::Override> overrides;
  for (const std::string& text : set) {
    for (const config::Override& each : config::parse_set(text)) overrides.push_back(each);
  }
  const std::string name = config::resolve_name(base);
  const config::Loaded plain = config::load_gpu(name);
  config::Loaded loaded = config::load_gpu(name, overrides);
  if (base_files.empty()) {
    for (const char* kind : {"-microbenchmarks.json", "-tensor-microbenchmarks.json"}) {
      const std::filesystem::path beside =
          config::config_directory().parent_path() / "validate" / "measurements" / (name + kind);
      if (std::filesystem::exists(beside)) base_files.push_back(beside.string());
    }
  }
  std::optional<calibrate::Answers> base_answers;
  if (!base_files.empty()) base_answers = joined(base_files);
  const calibrate::Evidence evidence{answers, base_answers ? &*base_answers : nullptr, loaded,
                                     plain.find("dram.channels")->numbers.front()};
  const calibrate::Calibration calibration = calibrate::calibrate(evidence);
  std::cout << calibrate::to_text(calibration, name);
  if (!output.empty()) {
    const std::string text = calibrate::to_toml(calibration, loaded, title.empty() ? answers.device : title,
                                                std::filesystem::path(files.front()).filename().string());
    report::write_file(output, text);
    config::load_gpu(std::filesystem::absolute(output).string());  // it must load
    std::cout << fmt::format("  {}: {} keys calibrated, {} kept from {}\n", output, calibration.values.size(),
                             loaded.values.size() - calibration.values.size(), name);
  }
  return 0;
}

}  // namespace foretrace::app
