// foretrace arch: the chips and their numbers.

#include <iostream>

#include "model/config/describe.h"
#include "sim/app/options.h"

namespace foretrace::app {

int arch(const Words& words) {
  bool sources = false;
  std::vector<std::string> set;
  std::string clock = "boost";
  options::options_description known("options");
  known.add_options()("sources", options::bool_switch(&sources),
                      "each value with its range, formula, source, file and line")(
      "set", options::value(&set)->composing(), "override a value first: sm.count=144")(
      "clock", options::value(&clock)->default_value(clock),
      "base, boost, observed, or sm=MHZ[,l2=MHZ,dram=MHZ]");
  options::variables_map values;
  if (!parse(words, "arch [CHIP ...] [--sources] [--set KEY=VALUE]", known, "chip", values)) return 0;
  if (!values.count("chip")) {
    std::cout << config::describe_chips();
    return 0;
  }
  ChipOptions chosen;
  chosen.arch = values["chip"].as<std::vector<std::string>>();
  chosen.set = set;
  chosen.clock = clock;
  for (const Variant& variant : variants(chosen)) std::cout << config::describe_chip(variant.chip, sources);
  return 0;
}

}  // namespace foretrace::app
