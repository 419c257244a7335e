// The whole machine: SMs, the memory system behind them, and the dispatcher that feeds them.
//
// Time:  SMs run alone within a window no longer than the shortest way from one to another through the memory system or the dispatcher;
//        between windows what couples them is served in (time, SM) order. Any window up to that length and any number of threads give
//        the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/memory/gpc_cache.h"
#include "model/memory/memory_system.h"
#include "model/sm/static_program.h"
#include "model/sm/timeline.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/work/block_source.h"

namespace foretrace::gpu {

/// How far a simulation has come.
struct Snapshot {
  Cycle now = 0;                   ///< everything before this cycle has been simulated
  std::uint64_t placed = 0;        ///< blocks handed to SMs
  std::uint64_t ended = 0;         ///< blocks whose last warp has ended
  std::uint64_t instructions = 0;  ///< warp instructions issued
  std::uint64_t shared_contention_ld = 0, shared_contention_st = 0;  ///< as in stats::LaunchCounters
  stats::MemoryCounters memory;
};

/// What becomes of a simulation that was looked at.
struct Verdict {
  bool stop = false;       ///< it ends here, and its counters are those of what was simulated
  std::uint64_t skip = 0;  ///< so many blocks fewer are placed from now on; the source leaves them out
};

/// What a block takes of an SM beside its warps.
struct BlockNeeds {
  std::uint32_t registers = 0;  ///< as allocated
  std::uint64_t shared = 0;     ///< bytes, the reserve included
  std::uint32_t barriers = 0;
  std::uint64_t carve_out =
      0;  ///< shared memory of an SM that its grid finds empty, bytes; 0: LaunchSetup::shared_bytes
};

/// Another grid on the same chip. Its blocks come after those of the grids before it, where these leave room (the leftover rule).
struct GridBeside {
  std::uint64_t blocks = 0;
  std::uint32_t blocks_per_sm = 0;  ///< where it has an SM for itself
  std::uint32_t warps = 0;          ///< of a block
  BlockNeeds needs;
  Cycle begin = 0;                      ///< it is launched so long after the first
  work::BlockSource* source = nullptr;  ///< its records, of instructions of the program that all grids share
};

/// When a grid that shared the chip was on it.
struct GridTime {
  Cycle begin = 0;  ///< as it was launched
  Cycle first = 0;  ///< start of its first block
  Cycle end = 0;    ///< as of a launch of its own: its last block has ended and drained
  std::uint64_t blocks = 0;
};

/// How a launch is simulated.
struct RunOptions {
  bool warm = false;  ///< L2 as the launch before left it
  int threads = 1;    ///< host threads for the SMs; any number gives the same bits
  Cycle window = 0;   ///< cycles SMs run alone; 0: as long as possible
  std::function<void(std::uint64_t blocks_done, Cycle now)> progress;  ///< called now and then; may be empty
  /// Called after the first window that ends `watch_interval` or more after the call before. May be empty. When it is called depends on
  /// `window`.
  std::function<Verdict(const Snapshot&)> watch;
  Cycle watch_interval = 1000;
  sm::Timeline* timeline = nullptr;  ///< records what becomes of instructions; may be null
};

/// One launch as the machine sees it.
struct LaunchSetup : RunOptions {
  std::uint64_t blocks = 0;
  std::uint32_t blocks_per_sm = 0;  ///< resident at most: the occupancy rule's result, at least 1
  std::uint32_t warps = 0;          ///< of a block
  std::uint32_t most_warps = 0;  ///< that an SM has slots and registers for; 0: those of blocks_per_sm blocks
  std::uint32_t most_blocks = 0;   ///< that an SM holds while warps of some have ended; 0: blocks_per_sm
  std::uint64_t l1_bytes = 0;      ///< unified memory less the shared carve-out
  std::uint64_t block_shared = 0;  ///< bytes of the carve-out that a block takes
  std::array<std::uint32_t, 3> grid{1, 1, 1};      ///< with clusters: blocks of the grid, x fastest
  std::array<std::uint32_t, 3> cluster{1, 1, 1};   ///< blocks of a cluster
  std::shared_ptr<const memory::L2Contents> l2;    ///< L2 holds this, whatever `warm` says; may be null
  std::shared_ptr<const memory::PeerMemory> peer;  ///< what lies in other devices' memory; may be null
  // Where others share the chip with it; without clusters, `watch` and `timeline`.
  BlockNeeds needs;                             ///< of this launch
  std::uint64_t shared_bytes = 0;               ///< that an SM's carve-out has at most
  std::vector<GridBeside> beside;               ///< in order of `begin`
  std::vector<GridTime>* grid_times = nullptr;  ///< is told when each ran, this launch first; may be null

  bool clusters() const { return cluster[0] * cluster[1] * cluster[2] > 1; }
};

class Grid;
class SmArray;

class Gpu {
 public:
  explicit Gpu(const spec::GpuSpec& spec);
  ~Gpu();
  /// Simulates a launch to its end. Caches beyond L1 carry over to the next launch of this object (`warm`).
  stats::LaunchCounters run(const sm::StaticProgram& program, const LaunchSetup& setup,
                            work::BlockSource& source);
  /// What L2 holds after the launches so far, for LaunchSetup::l2 of a machine of the same chip.
  std::shared_ptr<const memory::L2Contents> l2_contents() { return memory_.l2_contents(); }
  /// Between launches: as much as L2 holds has passed through it.
  void empty_l2() { memory_.empty_l2(); }
  /// The longest window that keeps SMs independent.
  Cycle lookahead() const;

 private:
  Cycle window_of(const LaunchSetup& setup, bool beside) const;
  Snapshot look(Cycle now, const Grid& grid, const SmArray& sms) const;
  stats::Instant instant(Cycle now, const Grid& grid, const SmArray& sms) const;
  stats::LaunchCounters counters_of(SmArray& sms, const sm::StaticProgram& program, Cycle now,
                                    bool stopped) const;

  spec::GpuSpec spec_;
  memory::MemorySystem memory_;
  memory::GpcCaches code_caches_;
};

}  // namespace foretrace::gpu
