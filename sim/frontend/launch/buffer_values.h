// What a buffer holds: each element a pure function of (type, generator, seed, element index, element count).
//
// Models:  the generators of docs/launch_files.md. The same header fills the emulator's pages, the reference's
//          copies and, in the harness, the memory of a real GPU; so it is plain C++17 with nothing but the
//          standard library, and gives the same bits on every host (no fused or wider arithmetic is left to
//          the compiler's choice).
// Ignores: `file` buffers, whose bytes the caller reads.
// Source:  the mixing function is SplitMix64's finalizer (G. Steele, D. Lea, C. Flood, "Fast splittable
//          pseudorandom number generators", OOPSLA 2014), used on a counter.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace foretrace::frontend {

enum class ElementType : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

enum class GeneratorKind : std::uint8_t {
  zero,
  iota,
  uniform,
  perm,
  value,
  range,
  file,
  cycle,
  ramp,
  jitter,
  skew,
  band
};

/// How a buffer is filled. `low_bits` is the element of `value`, the step of `ramp` and `jitter` or what stands before
/// the dots of `range`, `skew` and `band`; `high_bits` is what stands behind them. Each is the bits of one element
/// (zero-extended).
struct Generator {
  GeneratorKind kind = GeneratorKind::zero;
  std::uint64_t low_bits = 0;
  std::uint64_t high_bits = 0;
  std::uint64_t seed = 0;
};

namespace values {

struct TypeInfo {
  std::string_view name;
  unsigned bytes;
  bool is_float;
  bool is_signed;
  int significand;  // floats: bits of the significand with the hidden one; integers: 0
  int exponent;     // floats: bits of the exponent
};

inline constexpr TypeInfo kTypes[] = {
    {"i8", 1, false, true, 0, 0},   {"u8", 1, false, false, 0, 0},  {"i16", 2, false, true, 0, 0},
    {"u16", 2, false, false, 0, 0}, {"i32", 4, false, true, 0, 0},  {"u32", 4, false, false, 0, 0},
    {"i64", 8, false, true, 0, 0},  {"u64", 8, false, false, 0, 0}, {"f16", 2, true, true, 11, 5},
    {"bf16", 2, true, true, 8, 8},  {"f32", 4, true, true, 24, 8},  {"f64", 8, true, true, 53, 11},
};

inline constexpr std::string_view kGenerators[] = {"zero", "iota",  "uniform", "perm",   "value", "range",
                                                   "file", "cycle", "ramp",    "jitter", "skew",  "band"};

}  // namespace values

inline constexpr const values::TypeInfo& type_info(ElementType type) {
  return values::kTypes[static_cast<std::size_t>(type)];
}

/// Bytes of one element.
inline constexpr unsigned element_bytes(ElementType type) { return type_info(type).bytes; }

inline constexpr std::string_view element_type_name(ElementType type) { return type_info(type).name; }

inline constexpr std::string_view generator_name(GeneratorKind kind) {
  return values::kGenerators[static_cast<std::size_t>(kind)];
}

/// False, and `type` untouched, if no type has that name.
inline bool element_type_from_name(std::string_view name, ElementType& type) {
  for (std::size_t i = 0; i < sizeof(values::kTypes) / sizeof(values::kTypes[0]); ++i) {
    if (values::kTypes[i].name == name) {
      type = static_cast<ElementType>(i);
      return true;
    }
  }
  return false;
}

/// False, and `kind` untouched, if no generator has that name.
inline bool generator_from_name(std::string_view name, GeneratorKind& kind) {
  for (std::size_t i = 0; i < sizeof(values::kGenerators) / sizeof(values::kGenerators[0]); ++i) {
    if (values::kGenerators[i] == name) {
      kind = static_cast<GeneratorKind>(i);
      return true;
    }
  }
  return false;
}

