// What an instruction sees of the block that executes it: the warp that runs, and the units that move lanes, memory and barriers.
//
// Ignores: whose turn it is and what is recorded: schedule/block.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/emulate/execute/block_memory.h"
#include "sim/emulate/execute/divergence.h"
#include "sim/emulate/execute/running_warp.h"
#include "sim/emulate/schedule/block_barriers.h"

namespace foretrace::emulate {

class Execution : public RunningWarp {
 public:
  /// `warps`: of the block; they must outlive it.
  Execution(const Emulator::Launch& launch, std::uint64_t block, std::vector<Warp>& warps)
      : RunningWarp(launch, block), barriers(*this, divergence, warps, memory.shared_checks()),
        warps_(warps) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Whether all warps of the running one's warpgroup have come to its products, but for the last `but` groups of them.
  bool group_has_multiplied(std::uint64_t but) const {
    const std::size_t first = warp->index / 4 * 4;
    return std::all_of(
        warps_.begin() + static_cast<std::ptrdiff_t>(first),
        warps_.begin() + static_cast<std::ptrdiff_t>(std::min(first + 4, warps_.size())),
        [&](const Warp& w) { return w.state == WarpState::done || w.products + but >= warp->products; });
  }

  Divergence divergence{*this};
  BlockMemory memory{*this};
  BlockBarriers barriers;

 private:
  const std::vector<Warp>& warps_;
};

}  // namespace foretrace::emulate
