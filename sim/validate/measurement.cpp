#include "sim/validate/measurement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/json_reader.h"

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

Measurement read_measurement(std::string_view text, const std::string& name) {
  constexpr double kMost = 1e18;  // of what is counted: fits into 64 bits
  Measurement measurement;
  const report::Json json = report::parse_json(text, name, "a document of validate/harness/measure");
  const report::JsonSource source{name, "validate/harness/measure writes it"};
  const report::JsonReader document(json, source);
  document.expect_schema(1);
  measurement.device = document.text("device");
  measurement.date = document.text("date");
  measurement.source = document.text_if_there("source", "");
  measurement.arch = document.text_if_there("arch", "");
  const bool published = !measurement.source.empty();
  if (!published) measurement.driver = document.text("driver");
  for (const report::JsonReader& launch : document.objects("launches")) {
    MeasuredLaunch& read = measurement.launches.emplace_back();
    read.name = launch.text("name");
    if (published) {
      read.less = launch.text_if_there("less", "");
      read.per = launch.number_if_there("per").value_or(1);
      if (read.per < 1) launch.refuse(launch.path("per"), "1 or more");
    } else {
      read.mangled = launch.text("mangled");
      read.cubin = launch.text("cubin");
      read.code_sha256 = launch.text("code_sha256");
      read.grid = launch.dimensions("grid");
      read.block = launch.dimensions("block");
    }
    const report::JsonReader metrics = launch.object("metrics");
    for (const auto& [metric, _] : metrics.members()) {
      for (const report::Value& value : metrics.numbers(metric)) {
        if (!value) continue;
        if (*value < 0 || *value > kMost)
          launch.refuse(metrics.path(metric), fmt::format("numbers from 0 to {}", kMost));
        read.metrics[metric].push_back(*value);
      }
    }
  }
  return measurement;
}

}  // namespace foretrace::validate
