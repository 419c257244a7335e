#include "sim/engine/progress.h"

#include <algorithm>
#include <cmath>

namespace foretrace::engine {

namespace {

constexpr std::size_t kMoments = 4096;  // kept at most; then every second is dropped
constexpr int kStretches = 8, kFewestStretches = 3;
constexpr double kRamp =
    0.25;  // share of what was simulated that is taken to be ramp, at least; of blocks a chip-full, at least
constexpr std::size_t kAges = 64;

double dram_bytes(const gpu::Moment& moment) {
  return static_cast<double>(moment.memory.dram_bytes_read + moment.memory.dram_bytes_write);
}

/// What a stretch tells of the next: correlation of neighbours about the line from the first half's mean to the second's.
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
  static constexpr double kNormal = 1.645;
  if (freedom == 0) return kTable[0];
  return freedom <= std::size(kTable) ? kTable[freedom - 1] : kNormal;
}

double Progress::progress_of(const gpu::Moment& moment, Count count) {
  switch (count) {
    case Count::ended: return static_cast<double>(moment.ended);
    case Count::placed: return static_cast<double>(moment.placed);
    case Count::instructions: break;
  }
  return static_cast<double>(moment.instructions);
}

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
double Progress::at(double progress, Count count) const {
  const auto after = std::lower_bound(
      moments_.begin(), moments_.end(), progress,
      [count](const gpu::Moment& m, double wanted) { return progress_of(m, count) < wanted; });
  if (after == moments_.begin()) return static_cast<double>(after->now);
  if (after == moments_.end()) return static_cast<double>(moments_.back().now);
  const gpu::Moment& before = *(after - 1);
  const double reached = progress_of(before, count), next = progress_of(*after, count);
  return static_cast<double>(before.now) +
         (progress - reached) / (next - reached) * static_cast<double>(after->now - before.now);
}

double Progress::instructions_at(double time) const {
  const auto after =
      std::lower_bound(moments_.begin(), moments_.end(), time,
                       [](const gpu::Moment& m, double t) { return static_cast<double>(m.now) < t; });
  if (after == moments_.end()) return progress_of(moments_.back(), Count::instructions);
  const double next = progress_of(*after, Count::instructions);
  if (after == moments_.begin()) return next;
  const gpu::Moment& before = *(after - 1);
  const double reached = progress_of(before, Count::instructions);
  return reached + (next - reached) * (time - static_cast<double>(before.now)) /
                       static_cast<double>(after->now - before.now);
}

Pace Progress::pace(Cycle from_cycle) const {
  Pace pace;
  if (moments_.size() < 2 * kStretches) return pace;
  const gpu::Moment& end = moments_.back();
  const auto full = static_cast<double>(chip_full_);
  const auto first = std::find_if(moments_.begin(), moments_.end() - 1,
                                  [&](const gpu::Moment& m) { return m.now >= from_cycle; });
  const auto ramp = [&](Count count, double least) {
    return std::max({least, kRamp * progress_of(end, count), from_cycle ? progress_of(*first, count) : 0});
  };
  const double fulls = (static_cast<double>(end.ended) - ramp(Count::ended, full)) / full;
  pace.by_blocks = fulls >= kFewestStretches;
  double step = (static_cast<double>(end.instructions) - ramp(Count::instructions, 0)) / kStretches;
  int stretches = kStretches;
  if (pace.by_blocks) {
    stretches = std::min(kStretches, static_cast<int>(fulls));
    step = std::floor(fulls / stretches) * full;
  }
  if (step <= 0) return pace;
  const Count count = pace.by_blocks ? Count::ended : Count::instructions;
  const double last = progress_of(end, count);
  std::vector<double> rates, times{at(last - stretches * step, count)};
  for (int i = stretches - 1; i >= 0; --i) {
    times.push_back(at(last - i * step, count));
    const double from = times[times.size() - 2], took = times.back() - from;
    if (took <= 0) return pace;
    rates.push_back((instructions_at(times.back()) - instructions_at(from)) / took);
  }
  const auto mean = [&](double from) {
    return (instructions_at(times.back()) - instructions_at(from)) / (times.back() - from);
  };
  pace.known = true;
  const double rate = mean(times.front());
  double squares = 0, early = 0, late = 0;
  const std::size_t half = rates.size() / 2;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    squares += (rates[i] - rate) * (rates[i] - rate);
    if (i < half) early += rates[i];
    if (i >= rates.size() - half) late += rates[i];
  }
  const double n = static_cast<double>(rates.size());
  const double alike = std::clamp(correlation(rates, rate), 0.0, 0.8);
  pace.error = std::sqrt(squares / (n - 1) / n * (1 + alike) / (1 - alike)) / rate;
  pace.drift = (late - early) / static_cast<double>(half) / rate;
  // Halves of a steady rate differ by chance, with twice the mean's standard error; what is beyond that may go on.
  const double by_chance = 2 * pace.error;
  const double goes_on = std::sqrt(std::max(0.0, pace.drift * pace.drift - by_chance * by_chance));
  pace.doubt = std::hypot(student(rates.size() - 1) * pace.error, goes_on);
  // A rate that still moves: the later half speaks for what comes.
  const bool moves = goes_on > 0;
  const double from_time = moves ? times[rates.size() - half] : times.front();
  pace.instructions = mean(from_time);
  pace.rate = pace.instructions / block_work_;

