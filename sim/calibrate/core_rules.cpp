// Rules for the SM: clocks, pipes, latencies, memory instructions up to L1, barriers, instruction caches.
#include <algorithm>
#include <cmath>

#include "sim/calibrate/least_squares.h"
#include "sim/calibrate/rules.h"

namespace foretrace::calibrate {
namespace {

using Result = std::optional<Found>;

/// The answer as it stands, rounded where `to_whole`.
Rule stated(const char* key, const char* benchmark, const char* how, std::vector<Where> where,
            bool to_whole = true) {
  return {key, benchmark, how, false, [=](const Evidence& evidence) -> Result {
            const auto value = evidence.answers.value(benchmark, where);
            if (!value) return {};
            return exactly(to_whole ? std::round(*value) : *value);
          }};
}

/// Slope or start of a line through answers; x is a number of each answer.
enum class Part { start, slope };
Rule line(const char* key, const char* benchmark, const char* how, Part part,
          std::function<std::vector<Point>(const Answers&)> points) {
  return {key, benchmark, how, false, [part, points](const Evidence& evidence) -> Result {
            const std::vector<Point> all = points(evidence.answers);
            if (all.size() < 2) return {};
            const Line fit = line_through(all);
            return exactly(std::round(part == Part::slope ? fit.slope : fit.start));
          }};
}

/// Cycles from issue to release by the access's width in words, for a family such as "LDG".
std::function<std::vector<Point>(const Answers&)> by_width(const char* family, const char* hazard) {
  return [=](const Answers& answers) {
    std::vector<Point> points;
    for (const int bits : {32, 64, 128}) {
      const std::string operation = std::string(family) + "." + std::to_string(bits);
      const auto value =
          answers.value("scoreboard_latency", {{"operation", operation.c_str()}, {"hazard", hazard}});
      if (value) points.push_back({bits / 32.0 - 1, *value});  // words beyond the first
    }
    return points;
  };
}

/// Cycles of a match by the different values that its lanes have beyond one, less `less`; of many warps of the SM: by those of all of them.
std::function<std::vector<Point>(const Answers&)> by_values(const char* kind, double warps, double less = 0) {
  return [=](const Answers& answers) {
    std::vector<Point> points;
    for (const Answer* each : answers.all(
             "match_values", {{"kind", kind}, {"warps", warps}, {"lanes", 32.0}, {"order", "in turn"}})) {
      points.push_back({warps * (each->number("distinct").value_or(1) - 1), each->value - less});
    }
    return points;
  };
}

/// What values of 64 bits add to a match, by the same.
std::vector<Point> wide_beyond_narrow(const Answers& answers) {
  const std::vector<Point> narrow = by_values("any.b32", 1)(answers);
  std::vector<Point> wide = by_values("any.b64", 1)(answers);
  if (wide.size() != narrow.size()) return {};
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i].value -= narrow[i].value;
  return wide;
}

/// What MATCH takes by the number of values.
void add_match_rules(std::vector<Rule>& rules) {
  constexpr double kMerge = 6;  // cycles of the LOP3 between two matches
  const auto match = [&](const char* key, const char* how, Part part,
                         std::function<std::vector<Point>(const Answers&)> points) {
    rules.push_back(line(key, "match_values", how, part, std::move(points)));
  };
  match("latency.match", "32 bits, one value, less the LOP3 of 6 after it", Part::start,
        by_values("any.b32", 1, kMerge));
  match("match.wide_latency", "one value, 64 bits against 32", Part::start, wide_beyond_narrow);
  match("match.value_latency", "32 bits, per further value", Part::slope, by_values("any.b32", 1));
  match("match.wide_value_latency", "64 bits, per further value", Part::slope, by_values("any.b64", 1));
  match("match.value_interval", "32 bits, 32 warps, per value", Part::slope, by_values("any.b32", 32));
  match("match.wide_value_interval", "64 bits, 32 warps, per value", Part::slope, by_values("any.b64", 32));
}

/// Cycles a barrier of one block by its warps.
std::vector<Point> barrier_points(const Answers& answers) {
  std::vector<Point> points;
  for (const Answer* each : answers.all("barrier", {{"operation", "BAR.SYNC"}})) {
    points.push_back({each->number("warps").value_or(0), each->value});
  }
  return points;
}

/// Cycles a shared load by its ways of conflict: 32 lanes, a power of two of words apart.
std::vector<Point> conflict_points(const Answers& answers, const char* benchmark, double least_ways) {
  std::vector<Point> points;
  for (const double words : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    const auto value = answers.value(benchmark, {{"access", "LDS"},
                                                 {"bits", 32.0},
                                                 {"lane_stride_bytes", 4 * words},
                                                 {"distinct_lanes", 32.0},
                                                 {"warps_a_sub_core", 1.0},
                                                 {"sub_cores", 1.0}});
    if (value && words >= least_ways) points.push_back({words, *value});
  }
  return points;
}

/// Cycles an L1-hit load by the lines it touches, over strides without bank conflicts.
std::vector<Point> tag_points(const Answers& answers) {
  std::vector<Point> points;
  for (const Answer* each : answers.all("tag_stage")) {
    const double stride = each->number("stride_floats").value_or(0);
    if (std::fmod(stride, 2) != 1 || stride < 8) continue;
    points.push_back({std::floor(31 * stride / 32) + 1, each->value});
  }
  return points;
}

/// Cycles at which instruction after instruction of one warp had been issued, its sub-core alone or all four.
std::vector<double> issue_times(const Answers& answers, const char* operation, double sub_cores) {
  const auto all =
      answers.all("issue_queue", {{"operation", operation}, {"sub_cores", sub_cores}, {"warp", 0.0}});
  if (all.empty()) return {};
  const auto list = all.front()->lists.find("after_n");
  return list == all.front()->lists.end() ? std::vector<double>() : list->second;
}

/// Cycles per instruction once the queue is full: the line through the last five.
Result steady_interval(const std::vector<double>& times, double share) {
  if (times.size() < 8) return {};
  std::vector<Point> points;
  for (std::size_t i = times.size() - 5; i < times.size(); ++i)
    points.push_back({static_cast<double>(i), times[i]});
  return exactly(std::max(1.0, std::round(line_through(points).slope * share)));
}

/// Instructions that issue a cycle apart before the queue is full.
Result queue_depth(const std::vector<double>& times) {
  if (times.empty()) return {};
  std::size_t depth = 1;
  while (depth < times.size() && times[depth] - times[depth - 1] == 1) ++depth;
  return exactly(static_cast<double>(depth));
}

/// KiB of straight-line code and cycles per instruction, four warps of a block.
std::vector<Point> code_sizes(const Answers& answers) {
  std::vector<Point> points;
  for (const Answer* each : answers.all("instruction_cache", {{"warps", 4.0}})) {
    points.push_back({each->number("kib").value_or(0), each->value});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

/// The levels of that curve: code in the SM's cache, in the GPC's, beyond. The plateaus are medians of ranges far from either knee.
struct CodeLevels {
  double sm = 0, gpc = 0, beyond = 0;
};
std::optional<CodeLevels> code_levels(const std::vector<Point>& sizes) {
  std::vector<double> small, middle, large;
  for (const Point& each : sizes) {
    if (each.x >= 8 && each.x <= 20) small.push_back(each.value);
    if (each.x >= 48 && each.x <= 96) middle.push_back(each.value);
    if (each.x >= 256) large.push_back(each.value);
  }
  if (small.empty() || middle.empty() || large.empty()) return {};
  return CodeLevels{median(small), median(middle), median(large)};
}

/// Bytes of the largest code that is still nearer to the lower level than to the upper one.
Result code_knee(const std::vector<Point>& sizes, double lower, double upper) {
  double knee = 0;
  for (const Point& each : sizes) {
    if (each.value >= (lower + upper) / 2) break;
    knee = each.x;
  }
  return knee > 0 ? Result(exactly(knee * 1024)) : Result();
}

Rule pipe_interval(const char* key, const char* operation, double halves, const char* how) {
  return {key, "pipe_issue_interval", how, false, [=](const Evidence& evidence) -> Result {
            const auto value = evidence.answers.value(
                "pipe_issue_interval",
                {{"operation", operation}, {"warps_a_sub_core", 4.0}, {"sub_cores", 1.0}});
            if (!value) return {};
            return exactly(std::round(*value * halves));
          }};
}

}  // namespace

std::vector<Rule> core_rules() {
  const auto clock = [](const char* key, double Answers::*field) {
    return Rule{key, "nvidia_smi_after", "the highest that nvidia-smi names", false,
                [field](const Evidence& evidence) -> Result {
                  const double megahertz = evidence.answers.*field;
                  return megahertz > 0 ? Result(exactly(megahertz)) : Result();
                }};
  };
  std::vector<Rule> rules;
  rules.push_back(clock("clock.boost.sm", &Answers::highest_sm_mhz));
  rules.push_back(clock("clock.boost.dram", &Answers::highest_dram_mhz));
  rules.push_back({"clock.observed.sm", "sm_clock", "clock64 over globaltimer, all SMs busy", false,
                   [](const Evidence& evidence) -> Result {
                     const auto value = evidence.answers.value("sm_clock");
                     return value ? Result(exactly(std::round(*value * 1000))) : Result();
                   }});
  rules.push_back(
      {"sm.count", "l2_latency_by_sm", "one entry per SM", false, [](const Evidence& evidence) -> Result {
         const auto all = evidence.answers.all("l2_latency_by_sm");
         if (all.empty() || !all.front()->lists.contains("mean_cycles")) return {};
         return exactly(static_cast<double>(all.front()->lists.at("mean_cycles").size()));
       }});
  rules.push_back(pipe_interval("pipe.alu.interval", "IADD3", 1, "IADD3, four warps"));
  rules.push_back(pipe_interval("pipe.fmaheavy.interval", "FFMA", 2, "FFMA, four warps, over two halves"));
  rules.push_back(pipe_interval("pipe.fmalite.interval", "FFMA", 2, "FFMA, four warps, over two halves"));
  rules.push_back(pipe_interval("pipe.fp64.interval", "DFMA", 1, "DFMA, four warps"));
  rules.push_back(pipe_interval("pipe.xu.interval", "MUFU_EX2", 1, "MUFU.EX2, four warps"));
  const auto released = [](const char* operation) {
    return std::vector<Where>{{"operation", operation}, {"hazard", "RAW"}};
  };
  rules.push_back(stated("latency.xu", "scoreboard_latency", "MUFU.EX2", released("MUFU.EX2")));
  rules.push_back(stated("latency.special_register", "scoreboard_latency", "S2R", released("S2R")));
  rules.push_back(stated("latency.constant", "scoreboard_latency", "LDC", released("LDC")));
  rules.push_back(stated("latency.shuffle", "pipe_latency", "SHFL", {{"operation", "SHFL"}}));
  add_match_rules(rules);
  rules.push_back({"latency.uniform_reduce", "pipe_latency", "REDUX less the MOV of 4 cycles after it", false,
                   [](const Evidence& evidence) -> Result {
                     const auto value = evidence.answers.value("pipe_latency", {{"operation", "REDUX"}});
                     return value ? Result(exactly(std::round(*value - 4))) : Result();
                   }});
  rules.push_back({"lsu.queue", "issue_queue", "LDG.32: instructions that issue a cycle apart", false,
                   [](const Evidence& e) { return queue_depth(issue_times(e.answers, "LDG.32", 1)); }});
  rules.push_back(
      {"lsu.address_interval", "issue_queue", "LDG.32, one sub-core, by least squares", false,
       [](const Evidence& e) { return steady_interval(issue_times(e.answers, "LDG.32", 1), 1); }});
  rules.push_back(
      {"lsu.uniform_interval", "issue_queue", "LDS.32, one sub-core, by least squares", false,
       [](const Evidence& e) { return steady_interval(issue_times(e.answers, "LDS.32", 1), 1); }});
  rules.push_back(
      {"lsu.sm_interval", "issue_queue", "LDG.32, four sub-cores, by least squares", false,
       [](const Evidence& e) { return steady_interval(issue_times(e.answers, "LDG.32", 4), 0.25); }});
  rules.push_back(stated("lsu.source_latency", "scoreboard_latency", "LDG.32 write-after-read",
                         {{"operation", "LDG.32"}, {"hazard", "WAR"}}));
  rules.push_back(line("lsu.store_source_latency", "scoreboard_latency",
                       "STG write-after-read, by least squares", Part::start, by_width("STG", "WAR")));
  rules.push_back(line("lsu.store_width_latency", "scoreboard_latency",
                       "STG write-after-read, a word more, by least squares", Part::slope,
                       by_width("STG", "WAR")));
  rules.push_back(line("l1.hit_latency", "scoreboard_latency", "LDG, by least squares", Part::start,
                       by_width("LDG", "RAW")));
  rules.push_back(line("lsu.width_latency", "scoreboard_latency", "LDG, a word more, by least squares",
                       Part::slope, by_width("LDG", "RAW")));
  rules.push_back(line("shared.latency", "scoreboard_latency", "LDS, by least squares", Part::start,
                       by_width("LDS", "RAW")));
  rules.push_back(stated("shared.atomic_latency", "scoreboard_latency", "ATOMS.ADD", released("ATOMS.ADD")));
  rules.push_back(line("shared.conflict_latency", "shared_latency",
                       "LDS.32 by ways of conflict, by least squares", Part::slope,
                       [](const Answers& a) { return conflict_points(a, "shared_latency", 1); }));
  rules.push_back(line("shared.sub_core_interval", "shared_throughput",
                       "LDS.32 of one sub-core by ways of conflict from four on, by least squares",
                       Part::slope,
                       [](const Answers& a) { return conflict_points(a, "shared_throughput", 4); }));
  rules.push_back({"l1.tag_lines", "tag_stage", "cycles by lines touched, by least squares", false,
                   [](const Evidence& evidence) -> Result {
                     const std::vector<Point> points = tag_points(evidence.answers);
                     if (points.size() < 2) return {};
                     return exactly(std::round(1 / line_through(points).slope));
                   }});
  rules.push_back(
      line("barrier.latency", "barrier", "BAR.SYNC by warps, by least squares", Part::start, barrier_points));
  rules.push_back(line("barrier.warp_interval", "barrier", "BAR.SYNC by warps, by least squares", Part::slope,
                       barrier_points));
  rules.push_back(stated("barrier.membar_block", "barrier", "MEMBAR.CTA, one warp",
                         {{"operation", "MEMBAR.CTA"}, {"warps", 1.0}}));
  rules.push_back(stated("barrier.membar_gpu", "barrier", "MEMBAR.GPU, one warp",
                         {{"operation", "MEMBAR.GPU"}, {"warps", 1.0}}));
  rules.push_back({"barrier.membar_system", "barrier",
                   "STG and MEMBAR.SYS less what the STG adds to MEMBAR.CTA, one warp", false,
                   [](const Evidence& evidence) -> Result {
                     const auto at = [&](const char* operation) {
                       return evidence.answers.value("barrier", {{"operation", operation}, {"warps", 1.0}});
                     };
                     const auto system = at("STG+MEMBAR.SYS"), with = at("STG+MEMBAR.CTA"),
                                without = at("MEMBAR.CTA");
                     if (!system || !with || !without) return {};
                     return exactly(std::round(*system - (*with - *without)));
                   }});
  rules.push_back({"fetch.l1_bytes", "instruction_cache", "the first knee, four warps", false,
                   [](const Evidence& evidence) -> Result {
                     const auto sizes = code_sizes(evidence.answers);
                     const auto levels = code_levels(sizes);
                     return levels ? code_knee(sizes, levels->sm, levels->gpc) : Result();
                   }});
  rules.push_back({"gpc_cache.bytes", "instruction_cache", "the second knee, four warps", false,
                   [](const Evidence& evidence) -> Result {
                     const auto sizes = code_sizes(evidence.answers);
                     const auto levels = code_levels(sizes);
                     return levels ? code_knee(sizes, levels->gpc, levels->beyond) : Result();
                   }});
  rules.push_back(
      {"gpc_cache.latency", "instruction_cache",
       "cycles for the eight instructions of a line between the knees, times the lines on their way", false,
       [](const Evidence& evidence) -> Result {
         const auto levels = code_levels(code_sizes(evidence.answers));
         if (!levels) return {};
         return exactly(std::round(8 * levels->gpc * evidence.base_value("fetch.prefetch_lines")));
       }});
  const auto constants = [](const char* operation, double bytes) {
    return std::vector<Where>{{"operation", operation}, {"sms", "one"}, {"stride", 64.0}, {"bytes", bytes}};
  };
  const auto miss = [constants](const char* key, const char* operation, double hit_bytes) -> Rule {
    return {key, "constant_chain", "a chain through 16 KiB less one that hits, one SM", false,
            [=](const Evidence& evidence) -> Result {
              const auto far = evidence.answers.value("constant_chain", constants(operation, 16384));
              const auto here = evidence.answers.value("constant_chain", constants(operation, hit_bytes));
              if (!far || !here) return {};
              return exactly(std::round(*far - *here));
            }};
  };
  rules.push_back(miss("constant.l1_miss", "LDC", 1024));
  rules.push_back(stated("pipe.tensor.interval", "tensor_issue_interval",
                         "HMMA.16816.F32, two warps on all sub-cores",
                         {{"operation", "HMMA_16816_F32"}, {"warps_a_sub_core", 2.0}, {"sub_cores", 4.0}}));
  rules.push_back(stated("latency.tensor", "tensor_latency", "DMMA.8x8x4 in a chain through A",
                         {{"operation", "DMMA_884"}, {"chain", "operand A"}}));
  return rules;
}

}  // namespace foretrace::calibrate
