#include "sim/emulate/execute/number.h"

#include <algorithm>
#include <bit>

namespace foretrace::emulate {

namespace {

struct Layout {
  int precision;  // bits of the significand with the hidden one
  int width;
  std::uint64_t nan;
  int exponent_bits() const { return width - precision; }
  int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  int largest() const { return (1 << exponent_bits()) - 1; }  // biased exponent of infinity
};
Layout layout(Format f) {
  switch (f) {
    case Format::f32: return {24, 32, 0x7fffffff};
    case Format::f64: return {53, 64, 0xfff8000000000000};
    case Format::f16: return {11, 16, 0x7fff};
    case Format::bf16: break;
  }
  return {8, 16, 0x7fff};
}

/// significand * 2^-drop rounded to an integer.
std::uint64_t shifted_right(std::uint64_t significand, int drop, bool negative, Rounding rounding) {
  if (drop <= 0) return significand << -drop;
  const std::uint64_t kept = drop >= 64 ? 0 : significand >> drop;
  const std::uint64_t rest = drop >= 64 ? significand : significand & ((std::uint64_t{1} << drop) - 1);
  if (rest == 0) return kept;
  bool up = false;
  switch (rounding) {
    case Rounding::nearest: {
      const std::uint64_t half = drop > 64 ? 0 : std::uint64_t{1} << (drop - 1);  // drop > 64: less than half
      up = drop <= 64 && (rest > half || (rest == half && (kept & 1) != 0));
      break;
    }
    case Rounding::down: up = negative; break;
    case Rounding::up: up = !negative; break;
    case Rounding::zero: break;
  }
  return kept + (up ? 1 : 0);
}

}  // namespace

Number unpack(Format format, std::uint64_t bits) {
  const Layout l = layout(format);
  const int fraction_bits = l.precision - 1;
  Number n;
  n.negative = (bits >> (l.width - 1) & 1) != 0;
  const int biased = static_cast<int>(bits >> fraction_bits) & l.largest();
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  if (biased == l.largest()) {
    n.kind = fraction != 0 ? Number::Class::nan : Number::Class::infinite;
    return n;
  }
  n.significand = biased == 0 ? fraction : fraction | std::uint64_t{1} << fraction_bits;
  n.exponent = std::max(biased, 1) - l.bias() - fraction_bits;
  return n;
}

std::uint64_t pack(Format format, const Number& n, Rounding rounding) {
  const Layout l = layout(format);
  const int fraction_bits = l.precision - 1;
  const std::uint64_t sign = std::uint64_t{n.negative} << (l.width - 1);
  const std::uint64_t infinity = static_cast<std::uint64_t>(l.largest()) << fraction_bits;
  if (n.kind == Number::Class::nan) return l.nan;
  if (n.kind == Number::Class::infinite) return sign | infinity;
  if (n.significand == 0) return sign;
  const int leading = std::countl_zero(n.significand);
  const std::uint64_t significand = n.significand << leading;
  const int exponent = n.exponent - leading;  // of the lowest bit; the highest is at exponent + 63
  const int least = 1 - l.bias();
  const int quantum = std::max(exponent + 63, least) - fraction_bits;
  const std::uint64_t m = shifted_right(significand, quantum - exponent, n.negative, rounding);
  if (m < std::uint64_t{1} << fraction_bits) return sign | m;
  const std::uint64_t biased = static_cast<std::uint64_t>(quantum + fraction_bits + l.bias());
  const std::uint64_t bits = (biased << fraction_bits) + (m - (std::uint64_t{1} << fraction_bits));
  if (exponent + 63 <= l.bias() + 1 && bits < infinity) return sign | bits;
  const bool to_infinity = rounding == Rounding::nearest || (rounding == Rounding::up && !n.negative) ||
                           (rounding == Rounding::down && n.negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

Number rounded_to_integral(const Number& n, Rounding rounding) {
  if (n.kind != Number::Class::finite || n.exponent >= 0 || n.significand == 0) return n;
  Number r = n;
  r.significand = shifted_right(n.significand, -n.exponent, n.negative, rounding);
  r.exponent = 0;
  return r;
}

Number from_integer(std::uint64_t value, bool is_signed) {
  Number n;
  n.negative = is_signed && value >> 63 != 0;
  n.significand = n.negative ? ~value + 1 : value;
  return n;
}

std::uint64_t to_integer(const Number& n, Rounding rounding, int width, bool is_signed, bool nan_is_zero) {
  const std::uint64_t ones = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  if (n.kind == Number::Class::nan) return nan_is_zero ? 0 : top;
  const std::uint64_t most = is_signed ? top - 1 : ones, least = is_signed ? top : 0;  // magnitudes
  const Number r = rounded_to_integral(n, rounding);
  bool large = n.kind == Number::Class::infinite;
  std::uint64_t magnitude = 0;
  if (!large && r.significand != 0) {
    large = r.exponent > std::countl_zero(r.significand);
    if (!large) magnitude = r.significand << r.exponent;
  }
  if (n.negative) return (large || magnitude > least ? ~least + 1 : ~magnitude + 1) & ones;
  return large || magnitude > most ? most : magnitude;
}

namespace {

struct NarrowShape {
  int fraction, bias, sign;  ///< bits of the fraction; the sign's place
  std::uint8_t largest, nan;
};
constexpr NarrowShape kNarrow[] = {{3, 7, 7, 0x7e, 0x7f},
                                   {2, 15, 7, 0x7b, 0x7f},
                                   {2, 3, 5, 0x1f, 0x1f},
                                   {3, 1, 5, 0x1f, 0x1f},
                                   {1, 1, 3, 7, 7}};

}  // namespace

std::uint8_t pack_narrow(const Number& n, NarrowFormat format) {
  const NarrowShape& shape = kNarrow[static_cast<int>(format)];
  const auto sign = static_cast<std::uint8_t>(n.negative ? 1 << shape.sign : 0);
  if (n.kind == Number::Class::nan) return shape.nan;
  if (n.kind == Number::Class::infinite) return sign | shape.largest;
  if (n.significand == 0) return sign;
  const int leading = std::countl_zero(n.significand);
  const int exponent = n.exponent - leading;
  const int quantum = std::max(exponent + 63, 1 - shape.bias) - shape.fraction;
  const std::uint64_t m =
      shifted_right(n.significand << leading, quantum - exponent, n.negative, Rounding::nearest);
  const std::uint64_t hidden = std::uint64_t{1} << shape.fraction;
  if (m < hidden) return static_cast<std::uint8_t>(sign | m);
  const int biased = quantum + shape.fraction + shape.bias;
  if (biased > 31) return sign | shape.largest;
  const std::uint64_t bits = (static_cast<std::uint64_t>(biased) << shape.fraction) + (m - hidden);
  return static_cast<std::uint8_t>(sign | std::min<std::uint64_t>(bits, shape.largest));
}

Number unpack_narrow(std::uint8_t bits, NarrowFormat format) {
  if (format == NarrowFormat::e5m2)
    return unpack(Format::f16, static_cast<std::uint64_t>(bits) << 8);  // a half's high byte
  const NarrowShape& shape = kNarrow[static_cast<int>(format)];
  Number n;
  n.negative = (bits >> shape.sign & 1) != 0;
  const auto magnitude = static_cast<std::uint8_t>(bits & ((1u << shape.sign) - 1));
  if (shape.nan != shape.largest && magnitude == shape.nan) {
    n.kind = Number::Class::nan;
    return n;
  }
  const int biased = magnitude >> shape.fraction;
  const std::uint64_t hidden = std::uint64_t{1} << shape.fraction, fraction = magnitude & (hidden - 1);
  n.significand = biased == 0 ? fraction : fraction | hidden;
  n.exponent = std::max(biased, 1) - shape.bias - shape.fraction;
  return n;
}

float half_to_float(std::uint16_t h) {
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(pack(Format::f32, unpack(Format::f16, h), Rounding::nearest)));
}
float bfloat_to_float(std::uint16_t h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16); }
std::uint16_t float_to_half(float x) {
  return static_cast<std::uint16_t>(
      pack(Format::f16, unpack(Format::f32, std::bit_cast<std::uint32_t>(x)), Rounding::nearest));
}

}  // namespace foretrace::emulate
