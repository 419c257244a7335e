// The multifunction unit (MUFU): results for single precision, and for the high words of doubles.
//
// Models:  sm_90's unit as an H100 answers, docs/vectors.md saying for which functions to the last bit and how near the others are.
//          Subnormal operands count as zero and results that would be subnormal are zero; NaN results are 0x7fffffff.
// Ignores: that sm_80's and sm_120's tables may differ: the same are used (not checked on a device).
// Source:  docs/facts.md; answers of an H100 for every significand (docs/vectors.md).
#pragma once

#include <cstdint>

namespace foretrace::emulate {

/// In the order of the encoded function codes.
enum class MufuFunction : std::uint8_t { cos, sin, ex2, lg2, rcp, rsq, rcp64h, rsq64h, sqrt, tanh };

/// The answer's bits for an operand's bits. cos and sin take turns; rcp64h and rsq64h the high word of a double.
std::uint32_t special_function(MufuFunction which, std::uint32_t bits);

}  // namespace foretrace::emulate
