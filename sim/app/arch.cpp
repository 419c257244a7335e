// foretrace arch: the chips and their numbers.

#include <iostream>

#include <nlohmann/json.hpp>

#include "model/config/describe.h"
#include "sim/app/options.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const config::Loaded& chip) {
  Json values = Json::array();
  for (const config::Value& value : chip.values) {
    values.push_back(Json{{"key", value.key},
                          {"value", value.text},
                          {"numbers", value.numbers},
                          {"unit", value.unit},
                          {"kind", value.overridden ? "set" : config::name_of(value.kind)},
                          {"low", value.has_range ? Json(value.low) : Json(nullptr)},
                          {"high", value.has_range ? Json(value.high) : Json(nullptr)},
                          {"source", value.source}});
  }
  return Json{{"name", chip.spec.name},
              {"title", chip.title},
              {"sm", chip.spec.sm_number},
              {"sha256", chip.sha256},
              {"values", std::move(values)}};
}

}  // namespace

int arch(const Words& words) {
  bool sources = false;
  std::string json;
  std::vector<std::string> set;
  std::string clock = "boost";
  options::options_description known("options");
  known.add_options()("sources", options::bool_switch(&sources),
                      "each value with its range, formula, source, file and line")(
      "json", options::value(&json)->value_name("FILE"),
      "write every value with its range and source to this file; -: standard output")(
      "set", options::value(&set)->value_name("KEY=VALUE")->composing(),
      "override a value first: sm.count=144")(
      "clock", options::value(&clock)->value_name("WHICH")->default_value(clock),
      "base, boost, observed, or sm=MHZ[,l2=MHZ,dram=MHZ]");
  options::variables_map values;
  if (!parse(words, "arch [CHIP ...] [--sources] [--json FILE] [--set KEY=VALUE]", known, "chip", values))
    return 0;
  if (!values.count("chip")) {
    std::cout << config::describe_chips();
    return 0;
  }
  ChipOptions chosen;
  chosen.arch = values["chip"].as<std::vector<std::string>>();
  chosen.set = set;
  chosen.clock = clock;
  const std::vector<Variant> chips = variants(chosen);
  Json all = Json::array();
  for (const Variant& variant : chips) all.push_back(json_of(variant.chip));
  const std::string text = Json{{"schema", 1}, {"chips", std::move(all)}}.dump(1) + "\n";
  if (!json.empty() && json != "-") report::write_file(json, text);
  if (json == "-") {
    std::cout << text;
    return 0;
  }
  for (const Variant& variant : chips) std::cout << config::describe_chip(variant.chip, sources);
  return 0;
}

}  // namespace foretrace::app
