// A comparison as text and as JSON.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "sim/compare/comparison.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"

namespace foretrace::compare {

constexpr std::size_t kLaunchesShown = 10;  // of launches that were left out
constexpr int kComparisonSchema = 1;        // docs/comparison_schema.json
namespace {

using report::grouped;
using report::Json;
using report::json_number;
using report::Table;

// What a reader looks at first, in the order of the report's sections.
constexpr std::array<std::string_view, 30> kMainMetrics = {
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "launch__registers_per_thread",
    "sm__maximum_warps_per_active_cycle_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors.sum",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
};

std::string cell(const report::Value& value) {
  if (!value) return "n/a";
  return grouped(*value, *value == std::floor(*value) ? 0 : 2);
}

std::string unit_of(const std::string& name) {
  const report::Metric* metric = report::find_metric(name);
  return metric == nullptr ? "" : metric->unit;
}

/// "+3.1%", or for a percentage "+2.0 points".
std::string change(const MetricPair& metric) {
  if (!metric.value || !metric.reference) return "";
  if (*metric.value == *metric.reference) return "=";
  if (unit_of(metric.name) == "%") return fmt::format("{:+.1f} points", *metric.value - *metric.reference);
  const auto pct = relative_error_pct(*metric.value, *metric.reference);
  return pct ? fmt::format("{:+.1f}%", *pct) : "from 0";
}

bool is_shown(const Comparison& comparison, const MetricPair& metric) {
  if (metric.value.value_or(0) == 0 && metric.reference.value_or(0) == 0) return false;
  // A measurement holds what its user asked for; of a result the main figures are shown, the JSON has all.
  return comparison.against == Against::measurement ||
         std::find(kMainMetrics.begin(), kMainMetrics.end(), metric.name) != kMainMetrics.end();
}

std::string launch_text(const Comparison& comparison, const LaunchPair& launch) {
  const bool results = comparison.against == Against::result;
  std::string out = fmt::format("{} {}x{}, {}\n", launch.kernel, report::in_brackets(launch.grid),
                                report::in_brackets(launch.block), launch.arch);
  if (!launch.note.empty()) out += fmt::format("  {}\n", launch.note);
  if (results) {
    out += launch.limiter == launch.limiter_before
               ? fmt::format("  limited by {} in both\n", launch.limiter)
               : fmt::format("  limited by {} -> {}\n", launch.limiter_before, launch.limiter);
  }
  Table table({"Metric", "Unit", results ? "Before" : "Measured", results ? "After" : "Predicted",
               results ? "Change" : "Error"},
              2);
  for (const auto& metric : launch.metrics) {
    if (is_shown(comparison, metric)) {
      table.add(
          {metric.name, unit_of(metric.name), cell(metric.reference), cell(metric.value), change(metric)});
    }
  }
  return out + "\n" + table.text(2) + "\n";
}

std::string percentage(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}%", *value) : "n/a";
}

std::string errors_text(const Comparison& comparison) {
  const bool results = comparison.against == Against::result;
  Table table({"Metric", "Launches", "Mean", "Median", "p90", "Worst", "r"}, 1);
  for (const auto& [name, errors] : errors_of(comparison)) {
    if (results && std::find(kMainMetrics.begin(), kMainMetrics.end(), name) == kMainMetrics.end()) continue;
    table.add({name, fmt::format("{}", errors.pairs), percentage(errors.mean_abs_pct),
               percentage(errors.median_abs_pct), percentage(errors.p90_abs_pct),
               percentage(errors.worst_abs_pct),
               errors.pearson ? fmt::format("{:.4f}", *errors.pearson) : "n/a"});
  }
  return fmt::format("{} over {} launches (absolute)\n\n{}\n", results ? "Changes" : "Errors",
                     comparison.launches.size(), table.text(2));
}

Json metric_errors_json(const ErrorStatistics& errors) {
  return Json{{"launches", errors.pairs},
              {"without_percentage", errors.without_percentage},
              {"mean_abs_pct", json_number(errors.mean_abs_pct)},
              {"median_abs_pct", json_number(errors.median_abs_pct)},
              {"p90_abs_pct", json_number(errors.p90_abs_pct)},
              {"worst_abs_pct", json_number(errors.worst_abs_pct)},
              {"pearson", json_number(errors.pearson)}};
}

Json pairs_json(const std::vector<TimePair>& rows, bool counted) {
  Json found = Json::array();
  for (const TimePair& row : rows) {
    found.push_back(Json{{"name", row.name},
                         {"before_ns", report::json_number(row.before)},
                         {"after_ns", report::json_number(row.after)}});
    if (!counted) continue;
    found.back()["before_count"] = row.count_before;
    found.back()["after_count"] = row.count_after;
  }
  return found;
}

Json time_line_json(const TimeLinePair& pair) {
  return Json{{"host_before", pair.host_before},
              {"host_after", pair.host_after},
              {"time", pairs_json(pair.time, false)},
              {"critical_path", pairs_json(pair.critical, false)},
              {"overlap", pairs_json(pair.overlap, false)},
              {"kernels", pairs_json(pair.kernels, true)},
              {"ranges", pairs_json(pair.ranges, true)}};
}

Json launch_json(const Comparison& comparison, const LaunchPair& launch) {
  const bool results = comparison.against == Against::result;
  Json metrics = Json::object();
  for (const auto& metric : launch.metrics) {
    const auto pct = metric.value && metric.reference ? relative_error_pct(*metric.value, *metric.reference)
                                                      : std::nullopt;
    metrics[metric.name] = Json{{results ? "before" : "measured", json_number(metric.reference)},
                                {results ? "after" : "predicted", json_number(metric.value)},
                                {results ? "change_pct" : "error_pct", json_number(pct)}};
  }
  const auto text_or_null = [](const std::string& text) { return report::json_text_or_null(text); };
  return Json{{"kernel", launch.kernel},
              {"arch", launch.arch},
              {"grid", Json::array({launch.grid.x, launch.grid.y, launch.grid.z})},
              {"block", Json::array({launch.block.x, launch.block.y, launch.block.z})},
              {"note", text_or_null(launch.note)},
              {"limiter", launch.limiter},
              {"limiter_before", text_or_null(launch.limiter_before)},
              {"metrics", std::move(metrics)}};
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  const bool results = comparison.against == Against::result;
  std::string out =
      results
          ? fmt::format("Before: {}\nAfter:  {}\n\n", comparison.reference_name, comparison.value_name)
          : fmt::format("Measured:  {}\nPredicted: {}\n\n", comparison.reference_name, comparison.value_name);
  if (comparison.time_line) out += to_text(*comparison.time_line);
  for (const auto& launch : comparison.launches) out += launch_text(comparison, launch);
  if (comparison.launches.size() > 1) out += errors_text(comparison);
  out += fmt::format("{} launch{} compared, {} left out\n", comparison.launches.size(),
                     comparison.launches.size() == 1 ? "" : "es", comparison.left_out.size());
  for (std::size_t i = 0; i < std::min(comparison.left_out.size(), kLaunchesShown); ++i)
    out += fmt::format("  left out: {}\n", comparison.left_out[i]);
  if (comparison.left_out.size() > kLaunchesShown)
    out += fmt::format("  ... and {} more (--json has all)\n", comparison.left_out.size() - kLaunchesShown);
  return out;
}

std::string to_json(const Comparison& comparison, const std::string& version) {
  const bool results = comparison.against == Against::result;
  Json metrics = Json::object();
  for (const auto& [name, errors] : errors_of(comparison)) metrics[name] = metric_errors_json(errors);
  Json launches = Json::array();
  for (const auto& launch : comparison.launches) launches.push_back(launch_json(comparison, launch));
  Json whole{{"schema", kComparisonSchema},
             {"foretrace", version},
             {"against", results ? "result" : "measurement"},
             {results ? "before" : "measured", comparison.reference_name},
             {results ? "after" : "predicted", comparison.value_name},
             {"compared", comparison.launches.size()},
             {"left_out", comparison.left_out},
             {"metrics", std::move(metrics)},
             {"launches", std::move(launches)}};
  if (comparison.time_line) whole["time_line"] = time_line_json(*comparison.time_line);
  return report::lay_out(whole, {});
}

}  // namespace foretrace::compare
