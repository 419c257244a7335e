// What buffers hold. The golden numbers were computed by an independent program (Python integers) from the text of
// docs/launch_files.md and SplitMix64's published constants; measurements depend on them, so they never change.
#include "sim/frontend/launch/buffer_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace foretrace::frontend {
namespace {

constexpr ElementType kAllTypes[] = {ElementType::i8,  ElementType::u8,   ElementType::i16, ElementType::u16,
                                     ElementType::i32, ElementType::u32,  ElementType::i64, ElementType::u64,
                                     ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64};

Generator make(GeneratorKind kind, std::uint64_t seed = 1, std::uint64_t low = 0, std::uint64_t high = 0) {
  return {kind, low, high, seed};
}

TEST(BufferValues, RandomBitsAreGolden) {
  EXPECT_EQ(values::random_bits(1, 0), 0x5e41ab087439611eu);
  EXPECT_EQ(values::random_bits(1, 1), 0xf18d6ce93d6cf1eeu);
  EXPECT_EQ(values::random_bits(1, 2), 0x0b95f66d327e8d78u);
  EXPECT_EQ(values::random_bits(2, 0), 0x64684c4f0fd784b4u);
  EXPECT_EQ(values::random_bits(2, 2), 0xd79b1b9dbd70e170u);
}

TEST(BufferValues, UniformIsGolden) {
  const Generator uniform = make(GeneratorKind::uniform);
  const double expected[] = {6177195, 15830380, 759286, 13043227};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::uint64_t bits = element_bits(ElementType::f32, uniform, i, 4);
    EXPECT_EQ(float_value(ElementType::f32, bits), expected[i] / 16777216.0);
  }
  EXPECT_EQ(element_bits(ElementType::u8, uniform, 0, 4), 94u);
  EXPECT_EQ(element_bits(ElementType::i8, uniform, 1, 4), 241u);
  EXPECT_EQ(element_bits(ElementType::i16, uniform, 2, 4), 2965u);
  EXPECT_EQ(element_bits(ElementType::u64, uniform, 2, 4), 0x0b95f66d327e8d78u);
}

TEST(BufferValues, UniformFloatsAreExactMultiplesBelowOne) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const double value = float_value(type, element_bits(type, make(GeneratorKind::uniform, 9), i, 20000));
      ASSERT_GE(value, 0.0);
      ASSERT_LT(value, 1.0);
      const double scaled = std::ldexp(value, type_info(type).significand);
      ASSERT_EQ(scaled, std::floor(scaled));
      sum += value;
    }
    // Twenty standard deviations of a mean of 20000 uniform numbers, and half a step of the coarsest type.
    EXPECT_NEAR(sum / 20000, 0.5, 0.04) << element_type_name(type);
  }
}

TEST(BufferValues, SeedsDiffer) {
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    equal += element_bits(ElementType::u32, make(GeneratorKind::uniform, 1), i, 1000) ==
             element_bits(ElementType::u32, make(GeneratorKind::uniform, 2), i, 1000);
  }
  EXPECT_EQ(equal, 0);
}

TEST(BufferValues, PermIsGolden) {
  const std::uint64_t small[] = {1, 8, 7, 3, 4, 9, 5, 2, 6, 0};
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(element_bits(ElementType::u32, make(GeneratorKind::perm), i, 10), small[i]);
  }
  const std::uint64_t large[] = {726, 229, 117, 263};
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(element_bits(ElementType::i32, make(GeneratorKind::perm, 3), i, 1000), large[i]);
  }
}

TEST(BufferValues, PermIsAPermutationAtEverySize) {
  for (const std::uint64_t count : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 255u, 256u, 257u, 4095u, 65537u}) {
    for (const std::uint64_t seed : {1u, 2u, 77u}) {
      std::vector<bool> seen(count, false);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t image = element_bits(ElementType::u64, make(GeneratorKind::perm, seed), i, count);
        ASSERT_LT(image, count);
        ASSERT_FALSE(seen[image]) << "count " << count << " seed " << seed << " twice: " << image;
        seen[image] = true;
      }
    }
  }
}

