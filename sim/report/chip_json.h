// What the commands arch and occupancy say, as JSON (docs/json.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "model/rules/occupancy.h"

namespace foretrace::report {

/// Every value of the chips with its range and source.
std::string chips_json(const std::vector<const config::Loaded*>& chips);

/// What a launch takes of an SM, and what would change it.
struct OccupancyResult {
  std::string arch;  ///< the chip's name
  rules::Occupancy found;
  std::string next_step;                  ///< empty: none
  std::optional<std::uint64_t> clusters;  ///< how many run at a time; none where nobody asked
};

/// Throws InputError where the chip cannot run such a block.
OccupancyResult occupancy_of(const spec::GpuSpec& spec, const rules::KernelResources& kernel);

std::string occupancy_json(const std::vector<OccupancyResult>& results);

}  // namespace foretrace::report
