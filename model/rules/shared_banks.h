// Shared-memory banks: how many data-stage passes (wavefronts) an access takes. A pure function.
//
// Models:  32 banks of 4 bytes; 32-bit accesses in one group of 32 lanes, 64-bit in two of 16, 128-bit in four of 8; equal words merge;
//          loads whose lanes share words in a pattern that the crossbar can route go below the floor; LDSM tiles; copies; atomics.
// Source:  facts D1 (CIC, FOR, QRC).
#pragma once

#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::rules {

enum class SharedAccess : std::uint8_t { load, store, atomic, matrix, copy };

struct SharedCost {
  std::uint32_t wavefronts = 0;  ///< passes by the addresses
  std::uint32_t ideal = 0;       ///< passes that the width needs without any conflict (the counter's floor)
};
/// `bytes` a lane (matrix: 16, a row; `matrices` tiles). Addresses are byte offsets in shared memory.
SharedCost shared_cost(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed, std::uint32_t bytes,
                       SharedAccess access, std::uint32_t matrices = 0);

}  // namespace foretrace::rules
