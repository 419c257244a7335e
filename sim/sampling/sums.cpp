#include "sim/sampling/sums.h"

#include <cmath>

namespace foretrace::sampling {

void add_sums(stats::LaunchCounters& into, const stats::LaunchCounters& from, double weight) {
  const auto weighted = [weight](std::uint64_t count) {
    return weight == 1 ? count
                       : static_cast<std::uint64_t>(std::llround(weight * static_cast<double>(count)));
  };
  const auto add = [&](const auto& counters, auto& sums, const auto& row) {
    for (const auto& counter : counters) {
      if (counter.growth == stats::Growth::work) sums.*counter.member += weighted(row.*counter.member);
    }
  };
  add(stats::kLaunchCounters, into, from);
  for (std::size_t i = 0; i < from.instructions.size(); ++i)
    add(stats::kInstructionCounters, into.instructions[i], from.instructions[i]);
}

}  // namespace foretrace::sampling
