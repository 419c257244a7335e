// The addresses of a warp instruction's lanes, and their commonest pattern.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::rules {

using Addresses = std::array<std::uint64_t, kWarpSize>;
inline constexpr std::uint32_t kAllLanes = ~0u;

/// True when lane l of a full warp stands at the first lane's address + l * bytes.
inline bool contiguous(const Addresses& addresses, std::uint64_t bytes) {
  std::uint64_t different = 0;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane)
    different |= addresses[lane] ^ (addresses[0] + lane * bytes);
  return different == 0;
}

}  // namespace foretrace::rules
