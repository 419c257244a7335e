// Whether a simulation has settled: how fast the launch went on over stretches of it, and how much those rates differ.
//
// Models:  a launch as ramp, steady state and tail. Progress is counted in blocks where several chip-fulls of them have ended, and else
//          in warp instructions. What followed the ramp is cut into stretches of equal progress; their rates give mean, standard error
//          and drift. Stretches of blocks are whole chip-fulls, so that blocks which run in step do not look like change; their rate is
//          that of their warp instructions, which count the work of blocks that have not ended. Stretches
//          that follow each other are alike where the rate changes slowly: the standard error is widened by what neighbours have in
//          common, and its quantile is Student's, since the stretches are few.
// Ignores: why rates change.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu/gpu.h"

namespace foretrace::engine {

struct Pace {
  bool known = false;       ///< enough was seen to speak of a rate
  bool by_blocks = false;   ///< over whole chip-fulls of blocks, else over warp instructions
  double rate = 0;          ///< blocks a cycle in the steady state
  double instructions = 0;  ///< warp instructions a cycle
  double error = 0;         ///< standard error of the rate, as a share of it
  double drift =
      0;  ///< difference between the later and the earlier half of the stretches, as a share of the rate
  double memory_drift =
      0;  ///< the same of the bytes that DRAM moves for an instruction, as a share of the channels' time
  double doubt = 0;  ///< the rate is known to this share of it, in 9 cases of 10: error and drift together
  gpu::Moment from, to;  ///< what the rate was measured between
};

/// What is to come, if the launch goes on as in its last chip-fulls.
struct Continuation {
  double placed = 0;   ///< cycle by which the last block has been placed
  double scatter = 0;  ///< standard deviation of that among the chip-fulls it was read from
  std::vector<double>
      ages;  ///< of the blocks on the chip at that time, equally spaced among them, oldest first, cycles
};

class Progress {
 public:
  /// `chip_full`: blocks that the chip holds at a time. `block_work`: warp instructions of a block. `dram_bytes`: that DRAM can move in an
  /// SM cycle.
  Progress(std::uint64_t chip_full, double block_work, double dram_bytes)
      : chip_full_(chip_full), block_work_(block_work), dram_bytes_(dram_bytes) {}
  /// Moments in order of time, from the launch's start.
  void note(const gpu::Moment& moment);
  /// `from`: what was before that cycle is ramp in any case.
  Pace pace(Cycle from = 0) const;
  /// The first noted cycle at which L2 held nearly as much that DRAM does not have as it does now.
  Cycle dirty_since() const;
  /// `pace`: by blocks. `blocks`: of the launch, at least as many as were placed.
  Continuation go_on(const Pace& pace, std::uint64_t blocks) const;
  const gpu::Moment& last() const { return moments_.back(); }

 private:
  enum class Count { ended, placed, instructions };
  static double progress_of(const gpu::Moment& moment, Count count);
  double at(double progress, Count count) const;
  double instructions_at(double time) const;
  const std::uint64_t chip_full_;
  const double block_work_, dram_bytes_;
  std::vector<gpu::Moment> moments_;  // a moment is kept when it is far enough from the one before
  Cycle interval_ = 0;
};

/// Student's t with so many degrees of freedom: nine tenths of the distribution lie between minus it and it.
double student(std::size_t freedom);

}  // namespace foretrace::engine
