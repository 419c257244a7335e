#include "sim/validate/frozen.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/document.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"

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
  try {
    const Json document = Json::parse(text);
    if (document.at("schema").get<int>() != kFrozenSchema) {
      throw InputError(
          fmt::format("{}: schema {}; expected {}", name, document.at("schema").dump(), kFrozenSchema));
    }
    const auto names = document.at("frozen_metrics").get<std::vector<std::string>>();
    frozen.foretrace = document.at("foretrace").get<std::string>();
    if (!document.at("commit").is_null()) frozen.commit = document.at("commit").get<std::string>();
    frozen.date = document.at("date").get<std::string>();
    frozen.arch = document.at("arch").get<std::string>();
    frozen.config_sha256 = document.at("config_sha256").get<std::string>();
    frozen.clock_hz = {document.at("clock_hz").at("sm").get<std::uint64_t>(),
                       document.at("clock_hz").at("l2").get<std::uint64_t>(),
                       document.at("clock_hz").at("dram").get<std::uint64_t>()};
    frozen.toolkit = document.at("toolkit").get<std::string>();
    frozen.failed = document.at("failed").get<std::vector<std::string>>();
    for (const Json& launch : document.at("launches")) {
      PredictedLaunch& read = frozen.launches.emplace_back();
      read.name = launch.at("name").get<std::string>();
      read.file = launch.at("file").get<std::string>();
      read.kernel = launch.at("kernel").get<std::string>();
      read.mangled = launch.at("mangled").get<std::string>();
      read.code_sha256 = launch.at("code_sha256").get<std::string>();
      read.time_dependent = launch.at("time_dependent").get<bool>();
      read.roofline_cycles = launch.at("roofline_cycles").get<double>();
      const Json& values = launch.at("values");
      if (values.size() != names.size()) {
        throw InputError(fmt::format("{}: launch {}: {} values; expected one for each of {} frozen_metrics",
                                     name, read.name, values.size(), names.size()));
      }
      for (std::size_t i = 0; i < names.size(); ++i) {
        read.metrics.set(names[i],
                         values[i].is_null() ? report::Value() : report::Value(values[i].get<double>()));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(
        fmt::format("{}: no frozen predictions: {}; expected a document of foretrace validate --freeze", name,
                    report::one_line(error.what())));
  }
  return frozen;
}

const PredictedLaunch* find(const Frozen& frozen, const std::string& launch) {
  const auto found = std::find_if(frozen.launches.begin(), frozen.launches.end(),
                                  [&](const PredictedLaunch& each) { return each.name == launch; });
  return found == frozen.launches.end() ? nullptr : &*found;
}

}  // namespace foretrace::validate
