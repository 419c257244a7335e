#include "sim/report/chip_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"

namespace foretrace::report {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const config::Loaded& chip) {
  Json values = Json::array();
  for (const config::Value& value : chip.values) {
    values.push_back(Json{{"key", value.key},
                          {"value", value.text},
                          {"numbers", value.numbers},
                          {"unit", value.unit},
                          {"form", value.form},
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

Json json_of(const OccupancyResult& result) {
  const rules::Occupancy& found = result.found;
  Json json{{"arch", result.arch},
            {"blocks", found.blocks},
            {"warps", found.warps},
            {"percent", found.percent},
            {"limiter", rules::name_of(found.limiter)},
            {"limit_registers", found.limit_registers},
            {"limit_shared_mem", found.limit_shared},
            {"limit_warps", found.limit_warps},
            {"limit_blocks", found.limit_blocks},
            {"limit_barriers", found.limit_barriers},
            {"registers_per_block", found.registers_per_block},
            {"shared_per_block", found.shared_per_block},
            {"shared_config", found.shared_config},
            {"next_step", result.next_step}};
  if (result.clusters) json["max_active_clusters"] = *result.clusters;
  return json;
}

}  // namespace

std::string chips_json(const std::vector<const config::Loaded*>& chips) {
  Json all = Json::array();
  for (const config::Loaded* chip : chips) all.push_back(json_of(*chip));
  return Json{{"schema", 1}, {"chips", std::move(all)}}.dump(1) + "\n";
}

OccupancyResult occupancy_of(const spec::GpuSpec& spec, const rules::KernelResources& kernel) {
  if (const std::string why = rules::impossible(spec, kernel); !why.empty()) throw InputError(why);
  return {spec.name, rules::occupancy(spec, kernel), rules::next_step(spec, kernel), std::nullopt};
}

std::string occupancy_json(const std::vector<OccupancyResult>& results) {
  Json all = Json::array();
  for (const OccupancyResult& result : results) all.push_back(json_of(result));
  return Json{{"schema", 1}, {"occupancy", std::move(all)}}.dump(2) + "\n";
}

}  // namespace foretrace::report
