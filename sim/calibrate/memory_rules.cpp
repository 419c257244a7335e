// Rules beyond L1: network, L2, DRAM, and what a launch costs.
#include <algorithm>
#include <cmath>

#include "sim/calibrate/least_squares.h"
#include "sim/calibrate/rules.h"

namespace foretrace::calibrate {
namespace {

using Result = std::optional<Found>;

/// SM cycles of a dependent load of DRAM, over the 512 MiB that outlast L2 and TLBs alike, beyond one that L2 has.
std::optional<double> dram_beyond_l2(const Answers& answers) {
  const auto dram = answers.value("global_latency", {{"level", "dram"}, {"span_mib", 512.0}}),
             l2 = l2_hit(answers);
  return dram && l2 ? std::optional(*dram - *l2) : std::nullopt;
}

/// Each of two ways of the network takes half of what an L2 hit differs by.
Result network_way(const Evidence& evidence, const char* key) {
  const auto by = difference(evidence, l2_hit);
  return by ? moved(evidence, key, *by * evidence.l2_per_sm_cycle() / 2, 10) : Result();
}

Result dram_latency(const Evidence& evidence) {
  const auto by = difference(evidence, dram_beyond_l2);
  return by ? moved(evidence, "dram.latency", *by * evidence.l2_per_sm_cycle(), 20) : Result();
}

/// Highest bandwidth of reads, as a share of what the channels could move at this clock.
std::optional<double> read_share(const Answers& answers, double channels, double channel_bytes) {
  const double bandwidth = largest(answers.all("dram_bandwidth", {{"kind", "read"}}));
  if (bandwidth <= 0 || answers.highest_dram_mhz <= 0) return {};
  return bandwidth / (channels * channel_bytes * answers.highest_dram_mhz / 1000);
}

/// Refresh takes what reads lose; the base's refresh explains a part of the base's loss, the rest is taken to be the same.
Result refresh_cycles(const Evidence& evidence) {
  if (evidence.base_answers == nullptr) return {};
  const double channels = evidence.base_value("dram.channels"),
               bytes = evidence.base_value("dram.channel_bytes");
  const auto now = read_share(evidence.answers, channels, bytes);
  // A base whose channels were overridden for the new chip had its own when it was measured.
  const double base_peak_channels = evidence.base_channels > 0 ? evidence.base_channels : channels;
  const auto then = read_share(*evidence.base_answers, base_peak_channels, bytes);
  if (!now || !then) return {};
  const double interval = evidence.base_value("dram.refresh_interval");
  return moved(evidence, "dram.refresh_cycles", (*then - *now) * interval, 0.01 * interval);
}

/// Cycles that an empty launch of at most one block per SM takes beyond the longest an SM is active, less what the model has of them besides: a
/// block's way to the SM and its end.
Result launch_start(const Evidence& evidence) {
  std::vector<double> beyond;
  for (const Answer* each : evidence.answers.all("profiled_empty", {{"kernel", "empty"}})) {
    const auto elapsed = each->number("gpc__cycles_elapsed.max"),
               active = each->number("sm__cycles_active.max");
    if (elapsed && active && each->number("blocks").value_or(0) <= evidence.base_value("sm.count")) {
      beyond.push_back(*elapsed - *active);
    }
  }
  if (beyond.empty()) return {};
  const double start = median(beyond) - evidence.base_value("launch.drain") -
                       evidence.base_value("launch.block_start") - evidence.base_value("launch.block_end");
  const auto [low, high] = std::minmax_element(beyond.begin(), beyond.end());
  if (start <= 0) return {};
  return Found{start, start - (median(beyond) - *low), start + (*high - median(beyond))};
}

/// Elapsed cycles by blocks, where there are so many that only dispatch matters.
Result block_interval(const Evidence& evidence) {
  std::vector<Point> points;
  for (const Answer* each : evidence.answers.all("profiled_empty", {{"kernel", "empty"}})) {
    const auto blocks = each->number("blocks"), elapsed = each->number("gpc__cycles_elapsed.max");
    if (blocks && elapsed && *blocks >= 4096 && each->number("threads").value_or(0) <= 512)
      points.push_back({*blocks, *elapsed});
  }
  if (points.size() < 2) return {};
  return exactly(line_through(points).slope);
}

Result sm_block_interval(const Evidence& evidence) {
  std::vector<double> intervals;
  for (const Answer* each : evidence.answers.all("block_turnaround")) {
    const double interval = each->number("first_wave_start_interval_cycles").value_or(0);
    if (interval > 0) intervals.push_back(interval);
  }
  if (intervals.empty()) return {};
  return exactly(std::round(median(intervals)));
}

/// A block lives longer by this for each further warp that has to be started.
Result warp_interval(const Evidence& evidence) {
  std::vector<Point> short_lives, long_lives;
  for (const Answer* each : evidence.answers.all("block_turnaround", {{"resident_blocks", 1.0}})) {
    const auto threads = each->number("threads"), life = each->number("block_life_cycles");
    if (!threads || !life) continue;
    (each->number("spin_cycles").value_or(0) < 1000 ? short_lives : long_lives)
        .push_back({*threads / 32, *life});
  }
  if (short_lives.size() < 2 || long_lives.size() < 2) return {};
  const double first = line_through(short_lives).slope, second = line_through(long_lives).slope;
  return Found{std::round((first + second) / 2), std::floor(std::min(first, second)),
               std::ceil(std::max(first, second))};
}

Result block_end(const Evidence& evidence) {
  const auto gap = [](const Answers& answers) -> std::optional<double> {
    std::vector<double> gaps;
    for (const Answer* each : answers.all("block_turnaround", {{"resident_blocks", 1.0}}))
      gaps.push_back(each->value);
    return gaps.empty() ? std::nullopt : std::optional(median(gaps));
  };
  const auto by = difference(evidence, gap);
  return by ? moved(evidence, "launch.block_end", *by, 45) : Result();
}

/// L2 cycles a slice is busy with a packet of atomics, from lanes per SM cycle on one word, each in a packet of its own.
Result atomic_interval(const Evidence& evidence) {
  std::vector<double> rates;
  for (const Answer* each :
       evidence.answers.all("atomic_throughput", {{"operation", "ATOMG.ADD"}, {"pattern", "one_word"}})) {
    if (each->number("blocks").value_or(0) >= evidence.base_value("sm.count")) rates.push_back(each->value);
  }
  if (rates.empty()) return {};
  return exactly(1 / median(rates) * evidence.l2_per_sm_cycle());
}

/// Of packets spread over all slices half pass a slice on their way home: what that costs is what the rate of atomics on
/// random words of a large set leaves.
Result atomic_pass_interval(const Evidence& evidence) {
  const Result home = atomic_interval(evidence);
  double rate = 0;
  for (const Answer* each :
       evidence.answers.all("atomic_words", {{"operation", "RED.ADD"}, {"set_of_each_sm", 0.0}})) {
    if (each->number("blocks").value_or(0) < evidence.base_value("sm.count")) continue;
    rate = std::max(rate, each->number("by_slowest_block").value_or(0));
  }
  if (!home || rate <= 0 || evidence.base_value("l2.partitions") < 2) return {};
  const double each = evidence.base_value("l2.slices") / rate * evidence.l2_per_sm_cycle();
  const double value = 2 * (each - home->value);
  if (value <= 0) return {};
  return Found{value, 0.6 * value, 1.1 * value};
}

/// DRAM cycles between two activates of a channel: lone sectors at random places open a row each.
Result row_interval(const Evidence& evidence) {
  double rate = 0;  // a nanosecond
  for (const Answer* each :
       evidence.answers.all("random_loads", {{"piece_bytes", 32.0}, {"region_mib", 8192.0}})) {
    rate = std::max(rate, each->value * each->number("sm_ghz").value_or(0));
  }
  if (rate <= 0 || evidence.answers.highest_dram_mhz <= 0) return {};
  const double interval =
      evidence.base_value("dram.channels") / rate * evidence.answers.highest_dram_mhz / 1000;
  const double refresh =
      evidence.base_value("dram.refresh_cycles") / evidence.base_value("dram.refresh_interval");
  const double value = std::round(interval * (1 - refresh));
  return Found{value, value - 1, value + 1};
}

}  // namespace

std::vector<Rule> memory_rules() {
  std::vector<Rule> rules;
  rules.push_back({"l1.fill_bytes", "load_bandwidth", "one SM alone, the power of two nearest", false,
                   [](const Evidence& evidence) -> Result {
                     const double most = largest(evidence.answers.all("load_bandwidth", {{"sms", 1.0}}));
                     return most > 0 ? Result(exactly(nearest_power(most))) : Result();
                   }});
  rules.push_back({"network.reply_bytes", "load_bandwidth", "one SM alone, an L2 cycle", false,
                   [](const Evidence& evidence) -> Result {
                     const double most = largest(evidence.answers.all("load_bandwidth", {{"sms", 1.0}}));
                     return most > 0 ? Result(exactly(std::round(most / evidence.l2_per_sm_cycle())))
                                     : Result();
                   }});
  rules.push_back(
      {"network.request_bytes", "store_bandwidth", "one SM alone, 512 bytes per instruction, an L2 cycle",
       false, [](const Evidence& evidence) -> Result {
         const double most = largest(evidence.answers.all(
             "store_bandwidth", {{"sms", 1.0}, {"bits", 128.0}, {"lane_stride_bytes", 16.0}}));
         return most > 0 ? Result(exactly(std::round(512 * most / evidence.l2_per_sm_cycle()))) : Result();
       }});
  rules.push_back(
      {"network.request_latency", "global_latency", "L2 hits, half of what they differ from the base's", true,
       [](const Evidence& evidence) { return network_way(evidence, "network.request_latency"); }});
  rules.push_back({"network.reply_latency", "global_latency",
                   "L2 hits, half of what they differ from the base's", true,
                   [](const Evidence& evidence) { return network_way(evidence, "network.reply_latency"); }});
  rules.push_back({"l2.slice_bytes", "load_bandwidth",
                   "all SMs on 16 MiB, a slice and L2 cycle, the power of two nearest", false,
                   [](const Evidence& evidence) -> Result {
                     const double sms = evidence.base_value("sm.count");
                     const double most =
                         largest(evidence.answers.all("load_bandwidth", {{"sms", sms}, {"set_mib", 16.0}}));
                     if (most <= 0) return {};
                     return exactly(nearest_power(most * sms / evidence.base_value("l2.slices") /
                                                  evidence.l2_per_sm_cycle()));
                   }});
  rules.push_back(
      {"l2.atomic_interval", "atomic_throughput", "one_word, in one slice", false, atomic_interval});
  rules.push_back({"l2.atomic_pass_interval", "atomic_words",
                   "random words over all slices, less l2.atomic_interval", true, atomic_pass_interval});
  rules.push_back(
      {"dram.t_rrd", "random_loads", "lone sectors at random places, a row each", true, row_interval});
  rules.push_back({"dram.latency", "global_latency",
                   "DRAM over 512 MiB less L2 hits, moved by what it differs from the base's", true,
                   dram_latency});
  rules.push_back({"dram.refresh_cycles", "dram_bandwidth",
                   "share of the peak that reads lose, moved from the base's", true, refresh_cycles});
  rules.push_back({"launch.start", "profiled_empty",
                   "elapsed less active cycles, the median, less launch.drain and a block's start and end",
                   true, launch_start});
  rules.push_back({"launch.block_interval", "profiled_empty", "elapsed cycles by blocks, by least squares",
                   false, block_interval});
  rules.push_back({"launch.sm_block_interval", "block_turnaround", "starts of the first wave, the median",
                   false, sm_block_interval});
  rules.push_back({"launch.warp_interval", "block_turnaround",
                   "lives of blocks by their warps, by least squares", true, warp_interval});
  rules.push_back({"launch.block_end", "block_turnaround",
                   "gaps between blocks, moved by what they differ from the base's", true, block_end});
  return rules;
}

}  // namespace foretrace::calibrate
