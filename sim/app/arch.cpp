// foretrace arch: the chips and their numbers.

#include <iostream>

#include "model/config/describe.h"
#include "sim/app/options.h"
#include "sim/report/chip_json.h"
#include "sim/report/json.h"

namespace foretrace::app {

int arch(const Words& words) {
  bool sources = false;
  std::string json;
  std::vector<std::string> set;
  std::string clock = "boost";
  options::options_description known("options");
  known.add_options()("sources", options::bool_switch(&sources),
                      "each value with its range, formula, source, file and line")(
      "json", result_file_or_output(&json),
      "write every value with its range and source to this file; -: standard output")(
      "set", options::value(&set)->value_name("KEY=VALUE")->composing(),
      "override a value first: sm.count=144")(
      "clock", options::value(&clock)->value_name("WHICH")->default_value(clock),
      "base, boost, observed, or sm=MHZ[,l2=MHZ,dram=MHZ]");
  options::variables_map values;
  if (!parse(words, "arch [CHIP ...] [--sources] [--json FILE] [--set KEY=VALUE]", known, "chip", values))
    return 0;
  if (!values.count("chip")) {
    refuse_given(values, {"sources", "json", "set", "clock"},
                 "no chip: they are listed alone; expected: foretrace arch CHIP");
    std::cout << config::describe_chips();
    return 0;
  }
  if (json == "-") refuse_given(values, {"sources"}, "--json -: it has all of them; expected one of the two");
  ChipOptions chosen;
  chosen.arch = values["chip"].as<std::vector<std::string>>();
  chosen.set = set;
  chosen.clock = clock;
  const std::vector<Variant> chips = variants(chosen);
  std::vector<const config::Loaded*> loaded;
  for (const Variant& variant : chips) loaded.push_back(&variant.chip);
  const std::string text = report::chips_json(loaded);
  if (!json.empty() && json != "-") report::write_file(json, text);
  if (json == "-") {
    std::cout << text;
    return 0;
  }
  for (const Variant& variant : chips) std::cout << config::describe_chip(variant.chip, sources);
  return 0;
}

}  // namespace foretrace::app
