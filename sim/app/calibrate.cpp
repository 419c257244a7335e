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

int calibrate(const Words& words) {
  std::string base, base_answers_file, output, title;
  std::vector<std::string> set;
  options::options_description known("options");
  known.add_options()("base", options::value(&base)->value_name("CHIP")->required(),
                      "the chip whose numbers stay where there is no answer")(
      "base-answers", options::value(&base_answers_file)->value_name("FILE"),
      "the base chip's own answers (default: those in validate/measurements, if there are any)")(
      "set", options::value(&set)->value_name("KEY=VALUE")->composing(),
      "a number of the new chip that its vendor documents: l2.slices=96")(
      "title", options::value(&title)->value_name("TEXT"),
      "the new chip's title (default: the device's name)")(
      "output", options::value(&output)->value_name("FILE"),
      "write the configuration to this file (default: only print what was found)");
  options::variables_map values;
  if (!parse(words, "calibrate MICROBENCHMARKS.json --base CHIP [--output FILE.toml]", known, "file", values))
    return 0;
  const auto files =
      values.count("file") ? values["file"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (files.size() != 1) {
    throw InputError(
        fmt::format("{} files given; expected one document of validate/microbenchmarks/run", files.size()));
  }
  const calibrate::Answers answers = calibrate::read_answers(report::read_file(files.front()), files.front());

  std::vector<config::Override> overrides;
  for (const std::string& text : set) {
    for (const config::Override& each : config::parse_set(text)) overrides.push_back(each);
  }
  const std::string name = config::resolve_name(base);
  const config::Loaded plain = config::load_gpu(name);
  config::Loaded loaded = config::load_gpu(name, overrides);
  if (base_answers_file.empty()) {
    const std::filesystem::path beside = config::config_directory().parent_path() / "validate" /
                                         "measurements" / (name + "-microbenchmarks.json");
    if (std::filesystem::exists(beside)) base_answers_file = beside.string();
  }
  std::optional<calibrate::Answers> base_answers;
  if (!base_answers_file.empty()) {
    base_answers = calibrate::read_answers(report::read_file(base_answers_file), base_answers_file);
  }
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
