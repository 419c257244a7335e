// Which class of kernel a launch belongs to in error tables, and whether its kernel is in the development or the held-out split.
//
// Models:  a kernel of the suite (validate/suite/CLASS/NAME.toml) is of the class that its folder names; any other
//          launch file (the examples of validate/kernels, published anchors) is a class of its own, by its stem.
// Split:   a suite kernel is held out where the first eight hexadecimal digits of the SHA-256 of its launch file's
//          stem, as a number, leave no rest when divided by three: a third, chosen before anything was measured and
//          by nobody. Errors of held-out kernels are only ever read in sum. Everything else is for development: it was looked at
//          while the model was made.
// Source:  docs/validation.md.
#pragma once

#include <string>

namespace foretrace::validate {

/// "scan" for "validate/suite/scan/blelloch.toml", "transpose" for "validate/kernels/transpose.toml".
std::string class_of(const std::string& launch_file);

/// True for a third of the suite's names, always the same ones; false for every other file.
bool is_held_out(const std::string& launch_file);

}  // namespace foretrace::validate
