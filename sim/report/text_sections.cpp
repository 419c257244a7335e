#include "sim/report/text_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/limiter.h"
#include "sim/report/table.h"

namespace foretrace::report {
namespace {

struct Row {
  const char* label;
  const char* metric;
};
struct Section {
  const char* title;
  std::vector<Row> rows;
};

const Section& speed_of_light() {
  static const Section kSection = {
      "GPU Speed Of Light Throughput",
      {{"Duration", "gpu__time_duration.sum"},
       {"Elapsed Cycles", "gpc__cycles_elapsed.max"},
       {"SM Active Cycles", "sm__cycles_active.avg"},
       {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
       {"L1 Data Stage Busy", "foretrace__l1_data.pct"},
       {"L2 Slices Busy", "foretrace__l2_slices.pct"},
       {"L2 Fabric Busy", "foretrace__l2_fabric.pct"},
       {"DRAM Throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
       {"L2 Frequency", "lts__cycles_elapsed.avg.per_second"},
       {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"}}};
  return kSection;
}

const std::vector<Section>& further_sections() {
  static const std::vector<Section> kSections = {
      {"Launch Statistics",
       {{"Grid Size", "launch__grid_size"},
        {"Block Size", "launch__block_size"},
        {"Threads", "launch__thread_count"},
        {"SMs", "launch__sm_count"},
        {"Waves Per SM", "launch__waves_per_multiprocessor"},
        {"Registers Per Thread", "launch__registers_per_thread"},
        {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
        {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
        {"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver"},
        {"Shared Memory Configuration Size", "launch__shared_mem_config_size"},
        {"Cycles Without Any Warp", "foretrace__launch_cycles.min"}}},
      {"Occupancy",
       {{"Block Limit Registers", "launch__occupancy_limit_registers"},
        {"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
        {"Block Limit Warps", "launch__occupancy_limit_warps"},
        {"Block Limit Blocks", "launch__occupancy_limit_blocks"},
        {"Block Limit Barriers", "launch__occupancy_limit_barriers"},
        {"Blocks Per SM", "foretrace__blocks_per_sm"},
        {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
        {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"}}},
      {"Compute Workload",
       {{"Executed Instructions", "smsp__inst_executed.sum"},
        {"Executed Thread Instructions", "smsp__thread_inst_executed.sum"},
        {"Active Lanes Per Instruction", "smsp__thread_inst_executed_per_inst_executed.ratio"},
        {"Divergent Branches", "foretrace__branches_divergent.sum"},
        {"Executed IPC Active", "sm__inst_executed.avg.per_cycle_active"},
        {"Executed IPC Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
        {"Pipe ALU Busy", "foretrace__pipe_alu.pct"},
        {"Pipe FMA Busy", "foretrace__pipe_fma.pct"},
        {"Pipe FMA Heavy Busy", "foretrace__pipe_fmaheavy.pct"},
        {"Pipe FP16 Busy", "foretrace__pipe_fp16.pct"},
        {"Pipe FP64 Busy", "foretrace__pipe_fp64.pct"},
        {"Pipe XU Busy", "foretrace__pipe_xu.pct"},
        {"Pipe Tensor Busy", "foretrace__pipe_tensor.pct"},
        {"Memory Unit Input Busy", "foretrace__memory_unit.pct"}}},
      {"Memory Workload: L1 and shared memory",
       {{"L1 Hit Rate", "l1tex__t_sector_hit_rate.pct"},
        {"Global Load Requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
        {"Global Load Sectors/Request",
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"},
        {"Global Store Requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
        {"Global Store Sectors/Request",
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
        {"Global Atomic Requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
        {"Global Reduction Requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
        {"Local Load Requests", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"},
        {"Local Store Requests", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"},
        {"Shared Load Instructions", "smsp__inst_executed_op_shared_ld.sum"},
        {"Shared Load Wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
        {"  ideal, no conflict", "foretrace__shared_wavefronts_ideal_op_ld.sum"},
        {"  bank conflicts by the rule", "foretrace__bank_conflicts_by_rule_op_ld.sum"},
        {"  added by arbitration", "foretrace__shared_wavefronts_contention_op_ld.sum"},
        {"Shared Store Instructions", "smsp__inst_executed_op_shared_st.sum"},
        {"Shared Store Wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
        {"  ideal, no conflict", "foretrace__shared_wavefronts_ideal_op_st.sum"},
        {"  bank conflicts by the rule", "foretrace__bank_conflicts_by_rule_op_st.sum"},
        {"  added by arbitration", "foretrace__shared_wavefronts_contention_op_st.sum"}}},
      {"Memory Workload: L2 and DRAM",
       {{"L2 Sectors Asked By SMs", "lts__t_sectors_srcunit_tex.sum"},
        {"  of loads", "lts__t_sectors_srcunit_tex_op_read.sum"},
        {"  of stores", "lts__t_sectors_srcunit_tex_op_write.sum"},
        {"L2 Hit Rate", "foretrace__l2_hit_rate_srcunit_tex.pct"},
        {"DRAM Bytes Read", "dram__bytes_read.sum"},
        {"DRAM Bytes Written", "dram__bytes_write.sum"},
        {"DRAM Bandwidth", "dram__bytes.sum.per_second"},
        {"DRAM Peak Bandwidth", "foretrace__dram_peak.per_second"},
        {"Load Latency Beyond L1", "foretrace__read_latency.avg"},
        {"  in the network", "foretrace__read_latency_network.avg"},
        {"  in L2", "foretrace__read_latency_l2.avg"},
        {"  between L2 partitions", "foretrace__read_latency_partition.avg"},
        {"  waiting for DRAM", "foretrace__read_latency_dram_queue.avg"},
        {"  in DRAM", "foretrace__read_latency_dram.avg"}}},
      {"Scheduler Statistics",
       {{"Issue Slots Busy", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
        {"Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"},
        {"Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"},
        {"No Issue: No Warp", "foretrace__idle_no_warp.pct"},
        {"No Issue: No Eligible Warp", "foretrace__idle_no_eligible_warp.pct"},
        {"No Issue: Dispatch", "foretrace__idle_dispatch.pct"},
        {"No Issue: Throttled", "foretrace__idle_throttled.pct"}}}};
  return kSections;
}

struct Scale {
  const char* base;
  double from;  // the greatest value of a row from which on this unit is used
  const char* unit;
  double factor;  // base units in this unit
};

constexpr std::array<Scale, 11> kScales = {{{"ns", 1e6, "ms", 1e6},
                                            {"ns", 1e3, "us", 1e3},
                                            {"byte", 1e9, "Gbyte", 1e9},
                                            {"byte", 1e6, "Mbyte", 1e6},
                                            {"byte", 1e3, "Kbyte", 1e3},
                                            {"byte/second", 1e9, "Gbyte/second", 1e9},
                                            {"byte/second", 1e6, "Mbyte/second", 1e6},
                                            {"byte/block", 1e3, "Kbyte/block", 1e3},
                                            {"hz", 1e9, "Ghz", 1e9},
                                            {"hz", 1e6, "Mhz", 1e6},
                                            {"hz", 1e3, "Khz", 1e3}}};

bool all_zero(const std::vector<const LaunchResult*>& results, const char* metric) {
  return std::all_of(results.begin(), results.end(),
                     [&](const LaunchResult* each) { return each->metrics.get(metric, 0) == 0; });
}

/// Rows of zeros say nothing in these sections: no local memory, no atomics, no half precision.
bool is_left_out_when_zero(const Section& section) {
  const std::string_view title = section.title;
  return title.starts_with("Memory Workload") || title == "Compute Workload" ||
         title == "Scheduler Statistics";
}

std::string section_text(const Section& section, const Columns& columns,
                         const std::vector<std::vector<std::string>>& extra) {
  std::vector<std::string> titles = {"Metric", "Unit"};
  titles.insert(titles.end(), columns.titles.begin(), columns.titles.end());
  Table table(std::move(titles), 2);
  for (const Row& row : section.rows) {
    if (is_left_out_when_zero(section) && all_zero(columns.results, row.metric)) continue;
    const Readable values = readable(columns.results, row.metric);
    std::vector<std::string> cells = {row.label, values.unit};
    cells.insert(cells.end(), values.cells.begin(), values.cells.end());
    table.add(std::move(cells));
  }
  for (const auto& cells : extra) table.add(cells);
  if (table.empty()) return {};
  return fmt::format("  Section: {}\n{}\n", section.title, table.text(4));
}

/// The resources that allow no more blocks than an SM holds.
std::string occupancy_limiters(const LaunchResult& result) {
  static constexpr std::array<std::pair<const char*, const char*>, 5> kLimits = {
      {{"registers", "launch__occupancy_limit_registers"},
       {"shared mem", "launch__occupancy_limit_shared_mem"},
       {"warps", "launch__occupancy_limit_warps"},
       {"blocks", "launch__occupancy_limit_blocks"},
       {"barriers", "launch__occupancy_limit_barriers"}}};
  double least = 1e300;
  for (const auto& [name, metric] : kLimits) least = std::min(least, result.metrics.get(metric, 1e300));
  std::string names;
  for (const auto& [name, metric] : kLimits) {
    if (result.metrics.get(metric, 1e300) > least) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace

std::vector<SectionRow> section_rows() {
  std::vector<SectionRow> all;
  const auto add = [&](const Section& section) {
    for (const Row& row : section.rows) all.push_back({section.title, row.label, row.metric});
  };
  add(speed_of_light());
  for (const Section& section : further_sections()) add(section);
  return all;
}

Readable readable(const std::vector<const LaunchResult*>& results, const std::string& metric) {
  const Metric* declared = find_metric(metric);
  FORETRACE_ASSERT(declared != nullptr, "The report shows only metrics that are declared.");
  double greatest = 0;
  bool whole = true;
  for (const auto* result : results) {
    if (const Value value = result->metrics.get(metric)) {
      greatest = std::max(greatest, std::fabs(*value));
      whole = whole && *value == std::floor(*value);
    }
  }
  Readable shown{declared->unit, {}};
  double factor = 1;
  for (const Scale& scale : kScales) {
    if (shown.unit == scale.base && greatest >= scale.from) {
      shown.unit = scale.unit;
      factor = scale.factor;
      break;
    }
  }
  const int decimals = (whole && factor == 1 && declared->unit != "%") || greatest / factor >= 1e5 ? 0 : 2;
  for (const auto* result : results) {
    const Value value = result->metrics.get(metric);
    shown.cells.push_back(value ? grouped(*value / factor, decimals) : "n/a");
  }
  return shown;
}

std::string metric_sections_before_limiter(const Columns& columns) {
  return section_text(speed_of_light(), columns, {});
}

std::string metric_sections_after_limiter(const Columns& columns) {
  std::string out;
  for (const Section& section : further_sections()) {
    const bool occupancy = std::string_view(section.title) == "Occupancy";
    std::vector<std::vector<std::string>> extra;
    if (occupancy) {
      std::vector<std::string> cells = {"Limited By", ""};
      for (const auto* result : columns.results) cells.push_back(occupancy_limiters(*result));
      extra.push_back(std::move(cells));
    }
    out += section_text(section, columns, extra);
    if (!occupancy) continue;
    std::string steps;
    for (std::size_t i = 0; i < columns.results.size(); ++i) {
      const std::string& step = columns.results[i]->occupancy_next_step;
      if (!step.empty()) steps += fmt::format("    {}: {}\n", columns.titles[i], step);
    }
    if (!steps.empty()) out += steps + "\n";
  }
  return out;
}

std::string warp_state_section(const Columns& columns) {
  struct State {
    const char* name;
    const char* meaning;
    std::vector<double> share;
    double greatest = 0;
  };
  std::vector<State> states;
  for (int i = 0; i < stats::kWarpStates; ++i) {
    const auto state = static_cast<stats::WarpState>(i);
    State entry{stats::name_of(state), meaning_of(state), {}, 0};
    const std::string metric =
        fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", entry.name);
    for (const auto* result : columns.results) {
      const double all = result->metrics.get("foretrace__warp_latency_per_issue.ratio", 0);
      entry.share.push_back(all > 0 ? 100 * result->metrics.get(metric, 0) / all : 0);
      entry.greatest = std::max(entry.greatest, entry.share.back());
    }
    if (entry.greatest >= 0.05) states.push_back(std::move(entry));
  }
  std::stable_sort(states.begin(), states.end(),
                   [](const State& a, const State& b) { return a.greatest > b.greatest; });
  std::vector<std::string> titles = {"State", "Waiting for"};
  titles.insert(titles.end(), columns.titles.begin(), columns.titles.end());
  Table table(std::move(titles), 2);
  const Readable latency = readable(columns.results, "foretrace__warp_latency_per_issue.ratio");
  std::vector<std::string> first = {"Warp Cycles Per Issue", ""};
  first.insert(first.end(), latency.cells.begin(), latency.cells.end());
  table.add(std::move(first));
  for (const State& state : states) {
    std::vector<std::string> cells = {state.name, state.meaning};
    for (const double share : state.share) cells.push_back(fmt::format("{:.1f}%", share));
    table.add(std::move(cells));
  }
  return fmt::format("  Section: Warp State Statistics (share of warp-cycles)\n{}\n", table.text(4));
}

}  // namespace foretrace::report
