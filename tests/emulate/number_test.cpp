// Conversions against the processor's own, in all four rounding directions.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

#include "sim/emulate/execute/number.h"

namespace foretrace::emulate {
namespace {

constexpr int kDirections[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

/// Doubles of all sizes, and those that lie just beside what a narrower format holds.
std::vector<double> samples() {
  std::vector<double> v = {0.0,
                           -0.0,
                           1.0,
                           0x1p-149,
                           0x1p-150,
                           0x1.8p-150,
                           0x1p-126,
                           0x1.fffffep127,
                           0x1.ffffffp127,
                           0x1p128,
                           1e300,
                           -1e300,
                           0x1.000001p0,
                           0x1.0000010000001p0,
                           HUGE_VAL,
                           -HUGE_VAL,
                           0x1.fffffcp-127};
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double m = std::bit_cast<double>((random() >> 12) | std::uint64_t{0x3ff} << 52);
    v.push_back(std::ldexp(random() & 1 ? m : -m, static_cast<int>(random() % 300) - 150));
  }
  return v;
}

TEST(Numbers, NarrowToSingleInEveryDirection) {
  for (int d = 0; d < 4; ++d) {
    for (const double x : samples()) {
      std::fesetround(kDirections[d]);
      volatile double in = x;
      volatile float expected = static_cast<float>(in);
      std::fesetround(FE_TONEAREST);
      const std::uint64_t got =
          pack(Format::f32, unpack(Format::f64, std::bit_cast<std::uint64_t>(x)), static_cast<Rounding>(d));
      ASSERT_EQ(got, std::bit_cast<std::uint32_t>(static_cast<float>(expected))) << x << " direction " << d;
    }
  }
}

TEST(Numbers, BecomeIntegralInEveryDirection) {
  for (int d = 0; d < 4; ++d) {
    for (const double x : samples()) {
      std::fesetround(kDirections[d]);
      volatile double in = x;
      volatile double expected = std::nearbyint(in);
      std::fesetround(FE_TONEAREST);
      const Number n =
          rounded_to_integral(unpack(Format::f64, std::bit_cast<std::uint64_t>(x)), static_cast<Rounding>(d));
      ASSERT_EQ(pack(Format::f64, n, Rounding::nearest),
                std::bit_cast<std::uint64_t>(static_cast<double>(expected)))
          << x;
    }
  }
}

TEST(Numbers, HalvesGoBothWays) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const float x = half_to_float(static_cast<std::uint16_t>(h));
    const bool nan = (h & 0x7fff) > 0x7c00;
    ASSERT_EQ(std::isnan(x), nan);
    if (nan) continue;
    ASSERT_EQ(float_to_half(x), h);
    // By the format's definition.
    const int e = static_cast<int>(h >> 10 & 31), f = static_cast<int>(h & 0x3ff);
    if (e != 31) { ASSERT_EQ(std::fabs(x), e == 0 ? std::ldexp(f, -24) : std::ldexp(1024 + f, e - 25)); }
  }
  EXPECT_EQ(float_to_half(65519.9f),
            0x7bff);  // below the midpoint between the largest half and the next power of two
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);  // a tie goes to even
  EXPECT_EQ(float_to_half(0x1.8p-25f), 1);
}

TEST(Numbers, IntegersAreClamped) {
  const auto to = [](double x, int width, bool is_signed, Rounding r = Rounding::zero) {
    return to_integer(unpack(Format::f64, std::bit_cast<std::uint64_t>(x)), r, width, is_signed, false);
  };
  EXPECT_EQ(to(-1.5, 32, true), 0xffffffffu);
  EXPECT_EQ(to(-1.5, 32, true, Rounding::down), 0xfffffffeu);
  EXPECT_EQ(to(2.5, 32, true, Rounding::nearest), 2u);
  EXPECT_EQ(to(3.5, 32, true, Rounding::nearest), 4u);
  EXPECT_EQ(to(2147483648.0, 32, true), 0x7fffffffu);
  EXPECT_EQ(to(2147483647.0, 32, true), 0x7fffffffu);
  EXPECT_EQ(to(-2147483648.0, 32, true), 0x80000000u);
  EXPECT_EQ(to(-3e9, 32, true), 0x80000000u);
  EXPECT_EQ(to(-3.0, 32, false), 0u);
  EXPECT_EQ(to(1e30, 64, false), ~std::uint64_t{0});
  EXPECT_EQ(to(1e30, 64, true), ~std::uint64_t{0} >> 1);
  EXPECT_EQ(to(HUGE_VAL, 8, false), 255u);
  EXPECT_EQ(to(NAN, 32, true), 0x80000000u);
  EXPECT_EQ(to_integer(unpack(Format::f32, 0x7fc00000), Rounding::zero, 32, true, true), 0u);
}

