#include "sim/runtime/device/time_line_result.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/collective/link_spec.h"
#include "sim/host/time_summary.h"

namespace foretrace::runtime {

report::TimeLineResult time_line_result(const host::TimeLine& line, const std::vector<host::Range>& ranges,
                                        const Settings& settings) {
  const host::TimeSummary sum = host::summarize(line);
  report::TimeLineResult result;
  result.host = line.spec().name;
  result.host_title = line.spec().title;
  result.host_time = settings.host_time;
  result.duration_ns = sum.ns;
  result.time = {sum.kernels, sum.copies, sum.calls, sum.own, sum.gaps};
  result.critical = {sum.critical.kernels, sum.critical.copies, sum.critical.calls, sum.critical.own,
                     sum.critical.gaps};
  result.overlap_won_ns = sum.overlap_won;
  result.overlap_lost_ns = sum.overlap_lost;
  const host::BesideSum beside = host::sum_beside(line.schedule());
  if (beside.simulated + beside.by_rates + beside.by_shares != 0)
    result.beside = {beside.simulated, beside.groups,      beside.by_rates,
                     beside.by_shares, beside.slowed_mean, beside.slowed_most};
  const host::PeerSum peers = host::sum_peer_copies(line.schedule());
  if (peers.copies != 0) {
    const bool asked = !settings.link.empty();
    result.peer_copies = {
        asked ? std::filesystem::path(settings.link).stem().string() : collective::kDefaultLink, asked,
        peers.copies, peers.bytes, peers.ns};
  }
  for (const host::RangeSum& range : host::sum_ranges(ranges, line))
    result.ranges.push_back({range.name, range.count, range.kernels, range.kernels_ns, range.host_ns});
  return result;
}

std::optional<report::LaunchBeside> launch_beside(const host::Schedule& schedule, host::WorkId kernel) {
  const host::Work& work = schedule[kernel];
  if (work.beside == host::Beside::alone) return std::nullopt;
  report::LaunchBeside beside{"shares", work.slowed(), {}};
  if (work.beside == host::Beside::shares) return beside;
  beside.by = work.beside == host::Beside::simulated ? "simulation" : "rates";
  for (const host::WorkId other : schedule.groups()[work.group])
    if (other != kernel) beside.with.push_back(schedule[other].launch);
  return beside;
}

namespace {

std::string beside_text(const report::BesideResult& beside) {
  std::vector<std::string> parts;
  if (beside.simulated != 0) parts.push_back(fmt::format("{} kernels simulated together", beside.simulated));
  if (beside.by_rates != 0)
    parts.push_back(fmt::format("{} by what each asks of the chip (--budget)", beside.by_rates));
  if (beside.groups != 0)
    parts.push_back(fmt::format("{} group{}, {:.2f} times as long as alone on average, {:.2f} at most",
                                beside.groups, beside.groups == 1 ? "" : "s", beside.slowed_mean,
                                beside.slowed_most));
  if (beside.by_shares != 0)
    parts.push_back(
        fmt::format("{} by their shares of the chip, as if nothing slowed them", beside.by_shares));
  return fmt::format("foretrace: side by side: {}\n", fmt::join(parts, "; "));
}

std::string parts_text(const report::TimeParts& parts, double all) {
  const auto share = [&](double part) { return 100 * part / std::max(all, 1.0); };
  return fmt::format(
      "kernels {:.1f}%, copies {:.1f}%, the host's calls {:.1f}%, its own work {:.1f}%, gaps {:.1f}%",
      share(parts.kernels), share(parts.copies), share(parts.calls), share(parts.own), share(parts.gaps));
}

std::string peers_text(const report::PeerResult& peers) {
  return fmt::format(
      "foretrace: {} cop{} between GPUs, {:.2f} MiB, over {}{}: {:.2f} us, added up\n", peers.copies,
      peers.copies == 1 ? "y" : "ies", static_cast<double>(peers.bytes) / 1048576, peers.link,
      peers.asked ? "" : " (taken for want of --link, whatever joins these GPUs)", peers.duration_ns * 1e-3);
}

std::string ranges_text(const std::vector<report::RangeResult>& ranges) {
  constexpr std::size_t kShown = 20;
  if (ranges.empty()) return "";
  std::string text = fmt::format("foretrace: {:>6} {:>9} {:>14} {:>15}  {}\n", "ranges", "kernels",
                                 "on the GPU, us", "on the host, us", "operator or NVTX range");
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
  if (result.peer_copies) text += peers_text(*result.peer_copies);
  if (result.beside) text += beside_text(*result.beside);
  return text + ranges_text(result.ranges);
}

}  // namespace foretrace::runtime
