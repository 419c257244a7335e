#include "sim/validate/stall_states.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrace::validate {
namespace {

template <typename Read>
std::optional<StateShares> shares(const Read& read) {
  StateShares all{};
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = read(fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio",
                              stats::name_of(static_cast<stats::WarpState>(i))))
                 .value_or(0);
    sum += all[i];
  }
  if (!(sum > 0)) return {};
  for (double& each : all) each /= sum;
  return all;
}

}  // namespace

std::optional<StateShares> predicted_shares(const ValidatedLaunch& launch) {
  return shares([&](const std::string& metric) { return launch.value(metric); });
}

std::optional<StateShares> measured_shares(const ValidatedLaunch& launch) {
  return shares([&](const std::string& metric) { return launch.reference(metric); });
}

double distance(const StateShares& a, const StateShares& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
  return sum / 2;
}

std::size_t largest(const StateShares& shares) {
  return static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

bool leads_by_a_fifth(const StateShares& shares) {
  const std::size_t first = largest(shares);
  double second = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i != first) second = std::max(second, shares[i]);
  }
  return shares[first] >= 1.2 * second;
}

StateShares always_long_scoreboard() {
  StateShares shares{};
  shares[static_cast<std::size_t>(stats::WarpState::long_scoreboard)] = 1;
  return shares;
}

}  // namespace foretrace::validate