TEST(Numbers, EightBitFloats) {
  for (const NarrowFormat format : {NarrowFormat::e4m3, NarrowFormat::e5m2}) {
    for (int b = 0; b < 256; ++b) {
      const Number n = unpack_narrow(static_cast<std::uint8_t>(b), format);
      if (n.kind == Number::Class::finite) {
        ASSERT_EQ(pack_narrow(n, format), b);
      } else if (n.kind == Number::Class::infinite) {
        ASSERT_EQ(pack_narrow(n, format), (b & 0x80) | 0x7b);
      } else {
        ASSERT_EQ(pack_narrow(n, format), 0x7f);
      }
    }
  }
  const auto e4m3 = [](float x) {
    return pack_narrow(unpack(Format::f32, std::bit_cast<std::uint32_t>(x)), NarrowFormat::e4m3);
  };
  EXPECT_EQ(e4m3(448.0f), 0x7e);
  EXPECT_EQ(e4m3(1e9f), 0x7e);
  EXPECT_EQ(e4m3(1.0625f), 0x38);  // a tie between 1 and 1.125
  EXPECT_EQ(e4m3(1.07f), 0x39);
}

// Nearest of all values of the format, the even one of two as near: by comparison, not by shifting.
TEST(Numbers, FourAndSixBitFloats) {
  struct Shape {
    NarrowFormat format;
    int exponent, fraction, bias;
  };
  for (const Shape& shape : {Shape{NarrowFormat::e2m1, 2, 1, 1}, Shape{NarrowFormat::e2m3, 2, 3, 1},
                             Shape{NarrowFormat::e3m2, 3, 2, 3}}) {
    const int count = 1 << (shape.exponent + shape.fraction);
    std::vector<double> values;
    for (int v = 0; v < count; ++v) {
      const int biased = v >> shape.fraction, fraction = v & ((1 << shape.fraction) - 1);
      values.push_back(std::ldexp(biased == 0 ? fraction : fraction + (1 << shape.fraction),
                                  std::max(biased, 1) - shape.bias - shape.fraction));
      const Number n = unpack_narrow(static_cast<std::uint8_t>(v), shape.format);
      EXPECT_EQ(std::ldexp(static_cast<double>(n.significand), n.exponent), values.back());
      EXPECT_EQ(pack_narrow(unpack_narrow(static_cast<std::uint8_t>(v | count), shape.format), shape.format),
                v | count);
    }
    for (double x = 0; x < 40; x += 1.0 / 64) {
      int nearest = 0;
      for (int v = 1; v < count; ++v) {
        const double far = std::abs(values[static_cast<std::size_t>(v)] - x),
                     best = std::abs(values[static_cast<std::size_t>(nearest)] - x);
        if (far < best || (far == best && v % 2 == 0)) nearest = v;
      }
      const auto packed = [&](double of) {
        return pack_narrow(unpack(Format::f64, std::bit_cast<std::uint64_t>(of)), shape.format);
      };
      ASSERT_EQ(packed(x), nearest) << x;
      if (x > 0) { ASSERT_EQ(packed(-x), nearest | count) << x; }
    }
    EXPECT_EQ(pack_narrow(unpack(Format::f32, 0x7fc00000), shape.format),
              count - 1);  // NaN, as the PTX ISA says
    EXPECT_EQ(pack_narrow(unpack(Format::f32, 0xff800000), shape.format), 2 * count - 1);
  }
}

}  // namespace
}  // namespace foretrace::emulate
