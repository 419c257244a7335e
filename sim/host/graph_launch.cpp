#include "sim/host/graph_launch.h"

#include <algorithm>

namespace foretrace::host {

GraphLaunch::GraphLaunch(TimeLine& line, const Place& place, std::size_t nodes, std::size_t paths)
    : line_(line), place_(place), number_(++line.graphs_) {
  const HostSpec& spec = line.spec_;
  line.wait_for_queue(place);
  const double beside = paths > 1 ? static_cast<double>(paths - 1) * spec.call.graph_path : 0;
  const double call = spec.call.graph + static_cast<double>(nodes) * spec.call.graph_node;
  line.threads_.spend(place.thread, "graph launch", call + beside);
  // The paths are handed over one after another.
  arrival_ = line.threads_.calls().back().begin + call + spec.link.arrival;
  Work root;
  root.arrival = arrival_;
  root.ns = spec.gap.graph_begin;
  root.graph = number_;
  root_ = line.threads_.asked_for(line.give(place, std::move(root)));
  line.streams_.launched(place.stream, root_);
}

WorkId GraphLaunch::give(const Ids& after, bool first_of_path, Work work) {
  work.arrival = arrival_ + paths_ * line_.spec_.call.graph_path;
  if (first_of_path) paths_ += 1;
  work.graph = number_;
  work.after = after.empty() ? Ids{root_} : after;
  return line_.give(place_, std::move(work), false);
}

WorkId GraphLaunch::kernel(const Ids& after, bool first_of_path, const KernelWork& kernel) {
  Work work;
  work.kind = WorkKind::kernel;
  work.ns = kernel.ns;
  work.share = kernel.share;
  work.launch = kernel.launch;
  work.dependent = kernel.dependent;
  work.dependence = kernel.dependence;
  return give(after, first_of_path, std::move(work));
}

WorkId GraphLaunch::copy(const Ids& after, bool first_of_path, const CopyWork& copy) {
  return give(after, first_of_path, work_of(line_.spec_, copy));
}

WorkId GraphLaunch::fill(const Ids& after, bool first_of_path, std::uint64_t bytes) {
  return give(after, first_of_path, work_of_fill(line_.spec_, bytes));
}

WorkId GraphLaunch::marker(const Ids& after, bool first_of_path) {
  return give(after, first_of_path, Work{});
}

void GraphLaunch::end(Ids last) {
  if (last.empty()) last = {root_};
  std::sort(last.begin(), last.end());
  last.erase(std::unique(last.begin(), last.end()), last.end());
  Work join;
  join.arrival = arrival_;
  join.after = std::move(last);
  join.graph = number_;
  line_.streams_.set_last(place_.stream, line_.give(place_, std::move(join), false));
}

}  // namespace foretrace::host
