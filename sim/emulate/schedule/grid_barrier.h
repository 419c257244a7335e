// The barrier of all threads of a grid that is a function of the driver: cudaCGSynchronize of a cooperative launch.
//
// Models:  a phase ends when every thread of the grid has come. (grid.sync() of nvcc's own headers is code: atomics and a spin loop.)
// Ignores: threads that have ended, which CUDA does not allow here. The time that a block waits: to the cycle model it is a call.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::emulate {

/// For one thread of the host.
class GridBarrier {
 public:
  enum class Answer : std::uint8_t { came, waits, passes };
  /// `thread` of `threads` is at the barrier; it asks until it passes. Who comes last has the next turn to pass, as all others.
  Answer ask(std::uint64_t thread, std::uint64_t threads) {
    if (came_.empty()) came_.resize(threads);
    std::uint64_t& came = came_[thread];  // the phase that it waits for the end of, counted from 1; 0: none
    if (came == 0) {
      came = phase_ + 1;
      if (++arrived_ == threads) ++phase_, arrived_ = 0;
      return Answer::came;
    }
    if (came > phase_) return Answer::waits;
    came = 0;
    return Answer::passes;
  }

 private:
  std::uint64_t phase_ = 0, arrived_ = 0;
  std::vector<std::uint64_t> came_;
};

}  // namespace foretrace::emulate
