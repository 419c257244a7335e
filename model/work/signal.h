// The name of a write that other warps may wait for.
//
// Models:  which execution of which warp it is: strong stores, atomics and reductions of global memory are counted in every warp, in
//          programs with waiting loops. Nothing has to be marked in the writer's record.
// Ignores: writes that are not strong, as the compiler sees them.
#pragma once

#include <cstdint>

namespace foretrace::work {

struct Signal {
  static constexpr std::uint32_t kWarps = 32;          ///< of a block, at most
  static constexpr std::uint32_t kLast = (1u << 27) - 1;  ///< of a warp's executions; later ones have no name
  std::uint32_t block = 0;
  std::uint32_t warp : 5 = 0;
  std::uint32_t number : 27 = 0;  ///< of the warp's writes, from 0
  friend bool operator==(const Signal&, const Signal&) = default;
};
static_assert(sizeof(Signal) == 8);

}  // namespace foretrace::work
