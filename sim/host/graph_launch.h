// One launch of a graph on a program's time line.
//
// Models:  one call, by nodes and paths; the GPU gets the paths one after another, `call.graph_path` apart; begin and end of the graph are
//          work of its stream, its nodes come after what their edges say.
// Ignores: commands of a path that the GPU begins with before the path is handed over in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/host/time_line.h"

namespace foretrace::host {

class GraphLaunch {
 public:
  using Ids = std::vector<WorkId>;

  /// `paths`: nodes that do not continue exactly one other. The nodes follow in an order that the edges allow, then end().
  GraphLaunch(TimeLine& line, const Place& place, std::size_t nodes, std::size_t paths);
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;

  /// A node; `after`: what its edges come from, none: the graph's begin. `first_of_path` as above.
  WorkId kernel(const Ids& after, bool first_of_path, const KernelWork& kernel);
  WorkId copy(const Ids& after, bool first_of_path, const CopyWork& copy);
  WorkId fill(const Ids& after, bool first_of_path, std::uint64_t bytes);
  WorkId marker(const Ids& after, bool first_of_path);
  /// The graph ends after these.
  void end(Ids last);

 private:
  WorkId give(const Ids& after, bool first_of_path, Work work);

  TimeLine& line_;
  const Place place_;
  const std::uint64_t number_;
  double arrival_ = 0;  // of its first path
  double paths_ = 0;    // that have begun
  WorkId root_ = kNoWork;
};

}  // namespace foretrace::host
