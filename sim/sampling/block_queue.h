// What the end of a launch costs beyond its share of the work: the chip empties while the last blocks run.
//
// Models:  blocks as amounts of work on SMs that hold so many at a time and take the next as one ends. Blocks of an SM go on equally
//          fast; with fewer blocks than it holds, an SM does less: its rate is (held / full)^(1 - shared), where shared = 1 means that
//          the blocks had shared something that one block can use up, 0 that each went at its own pace. Blocks whose work is equal do
//          not end together: the spread says by how much they differ, as a share of their time.
// Ignores: what blocks are waiting for; the launch's start.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::sampling {

struct BlockQueue {
  std::uint64_t blocks = 0;
  std::uint64_t sms = 0;
  std::uint32_t per_sm = 1;  ///< blocks an SM holds
  double shared = 1;         ///< see above, 0 to 1
  double spread = 0.03;
  std::vector<double>
      work;  ///< of blocks along the grid, relative to their mean, at equal distances; empty: all the same
};

/// Time of the launch beyond what its work takes at the full chip's rate, in units of the time a block takes on a full SM; of a launch that
/// does not fill the chip, on an SM that holds its share.
double beyond_work(const BlockQueue& setup);

}  // namespace foretrace::sampling
