// The operands of the instruction vectors: what word `slot` of tuple `i` is, by kind. The device's runner and the emulator's
// test include this one file, so both work on the same bits.
//
// Models:  u32 u64 f32 f64 h2 (two binary16) b2 (two bfloat16): even tuples are pairs of special values, odd ones random bits,
//          moderate numbers, neighbours of operand 0 or numbers with few significant bits. mma_* kinds: a warp's tuples are of
//          one sort (small whole numbers, moderate, wide range, subnormal, infinities and NaNs among others, random bits...).
// Units:   bits. C++17, no library: it compiles on a machine that has only the CUDA Toolkit.
// Source:  the lists of special values are IEEE 754's and two's complement's edges; the rest is splitmix64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace foretrace::vectors {

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Signs, exponents and significands of the four formats.
struct Layout {
  int bits, significand;  ///< of the whole number; of its stored fraction
};

/// Kernel parameters k0..k7 (32 bytes): integers, 1.5f, -1/3, halves 0.5 and -3, and a double.
inline const std::uint32_t kConstants[8] = {100u,        0x80000001u, 0x00ff00f0u, 7u,
                                            0x3fc00000u, 0xbeaaaaabu, 0xc2003800u, 0x3ff80000u};

inline std::uint64_t special_float(Layout layout, std::uint64_t which) {
  const int exponent_bits = layout.bits - 1 - layout.significand;
  const std::uint64_t one = 1, top = (one << exponent_bits) - 1, bias = top >> 1;
  const std::uint64_t fraction = (one << layout.significand) - 1;
  const std::uint64_t p = static_cast<std::uint64_t>(layout.significand);
  const auto make = [&](std::uint64_t exponent, std::uint64_t low) {
    return exponent << layout.significand | low;
  };
  const std::uint64_t values[16] = {
      make(0, 0),                              // 0
      make(0, 1),                              // least subnormal
      make(0, fraction),                       // greatest subnormal
      make(1, 0),                              // least normal
      make(bias, 0),                           // 1
      make(bias, 1),                           // next above
      make(bias - 1, fraction),                // next below
      make(bias, (fraction >> 1) + 1),         // 1.5
      make(bias + p, 1),                       // 2^p + 1 unit
      make(bias - p - 1, 0),                   // half a unit of 1
      make(bias - p - 1, 1),                   // a little more than that
      make(top - 1, fraction),                 // greatest finite
      make(top, 0),                            // infinity
      make(top, (fraction >> 1) + 1),          // quiet NaN
      make(top, (fraction >> 2) + 5),          // signalling NaN with a payload
      make(bias + 1, (fraction >> 1) + 0x1b),  // pi or so
  };
  return values[which & 15] | (which >> 4 & 1) << (layout.bits - 1);
}

inline std::uint64_t any_float(Layout layout, std::uint64_t first, std::uint64_t h, std::uint64_t sort) {
  const int exponent_bits = layout.bits - 1 - layout.significand;
  const std::uint64_t one = 1, top = (one << exponent_bits) - 1, bias = top >> 1;
  const std::uint64_t fraction = (one << layout.significand) - 1;
  const std::uint64_t sign = (h >> 63) << (layout.bits - 1);
  const std::uint64_t all = layout.bits == 64 ? ~std::uint64_t{0} : (one << layout.bits) - 1;
  switch (sort) {
    case 0: return h & all;                                                                   // any bits
    case 1: return sign | (bias - 4 + (h >> 56 & 7)) << layout.significand | (h & fraction);  // near 1
    case 2:
      return sign | (bias - 2 + (h >> 56 & 3)) << layout.significand | (h & fraction & ~(fraction >> 5));
    case 3: return (first & all) + (h & 7) - 3;  // neighbours of operand 0
    case 4: {                                    // as large as operand 0, or 2^-p of it
      const std::uint64_t exponent = (first >> layout.significand) & top;
      const std::uint64_t less = h >> 50 & 31;
      return sign | (exponent > less ? exponent - less : 1) << layout.significand | (h & fraction);
    }
    case 5: return special_float(layout, h >> 20);
    case 6: return sign | (h >> 56 & 3) << layout.significand | (h & fraction);  // tiny
    default: {                                                                   // whole numbers and halves
      const std::uint64_t exponent = bias + (h >> 55 & 7);
      const std::uint64_t kept = fraction & ~(fraction >> ((h >> 55 & 7) + 1));
      return sign | exponent << layout.significand | (h & kept);
    }
  }
}

inline std::uint64_t special_integer(int bits, std::uint64_t which) {
  const std::uint64_t one = 1;
  const std::uint64_t values[16] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    15,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    0xff,
                                    0x8000,
                                    0x10000,
                                    one << (bits - 1),
                                    (one << (bits - 1)) - 1};
  const std::uint64_t x = values[which & 15];
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (one << bits) - 1;
  return ((which >> 4 & 1) != 0 ? ~x + 1 + (which >> 5 & 1) : x) & all;
}

