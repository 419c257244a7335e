// What a settled time line says: how long, what the GPU waited for, what the longest chain of causes is made of.
//
// Models:  the time in which no kernel (nor fill, nor copy on the device) runs is given to copies while one goes on; else to what the next
//          piece of work waited for: the host's calls and the way from them, the host's own work before them, or the gap after the work
//          before. The critical path goes back from the last thing that ends, over what each waited for last.
#pragma once

#include <cstdint>
#include <string>

#include "sim/host/time_line.h"

namespace foretrace::host {

/// Kernels that overlapped, by how their times were found.
struct BesideSum {
  std::uint64_t simulated = 0, by_rates = 0, groups = 0, by_shares = 0;
  double slowed_mean = 1, slowed_most = 1;  ///< of those in groups
};

/// Copies from one device to another.
struct PeerSum {
  std::uint64_t copies = 0, bytes = 0;
  double ns = 0;  ///< added up
};

struct TimeSummary {
  double ns = 0;  ///< from the first work's call to the end of all work and calls
  // The parts of ns.
  double kernels = 0, copies = 0, calls = 0, own = 0, gaps = 0;
  // The critical path: the same parts.
  struct {
    double kernels = 0, copies = 0, calls = 0, own = 0, gaps = 0;
  } critical;
  double copy_busy = 0;    ///< of all engines and the host's copies, added up
  double overlap_won = 0;  ///< time of work that ran beside other work
  double overlap_lost =
      0;  ///< what perfect overlap of kernels, the copies of each direction and what each device sends would still save
};

BesideSum sum_beside(const Schedule& schedule);
PeerSum sum_peer_copies(const Schedule& schedule);

/// Everything must be settled.
TimeSummary summarize(const TimeLine& line);

}  // namespace foretrace::host
