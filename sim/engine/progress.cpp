#include "sim/engine/progress.h"

#include <algorithm>
#include <cmath>

namespace foretrace::engine {

namespace {

constexpr std::size_t kMoments = 4096;  // kept at most; then every second is dropped
constexpr int kStretches = 8;
constexpr double kRamp = 0.25;  // share of what was simulated that is taken to be ramp, at least

double progress_of(const gpu::Moment& moment, bool by_blocks) {
  return static_cast<double>(by_blocks ? moment.ended : moment.instructions);
}

double dram_bytes(const gpu::Moment& moment) {
  return static_cast<double>(moment.memory.dram_bytes_read + moment.memory.dram_bytes_write);
}

}  // namespace

void Progress::note(const gpu::Moment& moment) {
  if (!moments_.empty() && moment.now - moments_.back().now < interval_) return;
  moments_.push_back(moment);
  if (moments_.size() < kMoments) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < moments_.size(); i += 2) moments_[kept++] = moments_[i];
  moments_.resize(kept);
  interval_ = (moments_.back().now - moments_.front().now) / kept;
}

/// The cycle by which so much progress had been made, between moments on a straight line.
double Progress::at(double progress, bool by_blocks) const {
  const auto after = std::lower_bound(moments_.begin(), moments_.end(), progress, [by_blocks](const gpu::Moment& m, double wanted) {
    return progress_of(m, by_blocks) < wanted;
  });
  if (after == moments_.begin()) return static_cast<double>(after->now);
  if (after == moments_.end()) return static_cast<double>(moments_.back().now);
  const gpu::Moment& before = *(after - 1);
  const double reached = progress_of(before, by_blocks), next = progress_of(*after, by_blocks);
  return static_cast<double>(before.now) + (progress - reached) / (next - reached) * static_cast<double>(after->now - before.now);
}

Pace Progress::pace() const {
  Pace pace;
  if (moments_.size() < 2 * kStretches) return pace;
  const gpu::Moment& end = moments_.back();
  const auto full = static_cast<double>(chip_full_);
  const double fulls = (1 - kRamp) * static_cast<double>(end.ended) / full;
  pace.by_blocks = fulls >= 3;
  double step = (1 - kRamp) * static_cast<double>(end.instructions) / kStretches;
  int stretches = kStretches;
  if (pace.by_blocks) {
    stretches = std::min(kStretches, static_cast<int>(fulls));
    step = std::floor(fulls / stretches) * full;
  }
  const double last = progress_of(end, pace.by_blocks);
  std::vector<double> rates, times{at(last - stretches * step, pace.by_blocks)};
  for (int i = stretches - 1; i >= 0; --i) {
    times.push_back(at(last - i * step, pace.by_blocks));
    const double took = times.back() - times[times.size() - 2];
    if (took <= 0) return pace;
    rates.push_back(step / took);
  }
  const double whole = times.back() - times.front();
  pace.known = true;
  pace.rate = stretches * step / whole;
  double squares = 0, early = 0, late = 0;
  const std::size_t half = rates.size() / 2;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    squares += (rates[i] - pace.rate) * (rates[i] - pace.rate);
    if (i < half) early += rates[i];
    if (i >= rates.size() - half) late += rates[i];
  }
  const double n = static_cast<double>(rates.size());
  pace.error = std::sqrt(squares / (n - 1) / n) / pace.rate;
  pace.drift = (late - early) / static_cast<double>(half) / pace.rate;
  // A rate that still moves: the later half speaks for what comes.
  const bool moves = std::abs(pace.drift) > 2 * pace.error;
  const double from_time = moves ? times[rates.size() - half] : times.front();
  if (moves) pace.rate = static_cast<double>(half) * step / (times.back() - from_time);

  const auto moment_at = [&](double time) -> const gpu::Moment& {
    const auto found = std::lower_bound(moments_.begin(), moments_.end(), time,
                                        [](const gpu::Moment& m, double t) { return static_cast<double>(m.now) < t; });
    return found == moments_.end() ? moments_.back() : *found;
  };
  const gpu::Moment& from = moment_at(from_time);
  const gpu::Moment& middle = moment_at((from_time + times.back()) / 2);
  pace.from = from;
  pace.to = end;
  pace.instructions = static_cast<double>(end.instructions - from.instructions) / static_cast<double>(end.now - from.now);
  if (middle.now > from.now && end.now > middle.now) {
    const double before = (dram_bytes(middle) - dram_bytes(from)) / static_cast<double>(middle.now - from.now);
    const double after = (dram_bytes(end) - dram_bytes(middle)) / static_cast<double>(end.now - middle.now);
    pace.memory_drift = (after - before) / dram_bytes_;
  }
  return pace;
}

}  // namespace foretrace::engine
