// Rules for the units of tensor programs: warpgroup products, the copy engine, mbarriers and clusters.
#include <algorithm>
#include <cmath>

#include "sim/calibrate/least_squares.h"
#include "sim/calibrate/rules.h"

namespace foretrace::calibrate {
namespace {

using Result = std::optional<Found>;

/// Bytes of a product's operand A in shared memory, and of a column of B.
constexpr double kBytesOfA = 2048, kBytesOfColumn = 32;

/// Cycles that the model takes for the other instructions of a round of tensor_units: fence, commit, wait and jump. It predicts 83.75
/// for a round with wgmma.latency 38.
constexpr double kRoundIssue = 13.75;

/// Cycles per product of 8 columns while two warpgroups keep the tensor cores busy: between rounds of four and of eight.
std::optional<double> short_product(const Answers& answers, const char* a) {
  const auto round = [&](double products) {
    return answers.value("wgmma_round", {{"n", 8.0}, {"a", a}, {"products", products}, {"warpgroups", 2.0}});
  };
  const auto four = round(4), eight = round(8);
  if (!four || !eight || *eight <= *four) return {};
  return (*eight - *four) / (2 * (8 - 4));
}

/// Columns that a product of `columns` more takes a cycle for: of products that nothing is copied beside.
Result product_columns(const Evidence& evidence) {
  const auto cycles = [&](double columns) {
    return evidence.answers.value(
        "tensor_copy_beside",
        {{"n", columns}, {"a", "shared"}, {"warpgroups", 1.0}, {"depth", 0.0}, {"rounds", 512.0}});
  };
  const auto few = cycles(128), many = cycles(256);
  if (!few || !many || *many <= *few) return {};
  return exactly((256 - 128) / (*many - *few));
}

Result product_bytes(const Evidence& evidence) {
  const auto cycles = short_product(evidence.answers, "shared");
  if (!cycles) return {};
  return exactly(nearest_power((kBytesOfA + 8 * kBytesOfColumn) / *cycles));
}

Result product_register_interval(const Evidence& evidence) {
  const auto cycles = short_product(evidence.answers, "registers");
  return cycles ? Result(exactly(*cycles)) : Result();
}

/// A round of one product less its columns' time and what the model takes for its other instructions.
Result product_latency(const Evidence& evidence) {
  constexpr double kColumns = 64;
  const auto all = evidence.answers.all(
      "wgmma_round", {{"n", kColumns}, {"a", "shared"}, {"products", 1.0}, {"warpgroups", 1.0}});
  if (all.empty()) return {};
  const double value = all.front()->value - kColumns / evidence.base_value("wgmma.columns") - kRoundIssue;
  return Found{std::round(value), value - 10, value + 10};
}

/// Cycles of a copy of eight rows that L2 holds, beyond a load that L2 has: what the copy engine itself adds. (A copy of one row meets
/// one slice, near or far.)
std::optional<double> copy_beyond_load(const Answers& answers) {
  const auto all =
      answers.all("tensor_copy_steps", {{"rows", 8.0}, {"depth", 1.0}, {"l2", "hit"}, {"touched", 1.0}});
  const auto load = l2_hit(answers);
  if (all.empty() || !load || !all.front()->lists.contains("cycles")) return {};
  return median(all.front()->lists.at("cycles")) - *load;
}

Result copy_row_interval(const Evidence& evidence) {
  std::vector<Point> points;
  for (const Answer* each : evidence.answers.all("tensor_copy_rows"))
    points.push_back({each->number("rows").value_or(0), each->value});
  if (points.size() < 2) return {};
  return exactly(line_through(points).slope);
}

Result copy_bytes(const Evidence& evidence) {
  const double most = largest(evidence.answers.all("tensor_copy_rate"));
  if (most <= 0) return {};
  return exactly(std::round(most));
}

/// Cycles of a store until its source has been read, beyond what its bytes take.
std::optional<double> store_start(const Answers& answers) {
  std::vector<Point> points;
  for (const Answer* each : answers.all("tensor_store")) {
    points.push_back({each->number("bytes").value_or(0), each->value});
  }
  return points.size() < 2 ? std::nullopt : std::optional(line_through(points).start);
}

Result mbarrier_latency(const Evidence& evidence) {
  const auto chain = [&](const char* operation) {
    return evidence.answers.value("mbarrier_latency", {{"operation", operation}, {"lanes", 1.0}});
  };
  const auto arrival = chain("arrive with token"), load = chain("ld");
  if (!arrival || !load) return {};
  return exactly(std::round(*arrival - *load + evidence.base_value("shared.latency")));
}

/// Cycles from an arrival until a warp that waited for it long goes on.
std::optional<double> woken(const Answers& answers) {
  const auto all = answers.all("mbarrier_wake", {{"form", "try_wait, 1 ms"}});
  if (all.empty() || !all.front()->lists.contains("cycles")) return {};
  return median(all.front()->lists.at("cycles"));
}

Result remote_bytes(const Evidence& evidence) {
  const auto cycles = evidence.answers.value(
      "distributed_shared",
      {{"form", "st.128"}, {"cluster", 2.0}, {"clusters", 1.0}, {"warps", 4.0}, {"who", "one block"}});
  if (!cycles) return {};
  return exactly(std::floor(512 / *cycles));
}

Result cluster_blocks(const Evidence& evidence) {
  const auto clusters = evidence.answers.value(
      "max_active_clusters",
      {{"kernel", "where"}, {"cluster", 1.0}, {"threads", 32.0}, {"dynamic_shared", 0.0}});
  if (!clusters) return {};
  return exactly(*clusters / evidence.base_value("sm.count"));
}

}  // namespace

std::vector<Rule> tensor_rules() {
  const auto by_difference = [](const char* key, const char* benchmark, const char* how, double uncertainty,
                                const Reading& reading) {
    return Rule{key, benchmark, how, true, [=](const Evidence& evidence) {
                  const auto by = difference(evidence, reading);
                  return by ? moved(evidence, key, *by, uncertainty) : Result();
                }};
  };
  const auto answer = [](const char* benchmark, const std::vector<Where>& where) {
    return [=](const Answers& answers) { return answers.value(benchmark, where); };
  };
  std::vector<Rule> rules;
  rules.push_back({"clock.products", "tensor_clock", "clock64 over globaltimer while all SMs multiply halves",
                   false, [](const Evidence& evidence) -> Result {
                     const auto value =
                         evidence.answers.value("tensor_clock", {{"product", "f16"},
                                                                 {"instructions_between", 0.0},
                                                                 {"sms", evidence.base_value("sm.count")}});
                     return value ? Result(exactly(std::round(*value * 1000))) : Result();
                   }});
  rules.push_back({"wgmma.columns", "tensor_copy_beside",
                   "products of 256 columns less those of 128, nothing copied beside them", false,
                   product_columns});
  rules.push_back(
      {"wgmma.shared_bytes", "wgmma_round",
       "bytes of the operands of 8 columns over a product's cycles, two warpgroups, the nearest power of two",
       false, product_bytes});
  rules.push_back({"wgmma.register_interval", "wgmma_round", "8 columns, A in registers, two warpgroups",
                   false, product_register_interval});
  rules.push_back({"wgmma.latency", "wgmma_round",
                   "a round of one product of 64 columns, less their time and the issue of the rest", true,
                   product_latency});
  rules.push_back(by_difference(
      "wgmma.shared_interval", "warpgroup_beside",
      "the base's moved by what STS.32 of four warps beside two warpgroups differs", 10,
      [](const Answers& answers) -> std::optional<double> {
        const auto all = answers.all(
            "warpgroup_beside",
            {{"n", 64.0}, {"a", "shared"}, {"warpgroups", 2.0}, {"traffic", "STS.32"}, {"other_warps", 4.0}});
        return all.empty() ? std::nullopt : all.front()->number("traffic_cycles");
      }));
  rules.push_back(by_difference("tma.issue_latency", "tensor_copy_steps",
                                "the base's moved by what a copy of eight rows beyond a load differs", 20,
                                copy_beyond_load));
  rules.push_back({"tma.row_interval", "tensor_copy_rows", "rows of 16 bytes, by least squares", false,
                   copy_row_interval});
  rules.push_back(
      {"tma.load_bytes", "tensor_copy_rate", "the highest of 1 to 8 copies under way", false, copy_bytes});
  rules.push_back(by_difference("tma.store_latency", "tensor_store",
                                "the base's moved by what stores of no bytes differ, by least squares", 10,
                                store_start));
  rules.push_back({"mbarrier.latency", "mbarrier_latency",
                   "a chain of arrivals less one of LDS, with shared.latency", false, mbarrier_latency});
  rules.push_back(by_difference("mbarrier.wake_latency", "mbarrier_wake",
                                "the base's moved by what a wait that is suspended differs", 10, woken));
  rules.push_back({"cluster.blocks", "max_active_clusters", "clusters of one block of 32 threads per SM",
                   false, cluster_blocks});
  rules.push_back(
      by_difference("cluster.barrier_latency", "cluster_barrier",
                    "the base's moved by what a barrier of two blocks of a warp differs", 8,
                    answer("cluster_barrier", {{"cluster", 2.0}, {"warps", 1.0}, {"late", 0.0}})));
  rules.push_back({"cluster.remote_latency", "remote_chain",
                   "loads from the other of two blocks, to the next cycle", false,
                   [answer](const Evidence& evidence) -> Result {
                     const auto value = answer("remote_chain", {{"cluster", 2.0}})(evidence.answers);
                     return value ? Result(exactly(std::ceil(*value))) : Result();
                   }});
  rules.push_back({"cluster.remote_bytes", "distributed_shared",
                   "512 bytes over a store's cycles, whole bytes, four warps of one block", false,
                   remote_bytes});
  return rules;
}

}  // namespace foretrace::calibrate
