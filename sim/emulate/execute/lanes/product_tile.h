// The sums of products of a matrix instruction, as lane code takes them: plain arrays, no functions (see micro_op.h).
//
// Models:  for every element of 16 rows by some columns, the exact products of `depth` pairs and the accumulator are aligned to the
//          largest exponent, cut toward zero to `kept` bits behind the point, added exactly and cut (or rounded to a half).
// Places:  columns stand in blocks of 8 in the order 0, 2, 4, 6, 1, 3, 5, 7: that of an accumulator's registers, of which one holds
//          columns 0, 2, 4, 6 of a row in four lanes and the next one 1, 3, 5, 7.
#pragma once

#include <cstdint>

namespace foretrace::emulate {

/// The fields of a float format narrower than 32 bits.
struct FloatLayout {
  int fraction = 0, bias = 0, exponent_bits = 0;
  bool finite_only = false;  ///< e4m3: no infinity, all ones is NaN
};

inline constexpr std::int32_t kZeroExponent = -1000;  ///< of an operand that is zero
inline constexpr int kTileRows = 16;

/// Elements taken apart: magnitude (shifted left by `shift`), exponent, all ones where negative, nonzero where infinite or NaN; and the
/// whole as a float, which is right unless PartsFound::wide.
struct Parts {
  std::int32_t* significand;
  std::int32_t* exponent;
  std::int32_t* sign;
  std::uint32_t* special;
  float* value;
};

/// Exponents of elements whose products, and those cut to a place, are normal floats (or less than one place).
inline constexpr int kLeastNear = -50, kLargestNear = 62;

/// What there is among elements that were taken apart.
struct PartsFound {
  bool special = false;  ///< an infinity or a NaN
  bool wide = false;     ///< an exponent outside kLeastNear to kLargestNear
};

/// An operand in registers of 32 words, as mma.sync has it: a piece is 16 bytes of each row, a word in each lane of its quad; rows + 8 of
/// A stand in the next register.
struct Fragment {
  const std::uint32_t* registers = nullptr;  ///< of the first piece
  int bits = 16;  ///< an element's: 8, 16, or 32 for tf32, of which the upper 19 are taken
  int pieces = 0;
  int depth = 0;  ///< elements from one row of what is put to the next; of columns: 8
};

struct ProductTile {
  int columns = 0;  ///< a multiple of 8
  int depth = 0;    ///< products per element, a multiple of 8; what is beyond them is zero
  int kept = 25;
  int result_bits = 23;  ///< an f32 result's fraction bits; the rest is cut
  bool half = false;     ///< an f16 result, rounded to nearest even; a zero is positive
  bool wide = true;      ///< an operand has exponents that floats of products cannot hold
  Parts a{};             ///< [row * a_stride + k]; magnitudes shifted left by kept - both fractions
  int a_stride = 0;
  Parts b{};  ///< [k * b_stride + place]
  int b_stride = 0;
  const std::uint8_t* select = nullptr;            ///< sparse: [row * a_stride + k] is B's k; null: k
  const std::uint32_t* special_rows = nullptr;     ///< by row: nonzero where an element of A is special
  const std::uint32_t* special_columns = nullptr;  ///< by place
  const std::uint32_t* c =
      nullptr;                 ///< accumulator registers, 32 words each, of the first column on; null: zero
  std::uint32_t* d = nullptr;  ///< likewise; may be c
  std::uint8_t* left =
      nullptr;  ///< [row * columns / 8 + block]: places whose sum is left to the caller; d holds c there
};

/// The same of integers: their sum and the accumulator, modulo 2^32 or clamped to 32 bits.
struct IntegerTile {
  int columns = 0, depth = 0;
  const std::int32_t* a = nullptr;       ///< [row * depth + k]
  const std::int32_t* b = nullptr;       ///< [k * columns + place]
  const std::uint8_t* select = nullptr;  ///< as ProductTile's
  bool saturates = false;
  const std::uint32_t* c = nullptr;
  std::uint32_t* d = nullptr;
};

}  // namespace foretrace::emulate
