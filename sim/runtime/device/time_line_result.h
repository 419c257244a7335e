// The time line in the summary and in the result document.
#pragma once

#include <string>
#include <vector>

#include "sim/host/ranges.h"
#include "sim/host/time_line.h"
#include "sim/report/program_result.h"

namespace foretrace::runtime {

/// Everything must be settled. `host_time`: factor of the program's own work.
report::TimeLineResult time_line_result(const host::TimeLine& line, double host_time);
/// Lines for the summary.
std::string time_line_text(const report::TimeLineResult& result);
/// A table of the ranges' sums, the most GPU time first; nothing without ranges.
std::string ranges_text(const std::vector<host::Range>& ranges, const host::TimeLine& line);

}  // namespace foretrace::runtime
