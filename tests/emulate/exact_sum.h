// A matrix instruction's sum worked out another way than the emulator does: values as long doubles, cut at a power of two.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace foretrace::emulate::exact {

/// A format of 1 + exponent + fraction bits; `finite_only`: all ones is NaN and there is no infinity.
struct Format {
  int fraction, bias, exponent_bits;
  bool finite_only = false;
  int bits() const { return 1 + fraction + exponent_bits; }
};
inline constexpr Format kF16{10, 15, 5}, kBf16{7, 127, 8}, kTf32{10, 127, 8}, kE4m3{3, 7, 4, true},
    kE5m2{2, 15, 5}, kF32{23, 127, 8};

inline long double value(const Format& f, std::uint32_t bits) {
  const std::uint32_t fraction = bits & ((1u << f.fraction) - 1);
  const int exponent = static_cast<int>(bits >> f.fraction) & ((1 << f.exponent_bits) - 1);
  const long double sign = (bits >> (f.bits() - 1) & 1) != 0 ? -1 : 1;
  if (f.finite_only && (bits & 0x7f) == 0x7f) return NAN;
  if (!f.finite_only && exponent == (1 << f.exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  const long double significand = exponent == 0 ? fraction : fraction + (1u << f.fraction);
  return sign * std::ldexp(significand, std::max(exponent, 1) - f.bias - f.fraction);
}

/// The exponent that an operand brings to a product's place: that of its field, not of its value.
inline int place(const Format& f, std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> f.fraction) & ((1 << f.exponent_bits) - 1);
  return std::max(exponent, 1) - f.bias;
}

struct Rule {
  int kept = 25;
  int result_bits = 23;
  bool half = false;
};

/// D of one element: bits of an f32 or an f16. `c`: f32 bits, or f16 bits where the result is one.
inline std::uint32_t sum(const Format& fa, const Format& fb, const std::vector<std::uint32_t>& a,
                         const std::vector<std::uint32_t>& b, std::uint32_t c, const Rule& rule) {
  const Format& fc = rule.half ? kF16 : kF32;
  const long double cv = value(fc, c);
  long double plain = cv;  // decides about infinities and NaN
  int most = -100000;
  if (cv != 0 && std::isfinite(cv)) {
    const int field = static_cast<int>(c >> fc.fraction) & ((1 << fc.exponent_bits) - 1);
    // A subnormal half is a normal float.
    most = rule.half && field == 0 ? std::ilogb(static_cast<double>(cv)) : place(fc, c);
  }
  bool special = !std::isfinite(cv);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double va = value(fa, a[i]), vb = value(fb, b[i]);
    if (!std::isfinite(va) || !std::isfinite(vb)) {
      special = true;
      plain += va * vb;
    } else if (va != 0 && vb != 0) {
      most = std::max(most, place(fa, a[i]) + place(fb, b[i]));
    }
  }
  if (special) {
    if (std::isnan(plain)) return rule.half ? 0x7fffu : 0x7fffffffu;
    return (std::signbit(plain) ? (rule.half ? 0x8000u : 0x80000000u) : 0u) |
           (rule.half ? 0x7c00u : 0x7f800000u);
  }
  const auto cut = [&](long double v) { return std::trunc(std::ldexp(v, rule.kept - most)); };
  long double total = cut(cv);
  for (std::size_t i = 0; i < a.size(); ++i) total += cut(value(fa, a[i]) * value(fb, b[i]));
  const double v = static_cast<double>(std::ldexp(total, most - rule.kept));
  if (v == 0) return 0;
  if (rule.half) {
    // To the nearest, ties to even: the fraction's steps, and what they carry into the exponent.
    const int exponent = std::max(std::ilogb(v), -14);
    const double steps = std::nearbyint(std::ldexp(std::abs(v), 10 - exponent));
    const auto bits = std::min(static_cast<std::uint32_t>((exponent + 14) * 1024.0 + steps), 0x7c00u);
    return bits == 0 ? 0u : bits | (std::signbit(v) ? 0x8000u : 0u);
  }
  const int exponent = std::max(std::ilogb(v), -126);
  const double cut_value =
      std::ldexp(std::trunc(std::ldexp(v, rule.result_bits - exponent)), exponent - rule.result_bits);
  const auto f = static_cast<float>(cut_value);  // exact, or too large
  return std::bit_cast<std::uint32_t>(f);
}

}  // namespace foretrace::emulate::exact
