// Kernels that overlap, by their rates: what becomes of each when what they ask of the chip is more than it has.
//
// Models:  a kernel has room as long as its blocks have, those of an earlier one first (the leftover rule, in shares of the chip), and goes on
//          in proportion. Issue slots go to the earlier kernel first; L2 and DRAM are shared in proportion to what is asked of them.
// Ignores: SMs: room and issue slots are those of the whole chip; waves; latency.
// Units:   nanoseconds; shares and demands from 0 to 1.
#pragma once

#include <vector>

#include "sim/host/sharing.h"

namespace foretrace::host {

/// A kernel as it was alone.
struct Rates {
  double launched = 0;  ///< ns
  double ns = 0;
  double share = 1;                    ///< of the chip's room for blocks
  double issue = 0, l2 = 0, dram = 0;  ///< of what the chip can do, on average over `ns`
};

/// When each ran, in the order in which they were launched.
std::vector<Sharing::Times> run_by_rates(const std::vector<Rates>& kernels);

}  // namespace foretrace::host
