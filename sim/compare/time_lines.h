// Two programs' time lines side by side: what the GPU waited for, what each kernel and each NVTX range took.
//
// Units:  nanoseconds.
// Source: docs/json.md, keys "program" and "represented".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::compare {

/// One row: a part of the time, all launches of a kernel, all ranges of a name.
struct TimePair {
  std::string name;
  double before = 0, after = 0;
  std::uint64_t count_before = 0, count_after = 0;  ///< launches, ranges
};

struct TimeLinePair {
  std::string host_before, host_after;
  std::vector<TimePair> time;      ///< the whole, then its parts
  std::vector<TimePair> critical;  ///< the parts of the longest chain of causes
  std::vector<TimePair> overlap;   ///< won and lost
  std::vector<TimePair> kernels;   ///< by name, the largest change first
  std::vector<TimePair> ranges;    ///< likewise
};

/// Of two result documents, as text; none where one of them has no time line. Throws InputError where one is damaged.
std::optional<TimeLinePair> compare_time_lines(std::string_view before, const std::string& before_name,
                                               std::string_view after, const std::string& after_name);

/// Tables; ends with a newline.
std::string to_text(const TimeLinePair& pair);

}  // namespace foretrace::compare
