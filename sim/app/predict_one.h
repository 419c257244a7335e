// One launch of a launch file, predicted for a validation: from measured machine code, or compiled here.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/app/jobs.h"
#include "sim/app/launch_index.h"
#include "sim/validate/validation.h"

namespace foretrace::app {

struct ValidatedChip {
  std::string arch;
  std::vector<config::Override> overrides;
  config::ClockRequest clock;
};

/// Machine code that was measured.
struct MeasuredCode {
  std::string cubin, mangled, code_sha256;
};
/// By the launch's name. A launch without is compiled from its source.
using MeasuredCodes = std::map<std::string, MeasuredCode>;

/// Cold, as ncu flushes. Launches that come before on the same memory are emulated first. Throws InputError, also where the
/// cubin's code is not the measured one.
validate::PredictedLaunch predict_one(const IndexedLaunch& launch, const LaunchIndex& index,
                                      const ValidatedChip& chip, const MeasuredCodes& codes,
                                      const JobContext& context);

/// A folder's zstd-compressed cubins, decompressed into a directory of ours when they are asked for.
class PackedCubins {
 public:
  /// `folder` holds NAME.zst; `scratch` is where NAME goes.
  PackedCubins(std::filesystem::path folder, std::filesystem::path scratch)
      : folder_(std::move(folder)), scratch_(std::move(scratch)) {}
  /// Path of the decompressed file. Not for several threads at once.
  std::string path_of(const std::string& name) const;

 private:
  std::filesystem::path folder_, scratch_;
};

}  // namespace foretrace::app
