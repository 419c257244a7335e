#include "sim/host/rates.h"

#include <algorithm>

namespace foretrace::host {

namespace {

constexpr double kNone = 1e-6;  // of the chip: no room

/// How fast each goes on at `now`, 1: as alone.
std::vector<double> speeds(const std::vector<Rates>& kernels, const std::vector<double>& left, double now) {
  std::vector<double> speed(kernels.size(), 0);
  double room = 1, issue = 1, l2 = 0, dram = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Rates& kernel = kernels[i];
    if (left[i] <= 0 || kernel.launched > now) continue;
    const double own = std::min(kernel.share, room);
    if (own < kNone) continue;
    room -= own;
    speed[i] = own / kernel.share;
    if (kernel.issue * speed[i] > issue) speed[i] = std::max(issue / kernel.issue, 1e-3);
    issue = std::max(0.0, issue - kernel.issue * speed[i]);
    l2 += kernel.l2 * speed[i];
    dram += kernel.dram * speed[i];
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    double slower = 1;
    if (kernels[i].l2 > 0) slower = std::max(slower, l2);
    if (kernels[i].dram > 0) slower = std::max(slower, dram);
    // What hardly asks for memory is hardly held up by others that do.
    const double asks = std::min(1.0, kernels[i].l2 + kernels[i].dram);
    speed[i] /= 1 + asks * (slower - 1);
  }
  return speed;
}

}  // namespace

std::vector<Sharing::Times> run_by_rates(const std::vector<Rates>& kernels) {
  std::vector<Sharing::Times> times(kernels.size(), {-1, 0});
  std::vector<double> left;
  for (const Rates& kernel : kernels) left.push_back(std::max(kernel.ns, 1e-3));
  double now = kernels.front().launched;
  while (true) {
    const std::vector<double> speed = speeds(kernels, left, now);
    double next = kNever;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (left[i] <= 0) continue;
      if (kernels[i].launched > now) next = std::min(next, kernels[i].launched);
      if (speed[i] <= 0) continue;
      if (times[i].begin < 0) times[i].begin = now;
      next = std::min(next, now + left[i] / speed[i]);
    }
    if (next == kNever) return times;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (left[i] <= 0 || speed[i] <= 0) continue;
      const double ends = now + left[i] / speed[i];
      left[i] = ends <= next ? 0 : left[i] - (next - now) * speed[i];
      if (left[i] <= 0) times[i].end = next;
    }
    now = next;
  }
}

}  // namespace foretrace::host
