// Frozen predictions: what was predicted of launches before anyone measured them, kept to be held against it.
//
// Models:  each launch's metrics with the hash of the machine code that was predicted; the chip's effective
//          configuration by its hash, the clocks, the commit and the date. A frozen number answers a
//          measurement only where the code is the same.
// Ignores: instructions and stalls by instruction.
// Source:  docs/validation.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/validate/validation.h"

namespace foretrace::validate {

struct Frozen {
  std::string foretrace, commit;  ///< of the program that predicted
  std::string date;               ///< "2026-11-21T14:55:00Z"
  std::string arch, config_sha256;
  spec::ClockSet clock_hz;
  std::string toolkit;  ///< of the compiler
  std::vector<PredictedLaunch> launches;
  std::vector<std::string> failed;  ///< "NAME: why" of launches that could not be predicted
};

/// Ends with a newline; one line per launch.
std::string to_json(const Frozen& frozen);
/// Throws InputError in one line; `name` is the file's in errors.
Frozen read_frozen(std::string_view text, const std::string& name);

/// The frozen prediction of a launch; nullptr where there is none.
const PredictedLaunch* find(const Frozen& frozen, const std::string& launch);

}  // namespace foretrace::validate
