#include "model/stats/launch_counters.h"

#include "model/units/error.h"

namespace foretrace::stats {

const char* name_of(WarpState state) {
  static constexpr std::array<const char*, kWarpStates> kNames = {"barrier",
                                                                  "branch_resolving",
                                                                  "dispatch_stall",
                                                                  "drain",
                                                                  "gmma",
                                                                  "imc_miss",
                                                                  "lg_throttle",
                                                                  "long_scoreboard",
                                                                  "math_pipe_throttle",
                                                                  "membar",
                                                                  "mio_throttle",
                                                                  "misc",
                                                                  "no_instruction",
                                                                  "not_selected",
                                                                  "selected",
                                                                  "short_scoreboard",
                                                                  "sleeping",
                                                                  "tex_throttle",
                                                                  "wait"};
  const auto index = static_cast<std::size_t>(state);
  FORETRACE_ASSERT(index < kNames.size(), "A warp is in one of Nsight Compute's states.");
  return kNames[index];
}

}  // namespace foretrace::stats
