// What Nsight Compute measured, read from the CSV that a user makes with `ncu --csv --page raw`.
//
// Models:  the header row of names, the row of units below it, quoted cells, thousands separators, scaled
//          units (us, Kbyte, Ghz) brought back to base units (ns, byte, hz), lines of the profiler or the
//          program before the header.
// Ignores: columns that are no numbers; --page details (refused by name); locales with decimal commas
//          (refused).
// Source:  Nsight Compute 2025's own output; metric units as its documentation lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/units.h"
#include "sim/report/metrics.h"

namespace foretrace::compare {

/// One profiled launch: a row of the file.
struct ProfiledLaunch {
  std::string id;
  std::string kernel;  ///< as ncu prints it: "void scale<(int)4>(float *, int)"
  Dim3 grid, block;
  int sm = 0;                    ///< compute capability times ten: 90
  report::MetricValues metrics;  ///< base units; none for n/a
};

/// Every launch of a file, in its order. `name` is the file's name in errors.
/// Throws InputError in one line that names file, line and column when the text is not ncu's raw page.
std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text, const std::string& name);

/// A kernel's name in one spelling: no return type, no parameter list, no blanks, template arguments as plain
/// numbers: "void scale<(int)4, (bool)1>(float *)" and "scale<4,true>" both give "scale<4,1>".
std::string plain_kernel_name(std::string_view kernel);
/// The same without template arguments.
std::string base_kernel_name(std::string_view kernel);

/// Base units in one `unit`: 1000 for "us" (ns) and "Kbyte" (byte), 1e9 for "Gbyte/second"; 1 for units
/// without a prefix. `base` becomes the base unit.
double unit_factor(std::string_view unit, std::string& base);

}  // namespace foretrace::compare
