// The tables that metrics.cpp joins, and the few quotients that their formulas share. For sim/report alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/report/metrics.h"

namespace foretrace::report {

std::vector<Metric> launch_metrics();
std::vector<Metric> compute_metrics();
std::vector<Metric> memory_metrics();

inline double number(std::uint64_t count) { return static_cast<double>(count); }

/// a / b; no value for b = 0: n/a, never NaN and never 0.
inline Value ratio(double a, double b) { return b > 0 ? Value(a / b) : Value(); }
inline Value percent(double a, double b) { return b > 0 ? Value(100.0 * a / b) : Value(); }
/// The larger of two values that may be missing.
inline Value larger(Value a, Value b) {
  if (!a) return b;
  if (!b) return a;
  return std::max(*a, *b);
}

/// SM cycles of all SMs from the launch to its end.
inline double sm_cycles(const Prediction& p) { return number(p.counters.elapsed) * p.counters.sms; }
/// Cycles of the launch in another clock domain.
inline double cycles_at(const Prediction& p, std::uint64_t hertz) {
  return p.gpu->clock.sm > 0 ? number(p.counters.elapsed) * number(hertz) / number(p.gpu->clock.sm) : 0;
}
inline double seconds(const Prediction& p) {
  return p.gpu->clock.sm > 0 ? number(p.counters.elapsed) / number(p.gpu->clock.sm) : 0;
}
inline double pipe_inst(const Prediction& p, spec::Pipe pipe) {
  return number(p.counters.pipe_inst[static_cast<std::size_t>(pipe)]);
}
inline double pipe_busy(const Prediction& p, spec::Pipe pipe) {
  return number(p.counters.pipe_busy[static_cast<std::size_t>(pipe)]);
}
inline bool has_pipe(const Prediction& p, spec::Pipe pipe) {
  return p.gpu->pipe[static_cast<std::size_t>(pipe)].interval > 0;
}

}  // namespace foretrace::report
