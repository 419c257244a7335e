#include "sim/emulate/tensor/fused_sum.h"

#include <algorithm>
#include <bit>

#include "sim/emulate/execute/number.h"

namespace foretrace::emulate {

FloatLayout layout_of(Element e) {
  if (e == Element::f16) return {10, 15, 5, false};
  if (e == Element::bf16) return {7, 127, 8, false};
  if (e == Element::e4m3) return {3, 7, 4, true};
  if (e == Element::e5m2) return {2, 15, 5, false};
  return {10, 127, 8, false};  // tf32
}

Term term(std::uint32_t bits, const FloatLayout& l) {
  Term t;
  const int width = l.fraction + l.exponent_bits;
  const std::uint32_t fraction = bits & ((1u << l.fraction) - 1);
  const int biased = static_cast<int>(bits >> l.fraction) & ((1 << l.exponent_bits) - 1);
  t.negative = (bits >> width & 1) != 0;
  if (l.finite_only) {
    t.nan = (bits & ((1u << width) - 1)) == (1u << width) - 1;
    if (t.nan) return t;
  } else if (biased == (1 << l.exponent_bits) - 1) {
    (fraction != 0 ? t.nan : t.infinite) = true;
    return t;
  }
  t.significand = static_cast<std::int32_t>(biased == 0 ? fraction : fraction | 1u << l.fraction);
  t.exponent = std::max(biased, 1) - l.bias;
  return t;
}

namespace {

/// The sum as f32 bits, cut; `odd`: where something was cut off, the last bit is set, for a second rounding.
std::uint32_t cut_sum(std::int64_t sum, int exponent, int result_bits, bool odd) {
  Number n;
  n.negative = sum < 0;
  n.significand = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  n.exponent = exponent;
  const int width = 64 - std::countl_zero(n.significand);
  const int surplus = width - (result_bits + 1);
  if (n.significand != 0 && n.exponent + width > 128) return (n.negative ? 0x80000000u : 0u) | 0x7f800000u;
  const bool cut = surplus > 0 && (n.significand & ((std::uint64_t{1} << surplus) - 1)) != 0;
  if (surplus > 0) n.significand = n.significand >> surplus << surplus;
  const auto bits = static_cast<std::uint32_t>(pack(Format::f32, n, Rounding::zero));
  return odd && cut ? bits | 1 : bits;
}

/// The sum as a half, nearest even; a zero is positive.
std::uint16_t half_of_sum(std::uint32_t sum) {
  const std::uint16_t h = float_to_half(std::bit_cast<float>(sum));
  return (h & 0x7fff) == 0 ? std::uint16_t{0} : h;
}

/// A significand with `bits` bits behind the point, `shift` places below the largest, with `kept` bits.
std::int64_t aligned(std::int64_t significand, int bits, int kept, int shift) {
  const int down = shift + bits - kept;
  if (down > 62) return 0;
  return down < 0 ? significand << -down : significand >> down;
}

}  // namespace

std::uint32_t fused_sum(const Term* a, const Term* b, int count, int fraction, std::uint32_t c,
                        const SumRule& rule) {
  const Term acc = term(c, {23, 127, 8, false});
  bool nan = acc.nan, plus = acc.infinite && !acc.negative, minus = acc.infinite && acc.negative;
  int largest = acc.significand != 0 ? acc.exponent : kZeroExponent;
  for (int i = 0; i < count; ++i) {
    const bool zero_times_infinity = (a[i].infinite && !b[i].infinite && b[i].significand == 0) ||
                                     (b[i].infinite && !a[i].infinite && a[i].significand == 0);
    nan = nan || a[i].nan || b[i].nan || zero_times_infinity;
    if (a[i].infinite || b[i].infinite) (a[i].negative != b[i].negative ? minus : plus) = true;
    if (a[i].significand != 0 && b[i].significand != 0)
      largest = std::max(largest, a[i].exponent + b[i].exponent);
  }
  std::uint32_t bits = 0;
  if (nan || (plus && minus)) {
    bits = 0x7fffffff;
  } else if (plus || minus) {
    bits = plus ? 0x7f800000u : 0xff800000u;
  } else {
    std::int64_t sum = aligned(acc.significand, 23, rule.kept, largest - acc.exponent);
    if (acc.negative) sum = -sum;
    for (int i = 0; i < count; ++i) {
      const std::int64_t product = aligned(std::int64_t{a[i].significand} * b[i].significand, fraction,
                                           rule.kept, largest - a[i].exponent - b[i].exponent);
      sum += a[i].negative != b[i].negative ? -product : product;
    }
    bits = cut_sum(sum, largest - rule.kept, rule.half ? 23 : rule.result_bits, rule.half);
  }
  return rule.half ? half_of_sum(bits) : bits;
}

}  // namespace foretrace::emulate
