// Launches on several chips: executed once for the chips of one machine code, simulated on each.
//
// Each chip runs all launches in their order. The first of the chips with the same machine code executes them; the others read its records
// (sim/engine/shared_blocks.h), and execute what those do not hold: launches that are sampled, or too large to be held.
#pragma once

#include <string>
#include <vector>

#include "sim/app/options.h"
#include "sim/app/run_launch.h"
#include "sim/frontend/launch/launch.h"

namespace foretrace::app {

/// A launch and the launches of its file, for `after`.
struct Planned {
  frontend::LaunchDescription launch;
  bool reported = true;  ///< false: runs only because a reported one comes after it
};

/// `trace`: a directory where there are `many_traces`.
struct ChipRunChoices : RunChoices {
  bool many_traces = false;
  bool gains = false;
  std::string* first_warps =
      nullptr;  ///< gets those of the first reported launch on the first chip (report::FirstWarps); may be null
};

/// By launch, and for each launch by chip.
std::vector<report::Prediction> run_on_chips(const std::vector<Variant>& chips,
                                             const std::vector<Planned>& launches,
                                             const ChipRunChoices& chosen, int threads);

}  // namespace foretrace::app