/// The bits of `number` in a float type, rounded to nearest even; beyond the largest number, infinity.
inline std::uint64_t float_bits(ElementType type, double number) {
  std::uint64_t wide = 0;
  std::memcpy(&wide, &number, sizeof(wide));
  if (type == ElementType::f64) return wide;
  if (type == ElementType::f32 && !std::isnan(number)) {  // the host's own conversion rounds the same way
    const auto narrow = static_cast<float>(number);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return bits;
  }
  const values::TypeInfo& info = type_info(type);
  const int fraction = info.significand - 1;
  const int bias = (1 << (info.exponent - 1)) - 1;
  const std::uint64_t sign = (wide >> 63) << (info.bytes * 8 - 1);
  const std::uint64_t infinity = ((std::uint64_t{1} << info.exponent) - 1) << fraction;
  if (std::isnan(number)) return sign | infinity | (std::uint64_t{1} << (fraction - 1));
  if (std::isinf(number)) return sign | infinity;
  const std::uint64_t magnitude = wide & ~(std::uint64_t{1} << 63);
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > bias) return sign | infinity;
  int surplus = 52 - fraction;  // bits of the significand that are rounded away
  if (exponent < 1 - bias) {    // a subnormal number keeps the smallest exponent
    surplus += 1 - bias - exponent;
    exponent = 1 - bias;
  }
  if (surplus > 54) return sign;  // less than half of the smallest number
  const std::uint64_t hidden = std::uint64_t{1} << 52, exact = hidden | (magnitude & (hidden - 1));
  const std::uint64_t rest = exact & ((std::uint64_t{1} << surplus) - 1),
                      half = std::uint64_t{1} << (surplus - 1);
  std::uint64_t significand = exact >> surplus;
  significand += rest > half || (rest == half && (significand & 1) != 0) ? 1 : 0;
  // The hidden one, if there, adds 1 to the exponent field; so does a carry out of the fraction.
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent + bias - 1) << fraction) + significand;
  return sign | (bits > infinity ? infinity : bits);
}

/// The number that the bits of a float type stand for (exact in double).
inline double float_value(ElementType type, std::uint64_t bits) {
  double result = 0;
  if (type == ElementType::f64) {
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }
  if (type == ElementType::f32) {
    const auto narrow_bits = static_cast<std::uint32_t>(bits);
    float narrow = 0;
    std::memcpy(&narrow, &narrow_bits, sizeof(narrow));
    return static_cast<double>(narrow);
  }
  const values::TypeInfo& info = type_info(type);
  const int fraction = info.significand - 1;
  const int bias = (1 << (info.exponent - 1)) - 1;
  const bool negative = (bits >> (info.bytes * 8 - 1) & 1) != 0;
  const auto exponent = static_cast<int>(bits >> fraction & ((std::uint64_t{1} << info.exponent) - 1));
  const std::uint64_t low = bits & ((std::uint64_t{1} << fraction) - 1);
  if (exponent == (1 << info.exponent) - 1) {
    result = low != 0 ? std::nan("") : HUGE_VAL;
  } else if (exponent == 0) {
    result = std::ldexp(static_cast<double>(low), 1 - bias - fraction);
  } else {
    const std::uint64_t wide =
        static_cast<std::uint64_t>(exponent - bias + 1023) << 52 | low << (52 - fraction);
    std::memcpy(&result, &wide, sizeof(result));
  }
  return negative ? -result : result;
}

namespace values {

/// `bits` cut to the type's width.
inline std::uint64_t cut(ElementType type, std::uint64_t bits) {
  const unsigned width = element_bytes(type) * 8;
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

/// An integer type's bits, extended to 64 by its sign or by zeros.
inline std::uint64_t extend(ElementType type, std::uint64_t bits) {
  const unsigned spare = 64 - element_bytes(type) * 8;
  if (!type_info(type).is_signed || spare == 0) return bits;
  return bits << spare >> 63 != 0 ? bits | ~std::uint64_t{0} << (64 - spare) : bits;
}

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// 64 random bits for one element of one seed.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  return mix(mix(seed + kStep) + (index + 1) * kStep);
}

/// The upper half of the 128-bit product: random bits scaled to [0, span).
inline std::uint64_t scale(std::uint64_t random, std::uint64_t span) {
  const std::uint64_t low = (random & 0xffffffffu) * (span & 0xffffffffu);
  const std::uint64_t first = (random >> 32) * (span & 0xffffffffu) + (low >> 32);
  const std::uint64_t second = (random & 0xffffffffu) * (span >> 32) + (first & 0xffffffffu);
  return (random >> 32) * (span >> 32) + (first >> 32) + (second >> 32);
}

/// Half the bits, rounded up and at least one, of the smallest power of four that holds count-1.
inline unsigned half_width(std::uint64_t count) {
  unsigned half = 1;
  while (half < 32 && (count - 1) >> (2 * half) != 0) ++half;
  return half;
}

/// What a Feistel round mixes into the other half.
inline std::uint64_t feistel(std::uint64_t seed, std::uint64_t round, std::uint64_t half_word,
                             std::uint64_t mask) {
  return random_bits(seed + round * 0x632be59bd9b4e019u, half_word) & mask;
}

/// A permutation of [0, count): four Feistel rounds on the smallest even number of bits that holds
/// count-1, walked until the image lies inside (at most four steps on average).
inline std::uint64_t permute(std::uint64_t seed, std::uint64_t index, std::uint64_t count) {
  const unsigned half = half_width(count);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t image = index;
  do {
    std::uint64_t left = image >> half;
    std::uint64_t right = image & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ feistel(seed, round, right, mask);
      left = right;
      right = next;
    }
    image = left << half | right;
  } while (image >= count);
  return image;
}

