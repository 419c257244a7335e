// The sections of the text report, each a function of the columns it shows side by side. For sim/report
// alone.
#pragma once

#include <string>
#include <vector>

#include "sim/report/document.h"
#include "sim/report/text.h"

namespace foretrace::report {

/// One launch on several chips, or under several what-ifs.
struct Columns {
  std::vector<const LaunchResult*> results;
  std::vector<std::string> titles;  ///< as many, different from each other where the results are
};

std::string metric_sections_before_limiter(const Columns& columns);  ///< speed of light
std::string metric_sections_after_limiter(
    const Columns& columns);  ///< launch, occupancy, compute, memory, schedulers
std::string warp_state_section(const Columns& columns);
std::string hottest_instructions(const LaunchResult& result, const std::string& title,
                                 const TextOptions& options);
std::string memory_accesses(const LaunchResult& result, const std::string& title, const TextOptions& options);

/// What the sections show: every row of every section in their order.
struct SectionRow {
  const char* section;
  const char* label;
  const char* metric;
};
std::vector<SectionRow> section_rows();

/// A metric's values side by side in one readable unit ("us" for 1000 ns and more), and that unit.
struct Readable {
  std::string unit;
  std::vector<std::string> cells;  ///< "n/a" for none
};
Readable readable(const std::vector<const LaunchResult*>& results, const std::string& metric);

}  // namespace foretrace::report
