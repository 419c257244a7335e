// The scoreboards of a warp: what its instructions still have to read or write.
//
// Models:  six counters per warp. An instruction adds one to the scoreboards that its control bits name and takes it back when its
//          sources are read or its result is written; another waits until those of its wait mask are zero, or DEPBAR until one has
//          come down to a count. A wait for one that an access to memory raised is a long_scoreboard stall, any other a short one.
// Source:  our own decoding of nvcc's control bits; HUE (docs/sources.md).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "model/sm/static_program.h"

namespace foretrace::sm {

class Scoreboards {
 public:
  /// One more operation that `scoreboard` stands for; a number that names none does nothing.
  void raise(std::uint8_t scoreboard, bool is_long) {
    if (scoreboard >= kScoreboards) return;
    ++pending_[scoreboard];
    if (is_long) long_ = static_cast<std::uint8_t>(long_ | 1u << scoreboard);
  }
  /// One of its operations is done.
  void release(std::uint8_t scoreboard) {
    if (--pending_[scoreboard] == 0) long_ = static_cast<std::uint8_t>(long_ & ~(1u << scoreboard));
  }
  /// Whether nothing holds the instruction back.
  bool clear_for(const StaticInstruction& instruction) const {
    for (std::uint32_t m = instruction.wait_mask; m; m &= m - 1) {
      if (pending_[static_cast<std::size_t>(std::countr_zero(m))]) return false;
    }
    return instruction.action != Action::depbar ||
           pending_[instruction.depbar_scoreboard] <= instruction.depbar_count;
  }
  /// Whether what an instruction waits for is an access to memory.
  bool waits_long(const StaticInstruction& instruction) const {
    std::uint32_t blocking = instruction.wait_mask;
    if (instruction.action == Action::depbar) blocking |= 1u << instruction.depbar_scoreboard;
    return (blocking & long_) != 0;
  }

 private:
  std::array<std::uint8_t, kScoreboards> pending_{};
  std::uint8_t long_ = 0;  // bit by scoreboard
};

}  // namespace foretrace::sm
