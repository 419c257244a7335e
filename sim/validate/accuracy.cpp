#include "sim/validate/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/validate/stall_states.h"

namespace foretrace::validate {
namespace {

/// Both sides of something asked of a launch.
struct Sides {
  double predicted = 0, measured = 0;
};

/// Gathers launches that are within a tolerance, or not.
class Within {
 public:
  Within(std::string name, std::string asked, double share, std::string unit)
      : unit_(std::move(unit)), share_(share) {
    row_.name = std::move(name);
    row_.asked = std::move(asked);
  }
  void add(const ValidatedLaunch& launch, bool is_within, double error) {
    ++row_.n;
    worst_ = std::max(worst_, error);
    if (is_within) {
      ++within_;
    } else {
      row_.outside.emplace_back(launch.predicted.name, error);
    }
  }
  /// A row that also bounds its worst error.
  void limit_worst(double most) { most_ = most; }
  Row row() {
    if (row_.n == 0) return row_;
    const double reached = static_cast<double>(within_) / static_cast<double>(row_.n);
    row_.reached = fmt::format("{:.1f}%, worst {:.2f}{}", 100 * reached, worst_, unit_);
    row_.figures = {{"within_pct", 100 * reached}, {"worst", worst_}};
    row_.pass = reached >= share_ && (!most_ || worst_ <= *most_);
    return row_;
  }

