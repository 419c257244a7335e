// What marks the ids of an SM's requests for code and constants among those of its memory pipe and its copy engine (CopyEngine::kMark).
#pragma once

#include <cstdint>

namespace foretrace::sm {

inline constexpr std::uint32_t kInstructionMark =
    0x8000'0000;  ///< of the GPC's cache; the rest is a line of code
inline constexpr std::uint32_t kConstantMark = 0x4000'0000;  ///< beside it: a block of constants
inline constexpr std::uint32_t kIndexedMark = 0x2000'0000;   ///< beside both: a line for an LDC
inline constexpr std::uint32_t kOperandMark =
    0x1000'0000;  ///< beside the first two: a line for a sub-core's operands

}  // namespace foretrace::sm
