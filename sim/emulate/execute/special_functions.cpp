// How the tables are used: an operand's significand is split into a segment (upper 6 or 7 bits) and a place x in it (the 17 or 16
// bits below); the result is c0 + c1 x + c2 s(x) cut to the result's last place, where s(x) is x^2 less the partial products below
// 2^-15: that is what the answers of the device show.
#include "sim/emulate/execute/special_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sim/emulate/execute/special_tables.h"

namespace foretrace::emulate {

namespace {

constexpr std::uint32_t kNan = 0x7fffffff, kInfiniteBits = 0x7f800000, kSignBit = 0x80000000;

constexpr int kSquareBits = 15;  ///< no bit of x below 2^-15 takes part in a product of weight 2^-15 or more

/// x^2 in units of 2^-15, x = `place` / 2^15: the partial products of weight 2^-15 and more.
std::uint16_t cut_square_of(std::uint32_t place) {
  std::uint32_t sum = 0;
  for (int i = 1; i <= 7; ++i) {  // 2^-i by lower bits
    if ((place >> (kSquareBits - i) & 1) == 0) continue;
    sum += 1u << (kSquareBits - 2 * i);
    // The pairs with lower bits j = i+1 .. 16-i, each of weight 2^(1-i-j): the bits below, cut at weight 2^-15.
    const int last = std::min(16 - i, kSquareBits);
    const std::uint32_t lower = place >> (kSquareBits - last) & ((1u << (last - i)) - 1);
    sum += lower << (16 - i - last);
  }
  return static_cast<std::uint16_t>(sum);
}

/// The same of x = `place` / 2^bits, looked up: attention asks for an exponential for each score.
std::int64_t cut_square(std::uint32_t place, int bits) {
  static const auto* const table = [] {
    auto* made = new std::array<std::uint16_t, 1u << kSquareBits>;
    for (std::uint32_t i = 0; i < made->size(); ++i) (*made)[i] = cut_square_of(i);
    return made;
  }();
  return (*table)[place >> (bits - kSquareBits)];
}

/// c0 + c1 x + c2 s(x) in 2^-18 last places, as is `bias`; `doubled` 0: the coefficients are of half last places.
std::int64_t sum_of(const Coefficients& c, std::uint32_t place, int bits, int doubled, std::int64_t bias) {
  const std::int64_t linear = std::int64_t{c.c1} * place * (std::int64_t{1} << (17 - bits + doubled));
  const std::int64_t square = std::int64_t{c.c2} * cut_square(place, bits) * (4 << doubled);
  return std::int64_t{c.c0} * 65536 + bias + linear + square;
}
/// The same in last places, cut.
std::uint32_t interpolated(const Coefficients& c, std::uint32_t place, int bits, int doubled,
                           std::int64_t bias) {
  return static_cast<std::uint32_t>(sum_of(c, place, bits, doubled, bias) >> 18);
}

/// value * 2^-42 as a float, cut.
std::uint32_t normalized(std::int64_t value) {
  if (value == 0) return 0;
  const int top = 63 - std::countl_zero(static_cast<std::uint64_t>(value));
  const std::int64_t significand = top > 23 ? value >> (top - 23) : value << (23 - top);
  return (static_cast<std::uint32_t>(significand) & 0x7fffff) | static_cast<std::uint32_t>(top - 42 + 127)
                                                                    << 23;
}

/// A positive result with its exponent moved by `by`; below the least normal number 0, above the greatest infinity.
std::uint32_t scaled(std::uint32_t bits, int by) {
  const int exponent = static_cast<int>(bits >> 23) + by;
  if (exponent <= 0) return 0;
  if (exponent >= 255) return kInfiniteBits;
  return (bits & 0x7fffff) | static_cast<std::uint32_t>(exponent) << 23;
}

std::uint32_t reciprocal(std::uint32_t bits) {
  const std::uint32_t sign = bits & kSignBit, fraction = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
  const std::uint32_t y = interpolated(kReciprocal[fraction >> 16], fraction & 0xffff, 16, 1, 16188);
  return sign | scaled(0x3f000000 + y, -exponent);
}

std::uint32_t inverse_root(std::uint32_t bits) {
  const std::uint32_t fraction = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127, odd = exponent & 1;
  const int half = (exponent - odd) / 2;
  if (odd == 0 && fraction == 0) return scaled(0x3f800000, -half);
  const Coefficients& c = kInverseRoot[(fraction >> 17) + (odd != 0 ? 64 : 0)];
  return scaled(0x3f000000 + interpolated(c, fraction & 0x1ffff, 17, 1, -1), -half);
}

std::uint32_t root(std::uint32_t bits) {
  const std::uint32_t fraction = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127, odd = exponent & 1;
  const Coefficients& c = kRoot[(fraction >> 17) + (odd != 0 ? 64 : 0)];
  return scaled(0x3f800000 + interpolated(c, fraction & 0x1ffff, 17, 0, -1), (exponent - odd) / 2);
}

std::uint32_t power(std::uint32_t bits) {
  const auto x = std::bit_cast<float>(bits);
  if (x >= 128.0f) return kInfiniteBits;
  if (x < -127.0f) return 0;
  // The magnitude in units of 2^-23, cut; a negative one is complemented, not negated, unless it is a whole number.
  const auto magnitude = static_cast<std::int64_t>(std::fabs(static_cast<double>(x)) * 0x1p23);
  const bool whole_number = (magnitude & 0x7fffff) == 0;
  const std::int64_t fixed = x >= 0.0f ? magnitude : whole_number ? -magnitude : ~magnitude;
  const auto place = static_cast<std::uint32_t>(fixed & 0x7fffff);
  const int whole = static_cast<int>(fixed >> 23);
  const std::uint32_t y = interpolated(kPower[place >> 17], place & 0x1ffff, 17, 1, 48916);
  return scaled(0x3f800000 + y, whole);
}

/// 1 is 0; else the exponent and the significand's logarithm are summed with 42 bits behind the point.
std::uint32_t logarithm(std::uint32_t bits) {
  if (bits == 0x3f800000) return 0;
  const std::uint32_t fraction = bits & 0x7fffff, segment = fraction >> 17;
  const std::int64_t exponent = static_cast<int>(bits >> 23) - 127;
  const std::int64_t sum =
      exponent * (std::int64_t{1} << 42) + sum_of(kLogarithm[segment], fraction & 0x1ffff, 17, 1, 13392);
  // The last bit kept is 2^-36; a negative sum is complemented there.
  const std::int64_t kept = sum & -std::int64_t{64};
  return kept < 0 ? kSignBit | normalized(-kept - 64) : normalized(kept);
}

/// The operand counts turns and is cut to 2^-25 of one. Descending quarters take the complement of the place, and are 1 at their start.
std::uint32_t sine(std::uint32_t bits, bool cosine) {
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
  const std::uint64_t significand = (bits & 0x7fffff) | 0x800000;
  std::uint32_t turn = 0;  // in units of 2^-25
  if (exponent >= -2) {
    turn = exponent < 24 ? static_cast<std::uint32_t>(significand << (exponent + 2)) : 0;
  } else if (exponent >= -25) {
    turn = static_cast<std::uint32_t>(significand >> (-2 - exponent));
  }
  turn &= 0x1ffffff;
  const std::uint32_t quarter = (turn >> 23) + (cosine ? 1 : 0), place = turn & 0x7fffff;
  const bool negative = (quarter & 2) != 0;
  const std::uint32_t sign = (negative ? kSignBit : 0) ^ (cosine ? 0 : bits & kSignBit);
  if ((quarter & 1) != 0 && place == 0) return sign | 0x3f800000;
  const std::uint32_t at = (quarter & 1) != 0 ? ~place & 0x7fffff : place;
  return sign | normalized(sum_of(kSine[at >> 17], at & 0x1ffff, 17, 1, 0));
}

/// tanh, whose table is not known: rounded from double.
std::uint32_t hyperbolic_tangent(std::uint32_t bits) {
  return std::bit_cast<std::uint32_t>(
      static_cast<float>(std::tanh(static_cast<double>(std::bit_cast<float>(bits)))));
}

/// The high word of 1/x or 1/sqrt(x) from the high word of x: single precision's tables, the significand cut to 20 bits.
std::uint32_t high_word(MufuFunction which, std::uint32_t high) {
  const std::uint32_t sign = high & kSignBit, magnitude = high & ~kSignBit, fraction = (high & 0xfffff) << 3;
  if (magnitude > 0x7ff00000) return kNan;
  const bool zero = magnitude < 0x00100000, infinite = magnitude == 0x7ff00000;
  if (zero) return sign | 0x7ff00000;
  if (which == MufuFunction::rsq64h && sign != 0) return kNan;
  if (infinite) return sign;
  const int exponent = static_cast<int>(magnitude >> 20) - 1023, odd = exponent & 1;
  // The significand's answer for an exponent of 0 or 1, and the exponent that is left.
  const bool root = which == MufuFunction::rsq64h;
  const std::uint32_t one = 0x3f800000 | fraction;
  const std::uint32_t y = root ? inverse_root(odd != 0 ? one + 0x800000 : one) : reciprocal(one);
  const int result = static_cast<int>(y >> 23) - 127 + 1023 - (root ? (exponent - odd) / 2 : exponent);
  if (result <= 0) return sign;
  return sign | static_cast<std::uint32_t>(result) << 20 | (y >> 3 & 0xfffff);
}

}  // namespace

std::uint32_t special_function(MufuFunction which, std::uint32_t bits) {
  if (which == MufuFunction::rcp64h || which == MufuFunction::rsq64h) return high_word(which, bits);
  const std::uint32_t sign = bits & kSignBit, magnitude = bits & ~kSignBit;
  if (magnitude > kInfiniteBits) return kNan;
  const bool zero = magnitude < 0x00800000, infinite = magnitude == kInfiniteBits;
  switch (which) {
    case MufuFunction::rcp: return zero ? sign | kInfiniteBits : infinite ? sign : reciprocal(bits);
    case MufuFunction::rsq:
      if (zero) return sign | kInfiniteBits;
      if (sign != 0) return kNan;
      return infinite ? 0 : inverse_root(bits);
    case MufuFunction::sqrt:
      if (zero) return sign;
      if (sign != 0) return kNan;
      return infinite ? bits : root(bits);
    case MufuFunction::ex2:
      if (zero) return 0x3f800000;
      return infinite ? (sign != 0 ? 0 : kInfiniteBits) : power(bits);
    case MufuFunction::lg2:
      if (zero) return kSignBit | kInfiniteBits;
      if (sign != 0) return kNan;
      return infinite ? bits : logarithm(bits);
    case MufuFunction::sin:
    case MufuFunction::cos: {
      if (infinite) return kNan;
      const bool cosine = which == MufuFunction::cos;
      return zero ? (cosine ? 0x3f800000 : sign) : sine(bits, cosine);
    }
    default: return zero ? bits : hyperbolic_tangent(bits);
  }
}

}  // namespace foretrace::emulate