/// The index whose image under `permute` is `image`: the same rounds and the same walk backwards.
inline std::uint64_t permute_back(std::uint64_t seed, std::uint64_t image, std::uint64_t count) {
  const unsigned half = half_width(count);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t index = image;
  do {
    std::uint64_t left = index >> half;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 4; round-- > 0;) {
      const std::uint64_t before = right ^ feistel(seed, round, left, mask);
      right = left;
      left = before;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

/// The largest number of the float type below the one with these bits (not an infinity or a NaN).
inline std::uint64_t next_below(ElementType type, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (element_bytes(type) * 8 - 1);
  if ((bits & ~sign) == 0) return sign | 1;
  return (bits & sign) != 0 ? bits + 1 : bits - 1;
}

inline std::uint64_t in_range(ElementType type, const Generator& generator, std::uint64_t random) {
  if (!type_info(type).is_float) {
    const std::uint64_t low = extend(type, generator.low_bits);
    const std::uint64_t span = extend(type, generator.high_bits) - low;
    return cut(type, low + scale(random, span));
  }
  const double low = float_value(type, generator.low_bits);
  const double high = float_value(type, generator.high_bits);
  const double fraction = static_cast<double>(random >> 11) * 0x1p-53;
  const std::uint64_t bits = float_bits(type, std::fma(high - low, fraction, low));
  return float_value(type, bits) < high ? bits : next_below(type, generator.high_bits);
}

}  // namespace values

/// The bits of element `index` of a buffer of `count` elements, zero-extended. The generator must suit the type,
/// as the argument grammar ensures; `file` gives zeros.
inline std::uint64_t element_bits(ElementType type, const Generator& generator, std::uint64_t index,
                                  std::uint64_t count) {
  const values::TypeInfo& info = type_info(type);
  switch (generator.kind) {
    case GeneratorKind::zero:
    case GeneratorKind::file: return 0;
    case GeneratorKind::value: return generator.low_bits;
    case GeneratorKind::iota:
      return info.is_float
                 ? float_bits(type, static_cast<double>(index & ((std::uint64_t{1} << info.significand) - 1)))
                 : values::cut(type, index);
    case GeneratorKind::uniform: {
      const std::uint64_t random = values::random_bits(generator.seed, index);
      if (!info.is_float) return random >> (64 - info.bytes * 8);
      // Both factors are exact, and so is their product.
      return float_bits(type, static_cast<double>(random >> (64 - info.significand)) *
                                  (1.0 / static_cast<double>(std::uint64_t{1} << info.significand)));
    }
    case GeneratorKind::perm: {
      const std::uint64_t image = values::permute(generator.seed, index, count);
      return info.is_float ? float_bits(type, static_cast<double>(image)) : image;
    }
    case GeneratorKind::range:
      return values::in_range(type, generator, values::random_bits(generator.seed, index));
    case GeneratorKind::cycle: {
      const std::uint64_t place = values::permute_back(generator.seed, index, count);
      return values::permute(generator.seed, place + 1 == count ? 0 : place + 1, count);
    }
    case GeneratorKind::ramp: return index * generator.low_bits;
    case GeneratorKind::jitter:
      return index * generator.low_bits +
             values::scale(values::random_bits(generator.seed, index), generator.low_bits);
    case GeneratorKind::skew: {
      const std::uint64_t random = values::random_bits(generator.seed, index);
      const std::uint64_t square = values::scale(random, random);
      return values::in_range(type, generator, values::scale(square, square));
    }
    case GeneratorKind::band:
      return index / generator.low_bits +
             values::scale(values::random_bits(generator.seed, index), generator.high_bits);
  }
  return 0;
}

/// Writes elements [first, first + number) of a buffer of `count` elements to `destination`, in the byte order of
/// the GPU (little-endian).
inline void fill_elements(void* destination, ElementType type, const Generator& generator,
                          std::uint64_t first, std::uint64_t number, std::uint64_t count) {
  auto* out = static_cast<unsigned char*>(destination);
  const unsigned bytes = element_bytes(type);
  if (generator.kind == GeneratorKind::zero) {
    std::memset(out, 0, static_cast<std::size_t>(number * bytes));
    return;
  }
  for (std::uint64_t i = 0; i < number; ++i) {
    std::uint64_t bits = element_bits(type, generator, first + i, count);
    for (unsigned byte = 0; byte < bytes; ++byte, bits >>= 8) *out++ = static_cast<unsigned char>(bits);
  }
}

}  // namespace foretrace::frontend