TEST(BufferValues, IotaWrapsWhereElementsStopBeingExact) {
  const Generator iota = make(GeneratorKind::iota);
  for (const ElementType type : kAllTypes) {
    const std::uint64_t five = element_bits(type, iota, 5, 10);
    EXPECT_EQ(type_info(type).is_float ? float_value(type, five) : static_cast<double>(five), 5.0);
  }
  EXPECT_EQ(element_bits(ElementType::u8, iota, 255, 1000), 255u);
  EXPECT_EQ(element_bits(ElementType::u8, iota, 256, 1000), 0u);
  EXPECT_EQ(float_value(ElementType::f16, element_bits(ElementType::f16, iota, 2047, 4000)), 2047.0);
  EXPECT_EQ(float_value(ElementType::f16, element_bits(ElementType::f16, iota, 2048, 4000)), 0.0);
  EXPECT_EQ(float_value(ElementType::f32, element_bits(ElementType::f32, iota, 16777215, 1u << 25)),
            16777215.0);
  EXPECT_EQ(float_value(ElementType::f32, element_bits(ElementType::f32, iota, 16777217, 1u << 25)), 1.0);
}

TEST(BufferValues, RangeOfIntegersIsGoldenAndHitsBothEnds) {
  const Generator range = make(GeneratorKind::range, 1, 0xfffffffbu, 6);  // -5..6
  const std::int32_t golden[] = {-1, 5, -5, 3, -3, 3, 1, -3};
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(static_cast<std::int32_t>(element_bits(ElementType::i32, range, i, 8)), golden[i]);
  }
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int32_t>(element_bits(ElementType::i32, range, i, 2000));
    ASSERT_GE(value, -5);
    ASSERT_LT(value, 6);
  }
  // A span over half of the type's values: its width does not fit the signed type.
  const Generator wide = make(GeneratorKind::range, 1, 0x8000000000000000u, 0x7fffffffffffffffu);
  bool negative = false;
  bool positive = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto value = static_cast<std::int64_t>(element_bits(ElementType::i64, wide, i, 100));
    ASSERT_LT(value, std::numeric_limits<std::int64_t>::max());
    negative |= value < 0;
    positive |= value > 0;
  }
  EXPECT_TRUE(negative && positive);
}

TEST(BufferValues, RangeOfFloatsNeverReachesItsUpperBound) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    // Two neighbours and a bit: almost every element rounds towards one of very few numbers.
    const std::uint64_t low = float_bits(type, 1.0);
    const Generator range = make(GeneratorKind::range, 5, low, low + 3);
    bool seen[3] = {};
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const std::uint64_t bits = element_bits(type, range, i, 1000);
      ASSERT_GE(bits, low);
      ASSERT_LT(bits, low + 3);
      seen[bits - low] = true;
    }
    EXPECT_TRUE(seen[0] && seen[1] && seen[2]) << element_type_name(type);
  }
  // An upper bound of zero: what rounds to it becomes the smallest negative number.
  EXPECT_EQ(values::next_below(ElementType::f32, 0), 0x80000001u);
  EXPECT_EQ(values::next_below(ElementType::f32, 0xbf800000u), 0xbf800001u);
}

TEST(FloatBits, RoundTripsEveryHalfAndBfloat) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const double value = float_value(type, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(float_bits(type, value), bits) << element_type_name(type);
    }
  }
}

TEST(FloatBits, RoundsHalfToEven) {
  const double step = std::ldexp(1.0, -10);                            // f16, just above 1
  EXPECT_EQ(float_bits(ElementType::f16, 1.0 + step / 2), 0x3c00u);    // between even and odd: down
  EXPECT_EQ(float_bits(ElementType::f16, 1.0 + 1.5 * step), 0x3c02u);  // between odd and even: up
  EXPECT_EQ(float_bits(ElementType::f16, 1.0 + 0.500001 * step), 0x3c01u);
  EXPECT_EQ(float_bits(ElementType::f16, 65519.0), 0x7bffu);          // the largest number
  EXPECT_EQ(float_bits(ElementType::f16, 65520.0), 0x7c00u);          // half a step on: infinity
  EXPECT_EQ(float_bits(ElementType::f16, std::ldexp(1.0, -24)), 1u);  // the smallest subnormal
  EXPECT_EQ(float_bits(ElementType::f16, std::ldexp(1.0, -25)), 0u);  // half of it: to even, zero
  EXPECT_EQ(float_bits(ElementType::f16, -std::ldexp(1.5, -25)), 0x8001u);
  EXPECT_EQ(float_bits(ElementType::bf16, 3.0e38), 0x7f62u);  // 0x7f61b1e6 in f32: up
  EXPECT_EQ(float_bits(ElementType::f32, 0.1), 0x3dcccccdu);
}

