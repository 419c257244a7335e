// The time line in the summary and in the result document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/host/ranges.h"
#include "sim/host/time_line.h"
#include "sim/report/document.h"
#include "sim/report/program_result.h"
#include "sim/runtime/settings.h"

namespace foretrace::runtime {

/// Everything must be settled.
report::TimeLineResult time_line_result(const host::TimeLine& line, const std::vector<host::Range>& ranges,
                                        const Settings& settings);
/// What other kernels were to the kernel; nothing: none overlapped with it.
std::optional<report::LaunchBeside> launch_beside(const host::Schedule& schedule, host::WorkId kernel);
/// Lines for the summary: the parts of the time, and a table of the ranges' sums where there are any.
std::string time_line_text(const report::TimeLineResult& result);

}  // namespace foretrace::runtime
