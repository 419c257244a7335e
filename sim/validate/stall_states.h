// How a launch's warp-cycles divide among Nsight Compute's warp states, and how far two divisions are apart.
//
// Models:  shares of smsp__average_warps_issue_stalled_<state>_per_issue_active.ratio in the sum over the states.
// Ignores: states that the measured side lacks.
// Source:  the metric reference of Nsight Compute; the distance is the total variation, half the sum of |differences|.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "model/stats/launch_counters.h"
#include "sim/validate/validation.h"

namespace foretrace::validate {

/// Share of each state, summing to 1.
using StateShares = std::array<double, stats::kWarpStates>;

/// None where the launch has no states.
std::optional<StateShares> predicted_shares(const ValidatedLaunch& launch);
std::optional<StateShares> measured_shares(const ValidatedLaunch& launch);
/// 0: the same; 1: nothing in common.
double distance(const StateShares& a, const StateShares& b);
/// Index of the largest share.
std::size_t largest(const StateShares& shares);
/// The largest share is at least 1.2 times the next.
bool leads_by_a_fifth(const StateShares& shares);
/// A predictor that knows one answer: every warp-cycle is long_scoreboard.
StateShares always_long_scoreboard();

}  // namespace foretrace::validate