 private:
  Row row_;
  std::string unit_;
  double share_;
  std::optional<double> most_;
  std::size_t within_ = 0;
  double worst_ = 0;
};

std::optional<Sides> metric(const ValidatedLaunch& launch, const std::string& name) {
  const auto value = launch.value(name);
  const auto reference = launch.reference(name);
  if (!value || !reference) return {};
  return Sides{*value, *reference};
}

/// |error| in percent of the measured; where that is 0, 100 for anything else.
double error_pct(const Sides& sides) {
  return std::fabs(compare::relative_error_pct(sides.predicted, sides.measured).value_or(100));
}

Row cycles_row(const Launches& launches, const char* name, const char* metric_name, double at_least) {
  const compare::ErrorStatistics errors = errors_of(launches, metric_name, at_least);
  Row row{name, "mean <= 8%, p90 <= 20%, worst <= 40%, r >= 0.99", errors.pairs, {}, {}, {}, {}, {}};
  if (!errors.mean_abs_pct) return row;
  row.reached =
      fmt::format("mean {:.2f}%, p90 {:.2f}%, worst {:.2f}%, r {}", *errors.mean_abs_pct, *errors.p90_abs_pct,
                  *errors.worst_abs_pct, errors.pearson ? fmt::format("{:.4f}", *errors.pearson) : "n/a");
  row.figures = {{"mean_abs_pct", *errors.mean_abs_pct},
                 {"p90_abs_pct", *errors.p90_abs_pct},
                 {"worst_abs_pct", *errors.worst_abs_pct}};
  if (errors.pearson) row.figures.emplace_back("pearson", *errors.pearson);
  row.pass = *errors.mean_abs_pct <= 8 && *errors.p90_abs_pct <= 20 && *errors.worst_abs_pct <= 40 &&
             errors.pearson.value_or(0) >= 0.99;
  for (const auto* launch : launches) {
    const auto sides = metric(*launch, metric_name);
    if (sides && sides->measured >= at_least && error_pct(*sides) > 20) {
      row.outside.emplace_back(launch->predicted.name, error_pct(*sides));
    }
  }
  return row;
}

/// What a launch costs beyond the cycles that its SMs are active: start, imbalance, drain.
Row launch_row(const Launches& launches) {
  std::vector<compare::ValuePair> pairs;
  std::vector<double> cycles;
  for (const auto* launch : launches) {
    const auto elapsed = metric(*launch, kElapsed);
    const auto active = metric(*launch, kActive);
    if (!elapsed || !active) continue;
    pairs.push_back({elapsed->predicted - active->predicted, elapsed->measured - active->measured});
    cycles.push_back(std::fabs(pairs.back().value - pairs.back().reference));
  }
  Row row{"launch and drain (elapsed - active)", "", pairs.size(), {}, {}, {}, {}, {}};
  if (pairs.empty()) return row;
  const compare::ErrorStatistics errors = compare::error_statistics(pairs);
  double mean = 0;
  for (const double each : cycles) mean += each / static_cast<double>(cycles.size());
  row.reached = fmt::format("mean {:.2f}% or {:.0f} cycles, p90 {:.2f}%, worst {:.2f}%",
                            errors.mean_abs_pct.value_or(0), mean, errors.p90_abs_pct.value_or(0),
                            errors.worst_abs_pct.value_or(0));
  row.figures = {{"mean_abs_pct", errors.mean_abs_pct.value_or(0)},
                 {"p90_abs_pct", errors.p90_abs_pct.value_or(0)},
                 {"worst_abs_pct", errors.worst_abs_pct.value_or(0)},
                 {"mean_abs_cycles", mean}};
  return row;
}

/// ncu prints two places: a quotient is equal when it rounds to what was printed, a whole number when it is that.
bool is_equal(const Sides& sides) {
  if (sides.predicted == std::floor(sides.predicted)) return sides.predicted == sides.measured;
  return std::fabs(sides.predicted - sides.measured) <= 0.00501;
}

/// Counts that have to be equal wherever the device's own runs are.
Row equal_row(const Launches& launches, const char* name, const std::vector<std::string>& metrics) {
  Row row{name, "equal", 0, {}, {}, {}, {}, {}};
  std::size_t equal = 0;
  for (const auto* launch : launches) {
    std::size_t unequal = 0;
    bool agrees = true;
    for (const auto& each : metrics) {
      const auto sides = metric(*launch, each);
      if (!sides) continue;
      if (!launch->measured.repeats_agree(each)) {
        agrees = false;
        continue;
      }
      ++row.n;
      if (is_equal(*sides)) {
        ++equal;
      } else {
        ++unequal;
      }
    }
    if (unequal > 0) row.outside.emplace_back(launch->predicted.name, static_cast<double>(unequal));
    if (!agrees) row.not_asked.push_back(launch->predicted.name);
  }
  if (row.n == 0) return row;
  row.reached = fmt::format("{} of {} equal", equal, row.n);
  row.figures = {{"equal", static_cast<double>(equal)}};
  row.pass = equal == row.n;
  return row;
}

/// Relative error of a count where either side has any.
Row count_row(const Launches& launches, const std::string& name, const char* asked, const char* metric_name,
              double tolerance_pct, double share, std::optional<double> worst = {}) {
  Within within(name, asked, share, "%");
  if (worst) within.limit_worst(*worst);
  for (const auto* launch : launches) {
    const auto sides = metric(*launch, metric_name);
    if (!sides || (sides->predicted == 0 && sides->measured == 0)) continue;
    within.add(*launch, error_pct(*sides) <= tolerance_pct, error_pct(*sides));
  }
  return within.row();
}

Row conflicts_row(const Launches& launches, const std::string& op) {
  Within within(fmt::format("bank conflicts, shared {}", op == "ld" ? "loads" : "stores"),
                "<= 0.05 per instruction + 2% on 9 in 10", 0.9, " per instruction");
  for (const auto* launch : launches) {
    const auto sides = metric(*launch, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + op + ".sum");
    const auto instructions = launch->reference("smsp__inst_executed_op_shared_" + op + ".sum");
    if (!sides || !instructions || *instructions == 0) continue;
    const double error = std::fabs(sides->predicted - sides->measured);
    within.add(*launch, error <= 0.05 * *instructions + 0.02 * sides->measured, error / *instructions);
  }
  return within.row();
}

/// Share of `hits` in `all`, in points, where at least kLeastSectors were measured.
Row hit_rate_row(const Launches& launches, const char* name, const std::string& hits,
                 const std::string& all) {
  Within within(name, "within 3 points on 9 in 10", 0.9, " points");
  for (const auto* launch : launches) {
    const auto some = metric(*launch, hits);
    const auto every = metric(*launch, all);
    if (!some || !every || every->measured < kLeastSectors || every->predicted == 0) continue;
    const double error =
        100 * std::fabs(some->predicted / every->predicted - some->measured / every->measured);
    within.add(*launch, error <= 3, error);
  }
  return within.row();
}

Row points_row(const Launches& launches, const char* name, const char* metric_name, double points) {
  Within within(name, fmt::format("within {:.0f} points on 9 in 10", points), 0.9, " points");
  for (const auto* launch : launches) {
    if (const auto sides = metric(*launch, metric_name)) {
      const double error = std::fabs(sides->predicted - sides->measured);
      within.add(*launch, error <= points, error);
    }
  }
  return within.row();
}

Row dram_row(const Launches& launches, const char* name, const char* metric_name) {
  constexpr double kMebibyte = 1 << 20;
  Within within(name, "below the larger of 5% and 1 MiB on 9 in 10", 0.9, " MiB");
  for (const auto* launch : launches) {
    if (const auto sides = metric(*launch, metric_name)) {
      const double error = std::fabs(sides->predicted - sides->measured);
      within.add(*launch, error < std::max(0.05 * sides->measured, kMebibyte), error / kMebibyte);
    }
  }
  return within.row();
}

/// Warp states: distance of the shares, and the largest state; both also of always answering long_scoreboard.
std::array<Row, 4> state_rows(const Launches& launches) {
  Within near("stall states: distance", "<= 0.20 on 8 in 10", 0.8, "");
  Within same("stall states: largest, where it leads by a fifth", "the same on 9 in 10", 0.9, "");
  Within near_trivial("  always long_scoreboard: distance", "", 2, "");
  Within same_trivial("  always long_scoreboard: largest", "", 2, "");
  const StateShares trivial = always_long_scoreboard();
  for (const auto* launch : launches) {
    const auto ours = predicted_shares(*launch);
    const auto truth = measured_shares(*launch);
    if (!ours || !truth) continue;
    near.add(*launch, distance(*ours, *truth) <= 0.20, distance(*ours, *truth));
    near_trivial.add(*launch, distance(trivial, *truth) <= 0.20, distance(trivial, *truth));
    if (!leads_by_a_fifth(*truth)) continue;
    const auto agree = [&](const StateShares& answer) { return largest(answer) == largest(*truth); };
    same.add(*launch, agree(*ours), agree(*ours) ? 0 : 1);
    same_trivial.add(*launch, agree(trivial), agree(trivial) ? 0 : 1);
  }
  std::array<Row, 4> rows{near.row(), near_trivial.row(), same.row(), same_trivial.row()};
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) {
    rows[i].pass.reset();  // nothing is asked of it
    rows[i].outside.clear();
  }
  return rows;
}

std::string pipe(const char* name) { return fmt::format("sm__inst_executed_pipe_{}.sum", name); }

}  // namespace