inline std::uint64_t any_integer(int bits, std::uint64_t first, std::uint64_t h, std::uint64_t sort) {
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  switch (sort) {
    case 0:
    case 1:
    case 2: return h & all;
    case 3: return h & 63;
    case 4: return (first + (h & 7) - 3) & all;
    case 5: return (h & all) >> (h >> 58);
    case 6: return (std::uint64_t{1} << (h % static_cast<std::uint64_t>(bits))) - (h >> 40 & 1);
    default: return special_integer(bits, h >> 20);
  }
}

/// One number of a matrix instruction's warp of sort `sort`.
inline std::uint64_t matrix_float(Layout layout, std::uint64_t h, std::uint64_t sort) {
  const int exponent_bits = layout.bits - 1 - layout.significand;
  const std::uint64_t one = 1, top = (one << exponent_bits) - 1, bias = top >> 1;
  const std::uint64_t fraction = (one << layout.significand) - 1, sign = (h >> 63) << (layout.bits - 1);
  switch (sort) {
    case 0: return any_float(layout, 0, h, 7);
    case 1: return any_float(layout, 0, h, 1);
    case 2: return sign | (bias - 12 + (h >> 40) % 25) << layout.significand | (h & fraction);
    case 3: return (h >> 40 & 3) == 0 ? any_float(layout, 0, h, 6) : sign | (h & fraction);
    case 4: return (h >> 40 & 31) == 0 ? special_float(layout, h >> 20) : any_float(layout, 0, h, 1);
    case 5: return sign | ((h >> 40 & 7) == 0 ? top - 1 : bias) << layout.significand | (h & fraction);
    case 6: return (h >> 40 & 15) == 0 ? any_float(layout, 0, h, 2) : 0;
    default:
      return (h >> 40 & 3) == 0 ? special_float(layout, h >> 20)
                                : h & (one << (layout.bits - 1) | (top - 2) << layout.significand | fraction);
  }
}

/// The value (32 or 64 bits) of operand `slot` (0 is the kernel's first) of tuple `i`.
inline std::uint64_t operand(const std::string& kind, std::uint64_t slot, std::uint64_t i) {
  const std::uint64_t seed = mix(slot * 0x1000003 + 17), h = mix(seed ^ mix(i));
  if (kind.compare(0, 4, "mma_") == 0) {
    const std::uint64_t sort = i / 32 % 8;
    if (kind == "mma_f64") return matrix_float({64, 52}, h, sort);
    if (kind == "mma_f32") return matrix_float({32, 23}, h, sort);
    if (kind == "mma_e4") {
      const std::uint32_t spared = sort == 1 || sort == 2 ? 0x30303030u : 0;  // of moderate size
      return (h & 0x8f8f8f8fu) | (sort == 3   ? 0u
                                  : sort == 4 ? h >> 32 & 0x70707070u
                                              : spared | (h >> 32 & 0x10101010u));
    }
    const Layout half = kind == "mma_h2" ? Layout{16, 10} : Layout{16, 7};
    return matrix_float(half, h, sort) | matrix_float(half, mix(h), sort) << 16;
  }
  // Even tuples: each special value of operand 0 with each of operand 1, in an order that spreads them.
  const std::uint64_t pair = i / 2 * 389 % 1024;
  const std::uint64_t which = slot == 0 ? pair % 32 : slot == 1 ? pair / 32 : mix(pair + slot) >> 10;
  const std::uint64_t sort = mix(i + 77) + (slot == 0 ? 0 : h >> 33);
  const bool special = i % 2 == 0;
  const bool is_double = kind == "f64", is_wide = kind == "u64";
  if (kind == "u32" || is_wide) {
    const int bits = is_wide ? 64 : 32;
    if (special) return special_integer(bits, which | (i >> 7 & 1) << 5);
    return any_integer(bits, slot == 0 ? 0 : operand(kind, 0, i), h, sort % 8);
  }
  if (kind == "f32" || is_double) {
    const Layout layout = is_double ? Layout{64, 52} : Layout{32, 23};
    if (special) return special_float(layout, which);
    const std::uint64_t at = sort % 8;
    const std::uint64_t first = slot == 0 || (at != 3 && at != 4) ? 0x3ff : operand(kind, 0, i);
    return any_float(layout, first, h, slot == 0 && (at == 3 || at == 4) ? 0 : at) &
           (is_double ? ~std::uint64_t{0} : 0xffffffffu);
  }
  const Layout half = kind == "h2" ? Layout{16, 10} : Layout{16, 7};
  const std::uint64_t other = mix(h);
  const std::uint64_t low =
      special ? special_float(half, which)
              : any_float(half, slot == 0 ? 0x3ff : operand(kind, 0, i) & 0xffff, h, sort % 8);
  const std::uint64_t high =
      i % 4 == 0
          ? special_float(half, other >> 9)
          : any_float(half, slot == 0 ? 0x3ff : operand(kind, 0, i) >> 16 & 0xffff, other, (sort >> 8) % 8);
  return (low & 0xffff) | (high & 0xffff) << 16;
}

inline bool is_wide(const std::string& kind) { return kind == "u64" || kind == "f64" || kind == "mma_f64"; }

}  // namespace foretrace::vectors