TEST(BufferValues, CycleVisitsEveryElementOnce) {
  for (const std::uint64_t count : {1u, 2u, 3u, 17u, 256u, 257u, 4099u}) {
    for (const std::uint64_t seed : {1u, 7u}) {
      const Generator cycle = make(GeneratorKind::cycle, seed);
      std::vector<bool> seen(count);
      std::uint64_t place = 0;
      for (std::uint64_t step = 0; step < count; ++step) {
        place = element_bits(ElementType::u32, cycle, place, count);
        ASSERT_LT(place, count);
        ASSERT_FALSE(seen[place]) << "a shorter cycle of " << count;
        seen[place] = true;
      }
      EXPECT_EQ(place, 0u) << "all of it, back at the start";
    }
  }
}

TEST(BufferValues, PermuteBackUndoesPermute) {
  for (const std::uint64_t count : {1u, 5u, 64u, 65u, 100003u}) {
    for (std::uint64_t i = 0; i < count; i += 1 + count / 1000) {
      ASSERT_EQ(values::permute_back(3, values::permute(3, i, count), count), i);
    }
  }
}

TEST(BufferValues, RampAndJitterAscend) {
  const Generator ramp = make(GeneratorKind::ramp, 1, 12);
  const Generator jitter = make(GeneratorKind::jitter, 1, 12);
  EXPECT_EQ(element_bits(ElementType::i32, ramp, 0, 5000), 0u);
  EXPECT_EQ(element_bits(ElementType::i32, ramp, 4999, 5000), 59988u);
  std::uint64_t shortest = 24;
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i + 1 < 5000; ++i) {
    const std::uint64_t here = element_bits(ElementType::i32, jitter, i, 5000);
    const std::uint64_t length = element_bits(ElementType::i32, jitter, i + 1, 5000) - here;
    ASSERT_EQ(here / 12, i);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  EXPECT_EQ(shortest, 1u);
  EXPECT_EQ(longest, 23u);
}

TEST(BufferValues, SkewFavoursTheSmall) {
  const Generator skew = make(GeneratorKind::skew, 1, 100, 356);
  int below[2] = {0, 0};  // 100 + 256 / 16, 100 + 256 / 2
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t value = element_bits(ElementType::u32, skew, i, 20000);
    ASSERT_GE(value, 100u);
    ASSERT_LT(value, 356u);
    below[0] += value < 116;
    below[1] += value < 228;
  }
  // u^4 < 1/16 for half of all u, u^4 < 1/2 for 0.84 of them; the tolerances are ten standard deviations.
  EXPECT_NEAR(below[0] / 20000.0, 0.5, 0.036);
  EXPECT_NEAR(below[1] / 20000.0, 0.8409, 0.026);
}

TEST(BufferValues, BandStaysNearItsPlace) {
  const Generator band = make(GeneratorKind::band, 1, 8, 64);
  std::uint64_t least = 64;
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t column = element_bits(ElementType::u32, band, i, 20000);
    ASSERT_GE(column, i / 8);
    ASSERT_LT(column, i / 8 + 64);
    least = std::min(least, column - i / 8);
    most = std::max(most, column - i / 8);
  }
  EXPECT_EQ(least, 0u);
  EXPECT_EQ(most, 63u);
}

TEST(FillElements, WritesWhatElementBitsSaysLittleEndianFromAnyStart) {
  for (const ElementType type : kAllTypes) {
    const Generator uniform = make(GeneratorKind::uniform, 4);
    const unsigned bytes = element_bytes(type);
    std::vector<unsigned char> buffer(10 * bytes + 1, 0xee);
    fill_elements(buffer.data(), type, uniform, 90, 10, 100);
    for (std::uint64_t i = 0; i < 10; ++i) {
      std::uint64_t bits = 0;
      for (unsigned byte = 0; byte < bytes; ++byte) {
        bits |= std::uint64_t{buffer[i * bytes + byte]} << (8 * byte);
      }
      EXPECT_EQ(bits, element_bits(type, uniform, 90 + i, 100)) << element_type_name(type);
    }
    EXPECT_EQ(buffer.back(), 0xee) << "wrote past the end";
  }
}

TEST(Names, TypesAndGeneratorsAreFoundByNameAndOthersAreNot) {
  for (const ElementType type : kAllTypes) {
    ElementType found = ElementType::u8;
    ASSERT_TRUE(element_type_from_name(element_type_name(type), found));
    EXPECT_EQ(found, type);
  }
  ElementType type = ElementType::f64;
  EXPECT_FALSE(element_type_from_name("f33", type));
  EXPECT_EQ(type, ElementType::f64);
  GeneratorKind kind = GeneratorKind::perm;
  EXPECT_FALSE(generator_from_name("ones", kind));
  EXPECT_TRUE(generator_from_name("range", kind));
  EXPECT_EQ(kind, GeneratorKind::range);
}

}  // namespace
}  // namespace foretrace::frontend
