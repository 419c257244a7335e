// One launch of which only a part is simulated (docs/accuracy.md).
//
// Models:  a survey of some blocks says what the launch's work is; the whole chip is simulated from the start, with the blocks it would
//          have, until the rates have settled; whole waves of blocks are then left out, and the last wave is simulated on the chip as
//          it is, to the launch's end. Where a wave is too long for that, the rate within the first speaks for the rest.
#pragma once

#include <string>

#include "sim/emulate/emulator.h"
#include "sim/engine/run_launch.h"
#include "sim/sampling/survey.h"

namespace foretrace::engine {

/// Whether a launch can be sampled.
struct Suitability {
  bool sampled = false;
  bool on_any_chip = false;  ///< `sampled` is false whatever the chip
  std::string why_not;       ///< part of a sentence; empty where sampling was only not worth it
  sampling::Survey survey;   ///< where it is
};

/// `asked`: also small launches.
Suitability suitability(const emulate::LaunchContext& context, const Launch& shape, const Machine& machine,
                        bool asked);

/// Simulates a part, or all of it where the rates do not settle before its end (Estimate::sampled says which).
Outcome run_sampled(const emulate::LaunchContext& context, const Launch& shape, Machine& machine,
                    const LaunchRun& run, const sampling::Survey& survey);

}  // namespace foretrace::engine