  const auto moment_at = [&](double time) -> const gpu::Moment& {
    const auto found =
        std::lower_bound(moments_.begin(), moments_.end(), time,
                         [](const gpu::Moment& m, double t) { return static_cast<double>(m.now) < t; });
    return found == moments_.end() ? moments_.back() : *found;
  };
  const gpu::Moment& from = moment_at(from_time);
  const gpu::Moment& middle = moment_at((from_time + times.back()) / 2);
  pace.from = from;
  pace.to = end;
  if (middle.now > from.now && end.now > middle.now) {
    const double before =
        (dram_bytes(middle) - dram_bytes(from)) / static_cast<double>(middle.now - from.now);
    const double after = (dram_bytes(end) - dram_bytes(middle)) / static_cast<double>(end.now - middle.now);
    pace.memory_drift = (after - before) / dram_bytes_;
  }
  return pace;
}

Cycle Progress::dirty_since() const {
  constexpr double kNearly = 0.95;
  const double now = kNearly * static_cast<double>(moments_.back().memory.dirty_sectors_left);
  return std::find_if(
             moments_.begin(), moments_.end(),
             [now](const gpu::Moment& m) { return static_cast<double>(m.memory.dirty_sectors_left) >= now; })
      ->now;
}

Continuation Progress::go_on(const Pace& pace, std::uint64_t blocks) const {
  Continuation result;
  const auto full = static_cast<double>(chip_full_);
  const double period = full / pace.rate;  // a chip-full's time
  const double wanted = static_cast<double>(blocks);
  const double placed = progress_of(moments_.back(), Count::placed),
               first = progress_of(pace.from, Count::placed);
  // The same place in chip-fulls that have been seen, so many periods earlier.
  double sum = 0, squares = 0;
  int seen = 0;
  const double periods = std::max(0.0, std::ceil((wanted - placed) / full));
  for (double back = periods; wanted - back * full >= std::min(first, wanted - periods * full); ++back) {
    const double time = at(wanted - back * full, Count::placed) + back * period;
    sum += time;
    squares += time * time;
    ++seen;
  }
  result.placed = sum / seen;
  result.scatter = seen > 1 ? std::sqrt(std::max(0.0, squares - sum * sum / seen) / (seen - 1)) : 0;
  const double until = wanted - periods * full, then = at(until, Count::placed);
  for (std::size_t i = 0; i < kAges; ++i) {
    const double before =
        full * (1 - (static_cast<double>(i) + 0.5) / kAges);  // blocks placed after this one
    result.ages.push_back(then - at(std::max(until - before, 0.0), Count::placed));
  }
  return result;
}

}  // namespace foretrace::engine
