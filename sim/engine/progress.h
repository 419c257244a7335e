// Whether a simulation has settled: how fast the launch went on over stretches of it, and how much those rates differ.
//
// Models:  a launch as ramp, steady state and tail. Progress is counted in blocks where several chip-fulls of them have ended, and else
//          in warp instructions. What followed the ramp is cut into stretches of equal progress; their rates give mean, standard error
//          and drift. Stretches of blocks are whole chip-fulls, so that blocks which run in step do not look like change.
// Ignores: why rates change.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu/gpu.h"

namespace foretrace::engine {

struct Pace {
  bool known = false;      ///< enough was seen to speak of a rate
  bool by_blocks = false;  ///< progress is ended blocks, else warp instructions
  double rate = 0;         ///< of progress in the steady state, a cycle
  double instructions = 0; ///< warp instructions a cycle over the same stretches
  double error = 0;        ///< standard error of the rate, as a share of it
  double drift = 0;        ///< difference between the later and the earlier half of the stretches, as a share of the rate
  double memory_drift = 0; ///< the same of the bytes that DRAM moves for an instruction, as a share of the channels' time
  gpu::Moment from, to;    ///< what the rate was measured between
};

class Progress {
 public:
  /// `chip_full`: blocks that the chip holds at a time. `dram_bytes`: that DRAM can move in an SM cycle.
  Progress(std::uint64_t chip_full, double dram_bytes) : chip_full_(chip_full), dram_bytes_(dram_bytes) {}
  /// Moments in order of time, from the launch's start.
  void note(const gpu::Moment& moment);
  Pace pace() const;
  const gpu::Moment& last() const { return moments_.back(); }

 private:
  double at(double progress, bool by_blocks) const;
  const std::uint64_t chip_full_;
  const double dram_bytes_;
  std::vector<gpu::Moment> moments_;  // a moment is kept when it is far enough from the one before
  Cycle interval_ = 0;
};

}  // namespace foretrace::engine
