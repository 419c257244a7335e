#include "sim/sampling/tail_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/sampling/block_queue.h"
#include "sim/sampling/constants.h"

namespace foretrace::sampling {

double stores_served(const SteadyRate& rate, const Survey& survey) {
  const auto awaited = [](const stats::MemoryCounters& m) {
    return static_cast<double>(m.tex_sectors_read + m.tex_sectors_atomic);
  };
  const auto asked = [&](const stats::MemoryCounters& m) {
    return awaited(m) + static_cast<double>(m.tex_sectors_write + m.tex_sectors_reduction);
  };
  const auto found = [](const stats::MemoryCounters& m) {
    return static_cast<double>(m.tex_sectors_hit + m.tex_sectors_miss);
  };
  const stats::MemoryCounters &from = rate.from.memory, &to = rate.to.memory;
  const double asks = asked(to) - asked(from), serves = found(to) - found(from);
  if (serves <= 0 || serves > kKeepsUp * asks) return 0;
  // A store's sectors may meet others' on the way, so they are counted as they came; what a reduction asks is known.
  const auto did = static_cast<double>(rate.to.instructions - rate.from.instructions);
  const double stores = static_cast<double>(to.tex_sectors_write) +
                        static_cast<double>(to.tex_sectors_write - from.tex_sectors_write) / did *
                            (survey.instructions - static_cast<double>(rate.to.instructions));
  const double all = stores + static_cast<double>(survey.sums.l1_sectors_global_red);
  const double left = all - (found(to) - awaited(to));
  return static_cast<double>(rate.to.now) + left / serves * static_cast<double>(rate.to.now - rate.from.now);
}

std::vector<double> work_along_grid(const Survey& survey, std::uint64_t blocks) {
  if (survey.uniform || survey.sample.size() < kSampleOfPlaces.whole()) return {};
  std::vector<double> work(std::min<std::size_t>(kPlacesOfWork.whole(), blocks));
  double sum = 0;
  std::size_t sample = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {  // the nearest block of the sample
    const double block =
        (static_cast<double>(i) + 0.5) / static_cast<double>(work.size()) * static_cast<double>(blocks);
    const auto distance = [&](std::size_t s) {
      return std::abs(static_cast<double>(survey.sample[s].block) - block);
    };
    while (sample + 1 < survey.sample.size() && distance(sample + 1) <= distance(sample)) ++sample;
    work[i] = static_cast<double>(survey.sample[sample].instructions);
    sum += work[i];
  }
  if (sum <= 0) return {};
  for (double& each : work) each *= static_cast<double>(work.size()) / sum;
  return work;
}

double work_between(const std::vector<double>& along, double blocks, double from, double to) {
  if (along.empty()) return to - from;
  const double each = blocks / static_cast<double>(along.size());
  double sum = 0;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const double begin = static_cast<double>(i) * each;
    sum += along[i] * std::max(0.0, std::min(to, begin + each) - std::max(from, begin));
  }
  return sum;
}

TailEstimate after_gap(const Survey& survey, const SteadyRate& rate, const Gap& gap, Cycle simulated,
                       std::uint64_t wave) {
  const double blocks = static_cast<double>(gap.blocks), from = static_cast<double>(gap.first),
               to = from + static_cast<double>(gap.count);
  const double skipped = work_between(work_along_grid(survey, gap.blocks), blocks, from, to) / rate.rate;
  TailEstimate result;
  result.cycles = static_cast<double>(simulated) + skipped;
  const double left_behind = stores_served(rate, survey);
  if (left_behind > result.cycles) {
    result.idle = left_behind - result.cycles;
    result.cycles = left_behind;
  }
  const double doubt =
      std::hypot(skipped * rate.doubt, kNine * kGapError * static_cast<double>(wave) / rate.rate,
                 kNine * std::hypot(kSkippedError, survey.relative_error) * skipped);
  result.low = std::max(static_cast<double>(simulated), result.cycles - doubt);
  result.high = result.cycles + doubt;
  return result;
}

namespace {

double blocks_held(const BlockQueue& queue) {
  return static_cast<double>(std::min(queue.sms * queue.per_sm, queue.blocks));
}

/// What the launch's end adds, cycles: with blocks that share what they are bound by, and with blocks that each go at their own pace.
std::pair<double, double> ends(BlockQueue queue, const SteadyRate& rate) {
  const double period = blocks_held(queue) / rate.rate;
  queue.shared = 1;
  const double together = beyond_work(queue) * period;
  queue.shared = 0;
  return {together, beyond_work(queue) * period};
}

}  // namespace

TailEstimate first_and_later(const Survey& survey, const SteadyRate& first, const SteadyRate& later,
                             BlockQueue queue, const spec::LaunchSpec& launch) {
  const double wave = blocks_held(queue) / static_cast<double>(queue.blocks) * survey.instructions;
  const double begins = wave / first.instructions, as_later = wave / later.instructions,
               left = (survey.instructions - wave) / later.instructions,
               overhead = static_cast<double>(launch.block_end + launch.drain);
  const auto [together, alone] = ends(queue, later);
  const double end = (together + alone) / 2;
  TailEstimate result;
  result.cycles = std::max(begins + left + end, stores_served(later, survey)) + overhead;
  result.idle = overhead + end / 2;
  const double doubt = std::hypot(std::hypot(left * later.doubt, kNine * kLaterWaves * left),
                                  std::hypot(kNine * (alone - together) / 2, kNine * (begins - as_later) / 2),
                                  kNine * survey.relative_error * left);
  result.low = result.cycles - doubt;
  result.high = result.cycles + doubt;
  return result;
}

TailEstimate within_wave(const Survey& survey, const SteadyRate& rate, Cycle now, BlockQueue queue,
                         const spec::LaunchSpec& launch) {
  const double held = blocks_held(queue);
  const double overhead = static_cast<double>(launch.block_end + launch.drain);
  const auto [together, alone] = ends(queue, rate);
  const double left = (survey.instructions - static_cast<double>(rate.to.instructions)) / rate.instructions;
  const double end = (together + alone) / 2;
  TailEstimate result;
  result.cycles =
      std::max(static_cast<double>(now) + left + end + overhead, stores_served(rate, survey) + overhead);
  result.idle = overhead + end / 2;
  const bool first_wave_only = static_cast<double>(rate.to.instructions) <
                               held / static_cast<double>(queue.blocks) * survey.instructions;
  const double unseen =
      queue.blocks > queue.sms * queue.per_sm && first_wave_only ? kUnseenWaves : kWithinBlocks;
  const double doubt = std::hypot(std::hypot(left * rate.doubt, kNine * unseen * left),
                                  kNine * (alone - together) / 2, kNine * survey.relative_error * left);
  result.low = std::max(static_cast<double>(now), result.cycles - doubt);
  result.high = result.cycles + doubt;
  return result;
}

}  // namespace foretrace::sampling
