#include "sim/engine/ending.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace foretrace::engine {

namespace {

constexpr double kKeepsUp = 0.9;  // of what SMs ask L2 for
constexpr double kNine = 1.645;   // standard deviations that hold 9 cases of 10
constexpr double kAlike =
    0.1;  // blocks whose work differs by less than this share of it go on in whole chip-fulls
// The last of many blocks takes longer than their mean, unless they run in step: by such a share, and such a
// share of a block's time, the end was longer than its model over the launches of scripts/performance/medium
// on the H100.
constexpr double kLonger = 0.3, kLast = 0.15;
// Standard deviation about that, and of an end that was played through, as shares of a block's time.
constexpr double kDrainError = 0.18, kTailError = 0.3;
// How an emptying SM goes on is known from a run that is half empty: this share of what that says blocks gain is
// in doubt.
constexpr double kSharing = 0.25;

/// 1: all of these ages, as shares of a block's time, are the same or a whole time apart; 0: they are spread evenly over it.
double in_step(const std::vector<double>& ages) {
  double x = 0, y = 0;
  for (const double age : ages) {
    x += std::cos(2 * std::numbers::pi * age);
    y += std::sin(2 * std::numbers::pi * age);
  }
  return std::hypot(x, y) / static_cast<double>(ages.size());
}

/// Cycle by which L2 will have served what nobody waits for (stores, reductions), where SMs ask for more than it can: those that wait
/// become more, and the launch ends with them. 0 where it keeps up.
double served(const Pace& pace, const Survey& survey) {
  const auto awaited = [](const stats::MemoryCounters& m) {
    return static_cast<double>(m.tex_sectors_read + m.tex_sectors_atomic);
  };
  const auto asked = [&](const stats::MemoryCounters& m) {
    return awaited(m) + static_cast<double>(m.tex_sectors_write + m.tex_sectors_reduction);
  };
  const auto found = [](const stats::MemoryCounters& m) {
    return static_cast<double>(m.tex_sectors_hit + m.tex_sectors_miss);
  };
  const stats::MemoryCounters &from = pace.from.memory, &to = pace.to.memory;
  const double asks = asked(to) - asked(from), serves = found(to) - found(from);
  if (serves <= 0 || serves > kKeepsUp * asks) return 0;
  // A store's sectors may meet others' on the way, so they are counted as they came; what a reduction asks is known.
  const auto did = static_cast<double>(pace.to.instructions - pace.from.instructions);
  const double stores = static_cast<double>(to.tex_sectors_write) +
                        static_cast<double>(to.tex_sectors_write - from.tex_sectors_write) / did *
                            (survey.instructions - static_cast<double>(pace.to.instructions));
  const double all = stores + static_cast<double>(survey.sums.l1_sectors_global_red);
  const double left = all - (found(to) - awaited(to));
  return static_cast<double>(pace.to.now) + left / serves * static_cast<double>(pace.to.now - pace.from.now);
}

}  // namespace

std::vector<double> work_along_grid(const Survey& survey, std::uint64_t blocks) {
  if (survey.uniform || survey.sample.size() < 8) return {};
  constexpr std::size_t kPlaces = 4096;
  std::vector<double> work(std::min<std::size_t>(kPlaces, blocks));
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

Ending ending(const Survey& survey, const Progress& progress, const Pace& pace, TailSetup tail,
              const spec::LaunchSpec& launch) {
  const gpu::Moment& stopped = progress.last();
  const auto now = static_cast<double>(stopped.now);
  const auto held = static_cast<double>(std::min(tail.sms * tail.per_sm, tail.blocks));
  const double period = held / pace.rate;
  const double overhead = static_cast<double>(launch.block_end + launch.drain);
  Ending result;
  double until_then = 0, doubt_of_end = 0;  // cycles from now on at the steady rate
  if (pace.by_blocks && survey.spread < kAlike) {
    const Continuation goes_on = progress.go_on(pace, tail.blocks);
    std::vector<double> ages = goes_on.ages;
    for (double& age : ages) age /= period;
    const double apart = 1 - in_step(ages);
    const double longer = (1 + kLonger * apart) * period,
                 drain = longer * drain_time(tail, ages) + kLast * apart * period;
    tail.shared = 0;
    const double alone =
        longer * drain_time(tail, ages) + kLast * apart * period;  // if each block goes at its own pace
    until_then = std::max(0.0, goes_on.placed - now);
    result.cycles = std::max(now, goes_on.placed + drain) + overhead;
    result.idle = overhead + drain / 2;
    doubt_of_end = kNine * std::hypot(goes_on.scatter, kDrainError * period, kSharing * (alone - drain));
  } else {
    tail.spread = 0.01;
    const double together = tail_beyond_work(tail) * period;
    tail.spread = 0.08;
    const double apart = tail_beyond_work(tail) * period;
    const double beyond = (1 + kLonger) * ((together + apart) / 2 + period / 2) - period / 2;
    until_then = (survey.instructions - static_cast<double>(stopped.instructions)) / pace.instructions;
    result.cycles = now + until_then + beyond + overhead;
    result.idle = overhead + beyond / 2;
    doubt_of_end = kNine * std::hypot((together - apart) / 2, kTailError * period);
    doubt_of_end =
        std::hypot(doubt_of_end, kNine * survey.relative_error * survey.instructions / pace.instructions);
  }
  const double left_behind = served(pace, survey) + overhead;
  if (left_behind > result.cycles) {
    result.idle += left_behind - result.cycles;
    until_then += left_behind - result.cycles;
    result.cycles = left_behind;
  }
  const double doubt = std::hypot(until_then * pace.doubt, doubt_of_end);
  result.low = std::max(now, result.cycles - doubt);
  result.high = result.cycles + doubt;
  return result;
}

}  // namespace foretrace::engine