std::vector<Row> accuracy_rows(const Launches& launches) {
  const std::string global = "_pipe_lsu_mem_global_op_", local = "_pipe_lsu_mem_local_op_";
  const std::string tex = "lts__t_sectors_srcunit_tex";
  std::vector<Row> rows;
  rows.push_back(cycles_row(launches, "cycles elapsed (20,000 and more)", kElapsed, kLeastElapsed));
  rows.push_back(cycles_row(launches, "cycles active (2,000 and more)", kActive, kLeastActive));
  rows.push_back(launch_row(launches));
  rows.push_back(equal_row(launches, "warp and thread instructions",
                           {"smsp__inst_executed.sum", "smsp__thread_inst_executed.sum"}));
  rows.push_back(
      equal_row(launches, "requests",
                {"l1tex__t_requests" + global + "ld.sum", "l1tex__t_requests" + global + "st.sum",
                 "l1tex__t_requests" + global + "atom.sum", "l1tex__t_requests" + global + "red.sum",
                 "l1tex__t_requests" + local + "ld.sum", "l1tex__t_requests" + local + "st.sum",
                 "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum"}));
  rows.push_back(equal_row(launches, "load sectors",
                           {"l1tex__t_sectors" + global + "ld.sum", "l1tex__t_sectors" + local + "ld.sum"}));
  rows.push_back(equal_row(launches, "pipe counts",
                           {pipe("alu"), pipe("fma"), pipe("fmaheavy"), pipe("fp64"), pipe("xu"), pipe("lsu"),
                            pipe("uniform"), pipe("cbu"), pipe("adu"), pipe("tensor")}));
  rows.push_back(equal_row(launches, "launch limits",
                           {"launch__registers_per_thread", "launch__shared_mem_config_size",
                            "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
                            "launch__occupancy_limit_registers", "launch__occupancy_limit_shared_mem",
                            "launch__occupancy_limit_warps", "launch__occupancy_limit_blocks",
                            "launch__occupancy_limit_barriers", "launch__waves_per_multiprocessor"}));
  constexpr const char* kHalf = "within 0.5% on 9 in 10";
  rows.push_back(count_row(launches, "store sectors", kHalf, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                           0.5, 0.9));
  rows.push_back(count_row(launches, "store sectors, local", kHalf,
                           "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 0.5, 0.9));
  constexpr const char* kWavefronts = "within 1% on 9 in 10, worst 5%";
  rows.push_back(count_row(launches, "wavefronts, shared loads", kWavefronts,
                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1, 0.9, 5));
  rows.push_back(count_row(launches, "wavefronts, shared stores", kWavefronts,
                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 1, 0.9, 5));
  rows.push_back(conflicts_row(launches, "ld"));
  rows.push_back(conflicts_row(launches, "st"));
  rows.push_back(hit_rate_row(launches, "L1 hit rate of loads",
                              "l1tex__t_sectors" + global + "ld_lookup_hit.sum",
                              "l1tex__t_sectors" + global + "ld.sum"));
  rows.push_back(hit_rate_row(launches, "L2 hit rate of SM traffic", tex + "_lookup_hit.sum", tex + ".sum"));
  rows.push_back(count_row(launches, "L2 sectors of SM traffic, read", "within 2% on 9 in 10",
                           "lts__t_sectors_srcunit_tex_op_read.sum", 2, 0.9));
  rows.push_back(count_row(launches, "L2 sectors of SM traffic, written", "within 2% on 9 in 10",
                           "lts__t_sectors_srcunit_tex_op_write.sum", 2, 0.9));
  rows.push_back(
      count_row(launches, "L2 sectors, all", "within 10% on 8 in 10", "lts__t_sectors.sum", 10, 0.8));
  rows.push_back(count_row(launches, "L2 hit rate, all", "within 10% on 8 in 10",
                           "lts__t_sector_hit_rate.pct", 10, 0.8));
  rows.push_back(dram_row(launches, "DRAM bytes read", "dram__bytes_read.sum"));
  rows.push_back(dram_row(launches, "DRAM bytes written", "dram__bytes_write.sum"));
  rows.push_back(
      points_row(launches, "achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 3));
  for (auto& row : state_rows(launches)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace foretrace::validate
