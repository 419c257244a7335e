#include "sim/validate/measurement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"

namespace foretrace::validate {

bool MeasuredLaunch::mean(const std::string& metric, double& value) const {
  const auto found = metrics.find(metric);
  if (found == metrics.end() || found->second.empty()) return false;
  value = std::accumulate(found->second.begin(), found->second.end(), 0.0) /
          static_cast<double>(found->second.size());
  return true;
}

bool MeasuredLaunch::repeats_agree(const std::string& metric) const {
  const auto found = metrics.find(metric);
  if (found == metrics.end() || found->second.size() < 2) return false;
  const std::vector<double>& runs = found->second;
  return std::all_of(runs.begin(), runs.end(), [&](double run) { return run == runs.front(); });
}

spec::ClockSet MeasuredLaunch::clocks() const {
  const auto hertz = [&](const char* metric) {
    double value = 0;
    mean(metric, value);
    return static_cast<std::uint64_t>(value);
  };
  return {hertz("gpc__cycles_elapsed.avg.per_second"), hertz("lts__cycles_elapsed.avg.per_second"),
          hertz("dram__cycles_elapsed.avg.per_second")};
}

namespace {

Dim3 extent(const nlohmann::json& three) {
  return {three.at(0).get<std::uint32_t>(), three.at(1).get<std::uint32_t>(),
          three.at(2).get<std::uint32_t>()};
}

}  // namespace

Measurement read_measurement(std::string_view text, const std::string& name) {
  Measurement measurement;
  try {
    const nlohmann::json document = nlohmann::json::parse(text);
    if (document.at("schema").get<int>() != 1) {
      throw InputError(fmt::format("{}: schema {}; expected 1", name, document.at("schema").dump()));
    }
    measurement.device = document.at("device").get<std::string>();
    measurement.date = document.at("date").get<std::string>();
    measurement.source = document.value("source", std::string());
    measurement.arch = document.value("arch", std::string());
    const bool published = !measurement.source.empty();
    if (!published) measurement.driver = document.at("driver").get<std::string>();
    for (const nlohmann::json& launch : document.at("launches")) {
      MeasuredLaunch& read = measurement.launches.emplace_back();
      read.name = launch.at("name").get<std::string>();
      if (published) {
        read.less = launch.value("less", std::string());
        read.per = launch.value("per", 1.0);
      } else {
        read.mangled = launch.at("mangled").get<std::string>();
        read.cubin = launch.at("cubin").get<std::string>();
        read.code_sha256 = launch.at("code_sha256").get<std::string>();
        read.grid = extent(launch.at("grid"));
        read.block = extent(launch.at("block"));
      }
      for (const auto& [metric, values] : launch.at("metrics").items()) {
        for (const nlohmann::json& value : values) {
          if (value.is_number()) read.metrics[metric].push_back(value.get<double>());
        }
      }
    }
  } catch (const nlohmann::json::exception& error) {
    std::string what = error.what();
    for (char& c : what) c = c == '\n' ? ' ' : c;
    throw InputError(fmt::format("{}: not a measurement: {}; expected a document of validate/harness/measure",
                                 name, what));
  }
  return measurement;
}

}  // namespace foretrace::validate
