#include "sim/sampling/steady_rate.h"

#include <algorithm>
#include <cmath>

#include "sim/sampling/constants.h"

namespace foretrace::sampling {

namespace {

double dram_bytes(const gpu::Snapshot& snapshot) {
  return static_cast<double>(snapshot.memory.dram_bytes_read + snapshot.memory.dram_bytes_write);
}

/// What a stretch tells of the next: the correlation of neighbours.
double correlation(const std::vector<double>& rates, double mean) {
  double together = 0, squares = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    squares += (rates[i] - mean) * (rates[i] - mean);
    if (i > 0) together += (rates[i] - mean) * (rates[i - 1] - mean);
  }
  return squares > 0 ? together / squares : 0;
}

}  // namespace

double student(std::size_t freedom) {
  static constexpr double kTable[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812};
  if (freedom == 0) return kTable[0];
  return freedom <= std::size(kTable) ? kTable[freedom - 1] : kNine.value;
}

double RateHistory::progress_of(const gpu::Snapshot& snapshot, Count count) {
  switch (count) {
    case Count::ended: return static_cast<double>(snapshot.ended);
    case Count::instructions: break;
  }
  return static_cast<double>(snapshot.instructions);
}

void RateHistory::note(const gpu::Snapshot& snapshot) {
  if (!snapshots_.empty() && snapshot.now - snapshots_.back().now < interval_) return;
  snapshots_.push_back(snapshot);
  if (snapshots_.size() < kSnapshotsKept.whole()) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < snapshots_.size(); i += 2) snapshots_[kept++] = snapshots_[i];
  snapshots_.resize(kept);
  interval_ = (snapshots_.back().now - snapshots_.front().now) / kept;
}

/// The cycle by which so much progress had been made, between moments on a straight line.
double RateHistory::at(double progress, Count count) const {
  const auto after = std::lower_bound(
      snapshots_.begin(), snapshots_.end(), progress,
      [count](const gpu::Snapshot& m, double wanted) { return progress_of(m, count) < wanted; });
  if (after == snapshots_.begin()) return static_cast<double>(after->now);
  if (after == snapshots_.end()) return static_cast<double>(snapshots_.back().now);
  const gpu::Snapshot& before = *(after - 1);
  const double reached = progress_of(before, count), next = progress_of(*after, count);
  return static_cast<double>(before.now) +
         (progress - reached) / (next - reached) * static_cast<double>(after->now - before.now);
}

double RateHistory::instructions_at(double time) const {
  const auto after =
      std::lower_bound(snapshots_.begin(), snapshots_.end(), time,
                       [](const gpu::Snapshot& m, double t) { return static_cast<double>(m.now) < t; });
  if (after == snapshots_.end()) return progress_of(snapshots_.back(), Count::instructions);
  const double next = progress_of(*after, Count::instructions);
  if (after == snapshots_.begin()) return next;
  const gpu::Snapshot& before = *(after - 1);
  const double reached = progress_of(before, Count::instructions);
  return reached + (next - reached) * (time - static_cast<double>(before.now)) /
                       static_cast<double>(after->now - before.now);
}

SteadyRate RateHistory::rate(Cycle from_cycle) const {
  SteadyRate result;
  if (snapshots_.size() < 2 * static_cast<std::size_t>(kStretches.value)) return result;
  const gpu::Snapshot& end = snapshots_.back();
  const auto full = static_cast<double>(wave_);
  const auto first = std::find_if(snapshots_.begin(), snapshots_.end() - 1,
                                  [&](const gpu::Snapshot& m) { return m.now >= from_cycle; });
  const auto ramp = [&](Count count, double least) {
    return std::max({least, kRamp * progress_of(end, count), from_cycle ? progress_of(*first, count) : 0});
  };
  const double fulls = (static_cast<double>(end.ended) - ramp(Count::ended, full)) / full;
  result.by_blocks = fulls >= kFewestStretches;
  double step = (static_cast<double>(end.instructions) - ramp(Count::instructions, 0)) / kStretches;
  int stretches = static_cast<int>(kStretches.value);
  if (result.by_blocks) {
    stretches = std::min(stretches, static_cast<int>(fulls));
    step = std::floor(fulls / stretches) * full;
  }
  if (step <= 0) return result;
  const Count count = result.by_blocks ? Count::ended : Count::instructions;
  const double last = progress_of(end, count);
  std::vector<double> rates, times{at(last - stretches * step, count)};
  for (int i = stretches - 1; i >= 0; --i) {
    times.push_back(at(last - i * step, count));
    const double from = times[times.size() - 2], took = times.back() - from;
    if (took <= 0) return result;
    rates.push_back((instructions_at(times.back()) - instructions_at(from)) / took);
  }
  const auto mean = [&](double from) {
    return (instructions_at(times.back()) - instructions_at(from)) / (times.back() - from);
  };
  result.known = true;
  const double rate = mean(times.front());
  double squares = 0, early = 0, late = 0;
  const std::size_t half = rates.size() / 2;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    squares += (rates[i] - rate) * (rates[i] - rate);
    if (i < half) early += rates[i];
    if (i >= rates.size() - half) late += rates[i];
  }
  const double n = static_cast<double>(rates.size());
  const double alike = std::clamp(correlation(rates, rate), 0.0, kMostAlike.value);
  result.error = std::sqrt(squares / (n - 1) / n * (1 + alike) / (1 - alike)) / rate;
  result.drift = (late - early) / static_cast<double>(half) / rate;
  // Halves of a steady rate differ by chance, with twice the mean's standard error; what is beyond that may go on.
  const double by_chance = 2 * result.error;
  const double goes_on = std::sqrt(std::max(0.0, result.drift * result.drift - by_chance * by_chance));
  result.doubt = std::hypot(student(rates.size() - 1) * result.error, goes_on);
  // A rate that still moves: the later half speaks for what comes.
  const bool moves = goes_on > 0;
  const double from_time = moves ? times[rates.size() - half] : times.front();
  result.instructions = mean(from_time);
  result.rate = result.instructions / block_work_;

  const auto snapshot_at = [&](double time) -> const gpu::Snapshot& {
    const auto found =
        std::lower_bound(snapshots_.begin(), snapshots_.end(), time,
                         [](const gpu::Snapshot& m, double t) { return static_cast<double>(m.now) < t; });
    return found == snapshots_.end() ? snapshots_.back() : *found;
  };
  const gpu::Snapshot& from = snapshot_at(from_time);
  const gpu::Snapshot& middle = snapshot_at((from_time + times.back()) / 2);
  result.from = from;
  result.to = end;
  if (middle.now > from.now && end.now > middle.now) {
    const double before =
        (dram_bytes(middle) - dram_bytes(from)) / static_cast<double>(middle.now - from.now);
    const double after = (dram_bytes(end) - dram_bytes(middle)) / static_cast<double>(end.now - middle.now);
    result.memory_drift = (after - before) / dram_bytes_;
  }
  return result;
}

Cycle RateHistory::dirty_since() const {
  const double now = kNearlyDirty * static_cast<double>(snapshots_.back().memory.dirty_sectors_left);
  return std::find_if(snapshots_.begin(), snapshots_.end(),
                      [now](const gpu::Snapshot& m) {
                        return static_cast<double>(m.memory.dirty_sectors_left) >= now;
                      })
      ->now;
}

}  // namespace foretrace::sampling
