#include "sim/sampling/block_queue.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "sim/sampling/constants.h"

namespace foretrace::sampling {

namespace {

/// A number in [-1, 1] with variance 1/3 that the block's number alone decides.
double noise(std::uint64_t block) {
  std::uint64_t x = block + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1.0p-52 - 1;
}

struct Sm {
  std::vector<double> left;  // work of the blocks it holds
  double since = 0;
  std::uint64_t version = 0;
};

struct Due {
  double time;
  std::uint32_t sm;
  std::uint64_t version;
  bool operator>(const Due& other) const { return time != other.time ? time > other.time : sm > other.sm; }
};

/// Work a block does in a unit of time when its SM holds this share of the blocks that it can hold.
double speed(const BlockQueue& setup, double share) { return std::pow(1 / share, setup.shared); }

}  // namespace

double beyond_work(const BlockQueue& setup) {
  const std::uint64_t full = setup.sms * setup.per_sm;
  std::uint64_t first = 0;
  if (setup.blocks > kWavesPlayed.whole() * full) first = (setup.blocks / full - kWavesPlayed.whole()) * full;
  const auto work_of = [&](std::uint64_t block) {
    double work = 1 + setup.spread * std::sqrt(3.0) * noise(block);
    if (!setup.work.empty()) {
      const double place = static_cast<double>(block) / static_cast<double>(setup.blocks) *
                           static_cast<double>(setup.work.size());
      work *= setup.work[std::min(setup.work.size() - 1, static_cast<std::size_t>(place))];
    }
    return std::max(work, 1e-3);
  };
  std::vector<Sm> sms(setup.sms);
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  // A launch of fewer blocks than the chip holds never has more on an SM than these.
  const auto most =
      static_cast<double>(std::min<std::uint64_t>(setup.per_sm, (setup.blocks + setup.sms - 1) / setup.sms));
  const auto speed_of = [&](std::size_t n) {
    return speed(setup, std::min(1.0, static_cast<double>(n) / most));
  };
  double total = 0, now = 0;
  std::uint64_t next = first;
  const auto plan = [&](std::uint32_t index) {
    Sm& sm = sms[index];
    ++sm.version;
    if (sm.left.empty()) return;
    due.push({now + *std::min_element(sm.left.begin(), sm.left.end()) / speed_of(sm.left.size()), index,
              sm.version});
  };
  const auto add = [&](Sm& sm) {
    const double work = work_of(next++);
    total += work;
    sm.left.push_back(work);
  };
  for (std::uint32_t round = 0; round < setup.per_sm && next < setup.blocks; ++round) {
    for (std::uint64_t i = 0; i < setup.sms && next < setup.blocks; ++i) add(sms[i]);
  }
  for (std::uint32_t i = 0; i < setup.sms; ++i) plan(i);
  while (!due.empty()) {
    const Due event = due.top();
    due.pop();
    Sm& sm = sms[event.sm];
    if (event.version != sm.version) continue;
    now = event.time;
    const double done = (now - sm.since) * speed_of(sm.left.size());
    sm.since = now;
    for (double& left : sm.left) left -= done;
    std::erase_if(sm.left, [](double left) { return left < 1e-9; });
    while (sm.left.size() < setup.per_sm && next < setup.blocks) add(sm);
    plan(event.sm);
  }
  return now - total / static_cast<double>(std::min(full, setup.blocks));
}

}  // namespace foretrace::sampling
