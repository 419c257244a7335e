// The acceptance criteria: what a validation is asked to reach, and what it reached, row by row.
//
// Models:  cycles, launch and drain cost, counts that must be equal, sectors, wavefronts, bank conflicts, hit
//          rates, traffic beyond L1, DRAM bytes, occupancy and the distribution of warp states. Each row is
//          asked of the launches that have something to say on it; which these are stands in docs/validation.md.
// Ignores: a metric that either side lacks: the row's count says over how many launches it was asked.
// Source:  the project's aims (docs/validation.md). "Equal" is asked only where the device's own two runs agree.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/validate/validation.h"

namespace foretrace::validate {

inline constexpr double kLeastElapsed = 20'000;  ///< measured cycles from which elapsed cycles are asked
inline constexpr double kLeastActive = 2'000;    ///< the same for active cycles
inline constexpr double kLeastSectors = 1'000;   ///< sectors from which a hit rate is asked

/// One row over one set of launches.
struct Row {
  std::string name;     ///< "cycles elapsed (20,000 and more)"
  std::string asked;    ///< "mean <= 8%, ..."; empty: reported, nothing asked
  std::size_t n = 0;    ///< launches (or launch and metric, for `equal`) that it was asked of
  std::string reached;  ///< in words; empty where n is 0
  std::vector<std::pair<std::string, double>> figures;  ///< the same as numbers: "mean_abs_pct", ...
  std::optional<bool> pass;                             ///< none: nothing asked, or nothing to ask it of
  std::vector<std::pair<std::string, double>> outside;  ///< launches beyond the tolerance, with their error
  std::vector<std::string> not_asked;  ///< launches on which the device disagrees with itself
};

/// All rows, always the same ones in the same order.
std::vector<Row> accuracy_rows(const Launches& launches);

}  // namespace foretrace::validate
