#include "sim/host/ranges.h"

#include <algorithm>
#include <set>

namespace foretrace::host {

std::size_t Ranges::begin(unsigned thread, std::string name, bool process) {
  Range range;
  range.name = std::move(name);
  range.thread = thread;
  range.process = process;
  range.begin = line_.now(thread);
  range.first_call = line_.calls().size();
  ranges_.push_back(std::move(range));
  return ranges_.size() - 1;
}

void Ranges::finish(Range& range, double now) {
  range.open = false;
  range.end = std::max(range.begin, now);
  range.last_call = line_.calls().size();
}

int Ranges::push(unsigned thread, const void* domain, std::string name) {
  std::vector<std::size_t>& open = open_[{thread, domain}];
  open.push_back(begin(thread, std::move(name), false));
  return static_cast<int>(open.size()) - 1;
}

int Ranges::pop(unsigned thread, const void* domain) {
  std::vector<std::size_t>& open = open_[{thread, domain}];
  if (open.empty()) return -1;
  finish(ranges_[open.back()], line_.now(thread));
  open.pop_back();
  return static_cast<int>(open.size());
}

std::uint64_t Ranges::start(unsigned thread, std::string name) {
  return begin(thread, std::move(name), true) + 1;
}

void Ranges::end(std::uint64_t range, unsigned thread) {
  if (range == 0 || range > ranges_.size()) return;
  Range& it = ranges_[range - 1];
  if (it.process && it.open) finish(it, line_.now(thread));
}

void Ranges::close() {
  for (Range& range : ranges_) {
    if (range.open) finish(range, end_of(line_));
  }
  open_.clear();
}

namespace {

struct Amount {
  std::uint64_t kernels = 0;
  double ns = 0;
  void add(const Work& work) {
    if (!on_chip(work.kind)) return;
    if (work.kind == WorkKind::kernel) ++kernels;
    ns += work.end - work.begin;
  }
};

}  // namespace

std::vector<RangeSum> sum_ranges(const std::vector<Range>& ranges, const TimeLine& line) {
  const Schedule& schedule = line.schedule();
  std::map<std::uint64_t, Amount> graphs;  // launches of graphs, whose call asked for their first node
  for (WorkId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].graph != 0) graphs[schedule[id].graph].add(schedule[id]);
  }
  const auto asked = [&](const HostCall& call) {
    Amount amount;
    if (call.work == kNoWork) return amount;
    const Work& work = schedule[call.work];
    if (work.graph != 0) return graphs[work.graph];
    amount.add(work);
    return amount;
  };
  std::map<std::string, RangeSum> sums;
  std::map<std::string, std::set<std::size_t>> counted;
  for (const Range& range : ranges) {
    RangeSum& sum = sums[range.name];
    sum.name = range.name;
    ++sum.count;
    sum.host_ns += range.end - range.begin;
    std::set<std::size_t>& calls = counted[range.name];
    for (std::size_t i = range.first_call; i < range.last_call; ++i) {
      const HostCall& call = line.calls()[i];
      if ((!range.process && call.thread != range.thread) || !calls.insert(i).second) continue;
      const Amount amount = asked(call);
      sum.kernels += amount.kernels;
      sum.kernels_ns += amount.ns;
    }
  }
  std::vector<RangeSum> all;
  for (auto& [name, sum] : sums) all.push_back(std::move(sum));
  std::stable_sort(all.begin(), all.end(),
                   [](const RangeSum& a, const RangeSum& b) { return a.kernels_ns > b.kernels_ns; });
  return all;
}

}  // namespace foretrace::host
