#include "sim/runtime/device/time_line_result.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/host/time_summary.h"

namespace foretrace::runtime {

report::TimeLineResult time_line_result(const host::TimeLine& line, const std::vector<host::Range>& ranges,
                                        double host_time) {
  const host::TimeSummary sum = host::summarize(line);
  report::TimeLineResult result;
  result.host = line.spec().name;
  result.host_title = line.spec().title;
  result.host_time = host_time;
  result.duration_ns = sum.ns;
  result.time = {sum.kernels, sum.copies, sum.calls, sum.own, sum.gaps};
  result.critical = {sum.critical.kernels, sum.critical.copies, sum.critical.calls, sum.critical.own,
                     sum.critical.gaps};
  result.overlap_won_ns = sum.overlap_won;
  result.overlap_lost_ns = sum.overlap_lost;
  for (const host::RangeSum& range : host::sum_ranges(ranges, line))
    result.ranges.push_back({range.name, range.count, range.kernels, range.kernels_ns, range.host_ns});
  return result;
}

namespace {

std::string parts_text(const report::TimeParts& parts, double all) {
  const auto share = [&](double part) { return 100 * part / std::max(all, 1.0); };
  return fmt::format(
      "kernels {:.1f}%, copies {:.1f}%, the host's calls {:.1f}%, its own work {:.1f}%, gaps {:.1f}%",
      share(parts.kernels), share(parts.copies), share(parts.calls), share(parts.own), share(parts.gaps));
}

std::string ranges_text(const std::vector<report::RangeResult>& ranges) {
  constexpr std::size_t kShown = 20;
  if (ranges.empty()) return "";
  std::string text = fmt::format("foretrace: {:>6} {:>9} {:>14} {:>15}  {}\n", "ranges", "kernels",
                                 "on the GPU, us", "on the host, us", "NVTX range");
  for (std::size_t i = 0; i < std::min(ranges.size(), kShown); ++i) {
    const report::RangeResult& range = ranges[i];
    text += fmt::format("foretrace: {:>6} {:>9} {:>14.2f} {:>15.2f}  {}\n", range.count, range.kernels,
                        range.kernels_ns * 1e-3, range.host_ns * 1e-3, range.name);
  }
  if (ranges.size() > kShown) text += fmt::format("foretrace: and {} more ranges\n", ranges.size() - kShown);
  return text;
}

}  // namespace

std::string time_line_text(const report::TimeLineResult& result) {
  std::string text = fmt::format("foretrace: time line with host {}: {:.2f} us: {}\n", result.host,
                                 result.duration_ns * 1e-3, parts_text(result.time, result.duration_ns));
  const report::TimeParts& c = result.critical;
  const double path = c.kernels + c.copies + c.calls + c.own + c.gaps;
  text += fmt::format("foretrace: critical path: {}; overlap won {:.2f} us, lost {:.2f} us\n",
                      parts_text(c, path), result.overlap_won_ns * 1e-3, result.overlap_lost_ns * 1e-3);
  return text + ranges_text(result.ranges);
}

}  // namespace foretrace::runtime
