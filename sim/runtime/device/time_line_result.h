// The time line in the summary and in the result document.
#pragma once

#include <string>

#include "sim/host/time_line.h"
#include "sim/report/program_result.h"

namespace foretrace::runtime {

/// Everything must be settled. `host_time`: factor of the program's own work.
report::TimeLineResult time_line_result(const host::TimeLine& line, double host_time);
/// Lines for the summary.
std::string time_line_text(const report::TimeLineResult& result);

}  // namespace foretrace::runtime
