// The sum of a matrix instruction's products, one element at a time: what the vector code of lanes/products.cpp is compared with, and
// what does infinities, NaN and subnormal results.
//
// Models:  exact products and an f32 accumulator, aligned to the largest exponent, cut toward zero to `kept` bits behind the point,
//          added exactly, cut to f32 (or rounded to f16). Source: compared bit by bit with an H100 for f16, bf16, tf32 (25 bits) and
//          eight-bit floats of wgmma (13 bits, and 13 fraction bits of the result).
#pragma once

#include <cstdint>

#include "sim/emulate/execute/lanes/product_tile.h"

namespace foretrace::emulate {

enum class Element : std::uint8_t { f16, bf16, tf32, s8, u8, s4, u4, bit, f64, e4m3, e5m2 };
inline constexpr int kElementBits[] = {16, 16, 32, 8, 8, 4, 4, 1, 64, 8, 8};
inline int bits_of(Element e) { return kElementBits[static_cast<int>(e)]; }

/// Of the floats up to 32 bits; of tf32 the upper 19 bits of the word.
FloatLayout layout_of(Element e);

/// A float operand as sign, significand with the layout's fraction bits behind the point, and exponent.
struct Term {
  bool negative = false, nan = false, infinite = false;
  std::int32_t significand = 0;
  int exponent = 0;
};
Term term(std::uint32_t bits, const FloatLayout& layout);

struct SumRule {
  int kept = 25;
  int result_bits = 23;  ///< fraction bits of an f32 result; 13: the low ten are 0
  bool half = false;  ///< an f16 result, nearest even, a zero is positive; the accumulator is a half as well
};
/// `fraction`: bits behind the point of a product. `c`: f32 bits. Gives f32 or f16 bits.
std::uint32_t fused_sum(const Term* a, const Term* b, int count, int fraction, std::uint32_t c,
                        const SumRule& rule);

}  // namespace foretrace::emulate
