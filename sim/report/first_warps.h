// The first two warps of a launch cycle by cycle, for its page: recorded while it is simulated.
#pragma once

#include <memory>
#include <string>

#include "model/isa/program.h"
#include "model/sm/timeline.h"

namespace foretrace::report {

/// Of the first block, 200 instructions each, no later than cycle 100,000.
class FirstWarps {
 public:
  FirstWarps();
  /// What the simulation records to (engine::RunOptions, engine::LaunchRun); once.
  sm::Timeline* timeline() { return &timeline_; }
  /// After it: JSON text (docs/timeline.md). `arch`: the chip's name.
  std::string json(const std::string& arch, const std::shared_ptr<const isa::Program>& program);

 private:
  sm::Timeline timeline_;
};

}  // namespace foretrace::report
