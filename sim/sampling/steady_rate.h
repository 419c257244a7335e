// Whether a simulation has settled: how fast the launch went on over stretches of it, and how much those rates differ.
//
// Models:  a launch as ramp, steady state and tail. RateHistory is counted in blocks where several waves of them have ended, and else
//          in warp instructions. What followed the ramp is cut into stretches of equal progress; their rates give mean, standard error
//          and drift. Stretches of blocks are whole waves, so that blocks which run in step do not look like change; their rate is
//          that of their warp instructions, which count the work of blocks that have not ended. Stretches
//          that follow each other are alike where the rate changes slowly: the standard error is widened by what neighbours have in
//          common, and its quantile is Student's, since the stretches are few.
// Ignores: why rates change.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu/gpu.h"

namespace foretrace::sampling {

struct SteadyRate {
  bool known = false;       ///< enough was seen to speak of a rate
  bool by_blocks = false;   ///< over whole waves of blocks, else over warp instructions
  double rate = 0;          ///< blocks per cycle in the steady state
  double instructions = 0;  ///< warp instructions per cycle
  double error = 0;         ///< standard error of the rate, as a share of it
  double drift =
      0;  ///< difference between the later and the earlier half of the stretches, as a share of the rate
  double memory_drift =
      0;  ///< the same of the bytes that DRAM moves for an instruction, as a share of the channels' time
  double doubt = 0;  ///< the rate is known to this share of it, in 9 cases of 10: error and drift together
  gpu::Snapshot from, to;  ///< what the rate was measured between
};

class RateHistory {
 public:
  /// `wave`: blocks that the chip holds at a time. `block_work`: warp instructions of a block. `dram_bytes`: that DRAM can move in an
  /// SM cycle.
  RateHistory(std::uint64_t wave, double block_work, double dram_bytes)
      : wave_(wave), block_work_(block_work), dram_bytes_(dram_bytes) {}
  /// Snapshots in order of time, from the launch's start.
  void note(const gpu::Snapshot& snapshot);
  /// `from`: what was before that cycle is ramp in any case.
  SteadyRate rate(Cycle from = 0) const;
  /// The first noted cycle at which L2 held nearly as much that DRAM does not have as it does now.
  Cycle dirty_since() const;
  const gpu::Snapshot& last() const { return snapshots_.back(); }

 private:
  enum class Count { ended, instructions };
  static double progress_of(const gpu::Snapshot& snapshot, Count count);
  double at(double progress, Count count) const;
  double instructions_at(double time) const;
  const std::uint64_t wave_;
  const double block_work_, dram_bytes_;
  std::vector<gpu::Snapshot> snapshots_;  // a snapshot is kept when it is far enough from the one before
  Cycle interval_ = 0;
};

/// Student's t with so many degrees of freedom: nine tenths of the distribution lie between minus it and it.
double student(std::size_t freedom);

}  // namespace foretrace::sampling
