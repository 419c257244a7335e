// Numbers taken apart and put together exactly, for conversions in any rounding direction.
//
// Models:  IEEE 754 binary16, binary32, binary64 and bfloat16, subnormals included; integers of 8 to 64 bits.
// Ignores: NaN payloads: the canonical NaN of the result's format is given.
#pragma once

#include <cstdint>

namespace foretrace::emulate {

enum class Format : std::uint8_t { f32, f64, f16, bf16 };
/// As the two encoded bits: nearest even, down, up, towards zero.
enum class Rounding : std::uint8_t { nearest, down, up, zero };

struct Number {
  enum class Class : std::uint8_t { finite, infinite, nan };
  Class kind = Class::finite;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;  ///< value = significand * 2^exponent
};

Number unpack(Format format, std::uint64_t bits);
std::uint64_t pack(Format format, const Number& number, Rounding rounding);
/// Rounded to an integer, still as a number; the sign of a zero result is that of the operand.
Number rounded_to_integral(const Number& number, Rounding rounding);
/// An integer of `bits` bits as a number; `value` is sign-extended when is_signed.
Number from_integer(std::uint64_t value, bool is_signed);
/// Clamped to an integer of `width` bits. NaN gives 0 when `nan_is_zero`, else 2^(width-1) (of 32 and 64 bits).
std::uint64_t to_integer(const Number& number, Rounding rounding, int width, bool is_signed,
                         bool nan_is_zero);

/// Floats of eight, six and four bits, in the low bits of a byte. e5m2 is IEEE-like, e4m3 has no infinity (largest 448), the others neither infinity nor
/// NaN.
enum class NarrowFormat : std::uint8_t { e4m3, e5m2, e3m2, e2m3, e2m1 };
/// Nearest even. Too large a value, infinity included, becomes the largest finite one; NaN stays NaN, or becomes the largest one.
std::uint8_t pack_narrow(const Number& number, NarrowFormat format);
Number unpack_narrow(std::uint8_t bits, NarrowFormat format);

/// Halves as floats and back (nearest even), for code that computes in single precision.
float half_to_float(std::uint16_t half);
float bfloat_to_float(std::uint16_t half);
std::uint16_t float_to_half(float x);

}  // namespace foretrace::emulate
