#include "sim/runtime/device/dependence.h"

#include <algorithm>
#include <numeric>

namespace foretrace::runtime {

host::Dependence dependence_of(const report::Prediction& prediction) {
  const auto& code = prediction.program->code;
  const auto first = [&code](isa::Opcode opcode) {
    const auto found =
        std::find_if(code.begin(), code.end(), [&](const auto& each) { return each.opcode == opcode; });
    return static_cast<std::size_t>(found - code.begin());
  };
  const std::size_t waits = first(isa::Opcode::ACQBULK), lets_go = first(isa::Opcode::PREEXIT);
  const stats::LaunchCounters& counters = prediction.counters;
  const auto per_warp = [&](std::size_t from, std::size_t until) {
    double sum = 0;
    for (std::size_t i = from; i < std::min(until, counters.instructions.size()); ++i) {
      const stats::StateCycles& spent = counters.instructions[i].stalled;
      sum += static_cast<double>(std::accumulate(spent.begin(), spent.end(), std::uint64_t{0}));
    }
    const std::uint64_t warps = (prediction.block.count() + kWarpSize - 1) / kWarpSize;
    return sum / static_cast<double>(prediction.grid.count() * warps);
  };
  const spec::LaunchSpec& launch = prediction.gpu->launch;
  const auto elapsed = static_cast<double>(counters.elapsed);
  const double ns = 1e9 / static_cast<double>(prediction.gpu->clock.sm);
  host::Dependence found;
  if (waits < code.size())
    found.waits = ns * std::min(elapsed, launch.start + launch.block_start + per_warp(0, waits + 1));
  if (lets_go < code.size()) {
    const double left = launch.drain + launch.block_end + per_warp(lets_go + 1, code.size());
    found.lets_go = ns * std::max(0.0, elapsed - left);
  }
  return found;
}

}  // namespace foretrace::runtime
