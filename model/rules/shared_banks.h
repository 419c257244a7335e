// Shared-memory banks: how many data-stage passes (wavefronts) an access takes. A pure function.
//
// Models:  32 banks of 4 bytes. An access is served in groups of lanes: 32 lanes for up to 32 bits, 16 for 64 bits, 8 for 128 bits;
//          a group takes as many passes as the busiest bank has different words to give or take; equal words merge for free (CIC, FOR).
//          Loads of 64 and 128 bits go below one pass per group when the whole warp wants at most one word of each bank and lanes share
//          in a way that the crossbar routes: every lane with lane^1, or every lane with lane^2 (CIC; FOR 77228): 1 and 2 passes.
//          LDSM: one pass per tile of eight 16-byte rows without conflict (from the 128-bit rule). Copies (LDGSTS) and atomics never
//          merge equal words (CIC; QRC), increments (ATOMS.POPC.INC) do (GTC21). An attempt to swap (ATOMS.CAST.SPIN) takes one
//          pass per group, whatever the addresses: one lane of each bank has its turn, the others fail (our shared_atomics on H100).
// Ignores: arbitration with other traffic (the SM's data stage adds that).
// Source:  docs/sources.md CIC, FOR, QRC, GTC21.
#pragma once

#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::rules {

enum class SharedAccess : std::uint8_t { load, store, atomic, matrix, copy, increment, attempt };

struct SharedCost {
  std::uint32_t wavefronts = 0;  ///< passes by the addresses
  std::uint32_t ideal =
      0;  ///< passes that the width needs without any conflict: the floor the counter subtracts; never above wavefronts
};
/// `bytes` per lane (matrix: 16, a row; `matrices` tiles, tile t's rows at the addresses of lanes 8t to 8t+7).
/// Addresses are byte offsets in shared memory. No executed lane: no pass.
SharedCost shared_cost(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
                       std::uint32_t bytes, SharedAccess access, std::uint32_t matrices = 0);

}  // namespace foretrace::rules
