// Warps by number: warp i of an SM is in slot i % kWarpSlots of sub-core i / kWarpSlots.
#pragma once

#include "model/units/units.h"

namespace foretrace::sm {

inline constexpr int kWarpSlots = 16;     ///< warps that a sub-core holds at most
inline constexpr int kWarpBitsOfAge = 5;  ///< lowest bits of a warp's age: its number in its block
static_assert(kSubCores * kWarpSlots <= 64, "a set of an SM's warps is one 64-bit word");

}  // namespace foretrace::sm
