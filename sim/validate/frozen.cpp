#include "sim/validate/frozen.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/document.h"
#include "sim/report/json_reader.h"
#include "sim/report/json_text.h"

namespace foretrace::validate {

constexpr int kFrozenSchema = 1;  // docs/frozen_schema.json
namespace {

using report::Json;

/// Metrics in the order in which the first launch has them: the columns of the document.
std::vector<std::string> columns(const Frozen& frozen) {
  std::vector<std::string> names;
  if (frozen.launches.empty()) return names;
  for (const auto& [name, value] : frozen.launches.front().metrics.all()) names.push_back(name);
  return names;
}

}  // namespace

std::string to_json(const Frozen& frozen) {
  const std::vector<std::string> names = columns(frozen);
  Json launches = Json::array();
  for (const PredictedLaunch& launch : frozen.launches) {
    Json values = Json::array();
    for (const std::string& name : names) values.push_back(report::json_number(launch.metrics.get(name)));
    launches.push_back(Json{{"name", launch.name},
                            {"file", launch.file},
                            {"kernel", launch.kernel},
                            {"mangled", launch.mangled},
                            {"code_sha256", launch.code_sha256},
                            {"time_dependent", launch.time_dependent},
                            {"roofline_cycles", report::json_number(launch.roofline_cycles)},
                            {"values", std::move(values)}});
  }
  return report::lay_out(
      Json{{"schema", kFrozenSchema},
           {"foretrace", frozen.foretrace},
           {"commit", report::json_text_or_null(frozen.commit)},
           {"date", frozen.date},
           {"arch", frozen.arch},
           {"config_sha256", frozen.config_sha256},
           {"clock_hz",
            Json{{"sm", frozen.clock_hz.sm}, {"l2", frozen.clock_hz.l2}, {"dram", frozen.clock_hz.dram}}},
           {"toolkit", frozen.toolkit},
           {"failed", frozen.failed},
           {"frozen_metrics", names},
           {"launches", std::move(launches)}},
      {"launches"});
}

Frozen read_frozen(std::string_view text, const std::string& name) {
  Frozen frozen;
  const Json json = report::parse_json(text, name, "a document of foretrace validate --freeze");
  const report::JsonSource source{name, "docs/frozen_schema.json has it"};
  const report::JsonReader document(json, source);
  document.expect_schema(kFrozenSchema);
  const std::vector<std::string> names = document.texts("frozen_metrics");
  frozen.foretrace = document.text("foretrace");
  frozen.commit = document.text_or_null("commit");
  frozen.date = document.text("date");
  frozen.arch = document.text("arch");
  frozen.config_sha256 = document.text("config_sha256");
  const report::JsonReader clock = document.object("clock_hz");
  frozen.clock_hz = {clock.whole("sm"), clock.whole("l2"), clock.whole("dram")};
  frozen.toolkit = document.text("toolkit");
  frozen.failed = document.texts("failed");
  for (const report::JsonReader& launch : document.objects("launches")) {
    PredictedLaunch& read = frozen.launches.emplace_back();
    read.name = launch.text("name");
    read.file = launch.text("file");
    read.kernel = launch.text("kernel");
    read.mangled = launch.text("mangled");
    read.code_sha256 = launch.text("code_sha256");
    read.time_dependent = launch.flag("time_dependent");
    read.roofline_cycles = launch.number("roofline_cycles");
    const std::vector<report::Value> values = launch.numbers("values");
    if (values.size() != names.size()) {
      throw InputError(fmt::format("{}: launch {}: {} values; expected one for each of {} frozen_metrics",
                                   name, read.name, values.size(), names.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) read.metrics.set(names[i], values[i]);
  }
  return frozen;
}

const PredictedLaunch* find(const Frozen& frozen, const std::string& launch) {
  const auto found = std::find_if(frozen.launches.begin(), frozen.launches.end(),
                                  [&](const PredictedLaunch& each) { return each.name == launch; });
  return found == frozen.launches.end() ? nullptr : &*found;
}

}  // namespace foretrace::validate
