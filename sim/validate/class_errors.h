// Errors as they stand: the mean cycle error of each class of kernel, kept beside a measurement, so that a change
// that makes any class worse is seen.
//
// Models:  by class, over the launches compared: their number and the mean error of elapsed and of active cycles.
//          All held-out kernels are one class, so that nobody reads their errors apart.
// Ignores: getting better: the committed numbers are then replaced (scripts/update_errors).
// Source:  docs/validation.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/validate/validation.h"

namespace foretrace::validate {

struct ClassMeans {
  std::size_t launches = 0;
  double elapsed_pct = 0, active_pct = 0;  ///< mean of |error|, rounded to 0.001
};
using ClassErrorTable = std::map<std::string, ClassMeans>;

ClassErrorTable class_error_table(const Validation& validation);

std::string to_json(const ClassErrorTable& table);
/// Throws InputError in one line; `name` is the file's in errors.
ClassErrorTable read_class_errors(std::string_view text, const std::string& name);

/// One sentence for each class whose error is more than `slack` points above what it was, that has fewer launches
/// than before, that is missing, or that is new; empty: nothing got worse.
std::vector<std::string> what_got_worse(const ClassErrorTable& before, const ClassErrorTable& now,
                                        double slack);

}  // namespace foretrace::validate
