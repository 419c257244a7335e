// Which SM gets which block when.
//
// Models:  blocks in index order; a full chip is filled quickly, after that the ends of blocks are taken in one per interval
//          chip-wide, also when nothing is left to place; a block goes to the SM with the fewest blocks among those with room, the
//          first of these in the order of first blocks. While the chip fills they go to the GPCs in runs (launch.by_gpc): whole
//          rounds of a block per SM first, in which some SMs of the first GPC have turns of their own, then what is left below
//          a round; or they follow the SMs' numbers. An SM has room again some cycles after a block's last exit. Then both SMs of its TPC also give away
//          what warps of blocks that go on have left: their slots and registers, but not the block's slot and shared memory.
//          The blocks of a cluster are placed at once, in one GPC (cluster.groups), two of them on a TPC before any other TPC gets
//          one; clusters go round the GPCs, to those first whose SMs have the fewest blocks.
//          Several grids: their blocks stand in one queue, those of a grid after all of the grids before it, and one goes where the SM
//          has its warps, registers, shared memory, barriers and a block's slot left (the leftover rule). The carve-out of shared memory is
//          that of the grid that finds the SM empty, until it is empty again.
// Ignores: priorities between grids; with several of them, what warps of blocks that go on have left.
// Source:  QRC, ASIM PR #87 (docs/sources.md): first wave one block per SM, refill at block granularity, block turnaround. [h100-sxm]
//          block_order: four blocks on every SM start within 128 ns, while profiled_empty takes 1.2 cycles per block however
//          few are resident: it is their ends that take turns. profiled_grid_merging: where grids of 2 to 132 blocks went.
//          [h200-sxm] block_places: where grids of 100 to 4096 did; which GPC is first changes there from launch to launch.
//          validate/beside: a grid that needs a larger carve-out begins when one that needs none has ended.
//          warp_release: nothing starts while warps end and blocks do not; when a block does, as many start on its SM and on the
//          other of the TPC as have room, while launch.spare_warps slots are free.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "model/gpu/gpu.h"
#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::gpu {

/// The SMs in the order in which `blocks` first blocks, one per SM at most, come to them; those without one follow.
std::vector<std::uint32_t> order_of_first_blocks(const spec::GpuSpec& spec, std::uint64_t blocks);

/// The SMs in the order in which a grid's blocks come to them while the chip fills: whole rounds of a block for each SM, in runs
/// by GPC, then what is left below a round, as a small grid's. Empty where blocks follow the SMs' numbers.
std::vector<std::uint32_t> order_of_filling(const spec::GpuSpec& spec, std::uint64_t blocks,
                                            std::uint32_t limit);

class Dispatcher {
 public:
  struct Placement {
    std::uint32_t sm;
    Cycle start;
    std::uint64_t block = 0;            ///< with clusters: its index in the grid
    std::uint64_t cluster = 0;          ///< number of its cluster
    std::uint32_t rank = 0;             ///< in it
    std::vector<std::uint32_t> places;  ///< SMs of its blocks, by rank; empty: blocks are placed singly
    std::uint32_t grid = 0;             ///< whose block it is
  };

  Dispatcher(const spec::GpuSpec& spec, const LaunchSetup& setup);

  /// A block came to PREEXIT at `time`, in order with the ends. Like an end it takes its turn before room is given away
  /// (grid_dependencies).
  void announced(Cycle time);
  /// A warp ended on `sm` at `time`; `block`: it was its block's last. In order of (time, sm).
  void ended(std::uint32_t sm, Cycle time, bool block, std::uint32_t grid = 0);
  /// Next placement whose dispatch happens before `until`, given every end before `until - launch.block_end`; false: none.
  bool next(Cycle until, Placement& placement);
  std::uint64_t left() const;
  /// So many blocks less are placed.
  void skip(std::uint64_t blocks) { queue_.front().left -= blocks; }
  /// When the last end so far was taken in.
  Cycle settled() const { return static_cast<Cycle>(settled_); }
  /// By grid; `end`: when its last end so far was taken in.
  std::vector<GridTime> times() const;
  /// Earliest time at which next() may have something, kNever when it waits for an end.
  Cycle next_event() const;

 private:
  struct Room {
    Cycle time;
    std::uint32_t sm, warps, beside;  // warps that have ended on it and on the TPC's other SM
    std::uint32_t grid;
  };
  struct State {
    std::uint32_t resident = 0;  // blocks
    std::uint32_t warps = 0;     // as far as their ends are known here
    std::uint32_t ended = 0;     // warps whose ends are not
    Cycle ready = 0;
    // Of several grids: what their blocks take, and blocks of each
    BlockNeeds taken;
    std::uint32_t taken_warps = 0;
    std::vector<std::uint32_t> of_grid;
    std::uint64_t carve_out = 0;  // since it was empty last
  };
  struct Queued {
    std::uint64_t left = 0;   // blocks to place
    std::uint32_t warps = 0;  // of a block
    std::uint32_t limit = 0;  // blocks on an SM whose warps all live
    Cycle sm_interval = 0;    // an SM takes the next block when the warps of the one before have started
    BlockNeeds needs;
    GridTime time;
  };
  bool has_room(const State& state) const;
  bool fits_beside(const State& state) const;
  std::uint64_t carve_out_of(const Queued& grid) const;
  void take_beside(State& state);
  void give_back(State& state, std::uint32_t grid);
  /// Whether a block is left to place; its grid is then head().
  bool any_left() const { return head_ < queue_.size() && queue_[head_].left > 0; }
  const Queued& head() const { return queue_[head_]; }
  void enqueue(std::uint64_t blocks, std::uint32_t warps, std::uint32_t limit, const BlockNeeds& needs,
               Cycle begin);
  void take_room();
  bool next_of_cluster(Cycle until, Placement& placement);
  std::optional<std::uint32_t> cluster_room(const std::vector<std::uint32_t>& group, Cycle& when,
                                            std::vector<std::uint32_t>& sms) const;
  bool find_cluster_room(Cycle& when, std::vector<std::uint32_t>& sms) const;
  Cycle place(std::uint32_t sm, Cycle when);
  /// The other SM of its TPC; itself, if there is none.
  std::uint32_t beside(std::uint32_t sm) const;

  const spec::GpuSpec& spec_;
  std::vector<Queued> queue_;  // by grid
  std::size_t head_ = 0;       // whose blocks are placed
  const std::uint32_t most_warps_, most_blocks_;
  const std::uint64_t shared_bytes_;
  std::vector<State> sms_;
  std::vector<std::uint32_t> first_,
      later_;  // by SM: its place in the order of first blocks, and of those that follow
  std::array<std::uint32_t, 3> grid_, cluster_;
  std::vector<std::uint32_t> filling_;  // where a grid's first blocks go
  std::size_t filled_ = 0;              // so many of them have gone
  std::uint32_t cluster_blocks_ = 1;
  std::uint64_t clusters_placed_ = 0;
  std::vector<std::vector<std::uint32_t>> groups_;  // SMs that a cluster can have, TPC by TPC
  std::size_t group_turn_ = 0;
  std::deque<Placement> placed_;  // the rest of a cluster
  std::deque<Room> rooms_;
  Cycle next_dispatch_;
  double pace_ = 0;     // fraction of a cycle that the interval has left over
  double settled_ = 0;  // when the last end was taken in
};

}  // namespace foretrace::gpu
