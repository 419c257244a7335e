// Which SM gets which block when.
//
// Models:  blocks in index order, one an interval chip-wide; each goes to the SM with the fewest blocks among those with room, the
//          lowest-numbered of these (sm.gpc_run says how numbers go round the GPCs); an SM has room again some cycles
//          after a block's last exit.
// Ignores: clusters (blocks of one are placed singly), other kernels on the GPU.
// Source:  facts E (QRC, ASIM PR #87): first wave one block an SM, refill at block granularity, dispatch rate, block turnaround.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::gpu {

class Dispatcher {
 public:
  struct Placement { std::uint32_t sm; Cycle start; };

  /// `warps`: of a block.
  Dispatcher(const spec::GpuSpec& spec, std::uint64_t blocks, std::uint32_t blocks_per_sm, std::uint32_t warps);

  /// A block's last warp ended on `sm` at `time`. In order of (time, sm).
  void ended(std::uint32_t sm, Cycle time);
  /// Next placement whose dispatch happens before `until`, given every end before `until - launch.block_end`; false: none.
  bool next(Cycle until, Placement& placement);
  std::uint64_t left() const { return blocks_; }
  /// Earliest time at which next() may have something, kNever when it waits for an end.
  Cycle next_event() const;

 private:
  struct Room { Cycle time; std::uint32_t sm; };
  struct State { std::uint32_t resident = 0; Cycle ready = 0; };
  const spec::GpuSpec& spec_;
  std::uint64_t blocks_;
  std::uint32_t limit_;
  Cycle sm_interval_;  // an SM takes the next block when the warps of the one before have started
  std::vector<State> sms_;
  std::deque<Room> rooms_;
  Cycle next_dispatch_;
  double pace_ = 0;  // fraction of a cycle that the interval has left over
};

}  // namespace foretrace::gpu
