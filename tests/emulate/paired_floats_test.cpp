// sm_100's floats in pairs and threes, against the host's own arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Lanes = std::vector<std::uint32_t>;

Lanes same(float x) { return Lanes(32, std::bit_cast<std::uint32_t>(x)); }

/// R8 and R9 of lane 5; R4:R5 is (1.5, -2), R6:R7 (0.1, 3), R8:R9 (7, 0.25).
std::vector<float> pair_of(const std::string& line) {
  const auto got = compute(line, {same(1.5f), same(-2), same(0.1f), same(3), same(7), same(0.25f)}, 2);
  return {std::bit_cast<float>(got[0][5]), std::bit_cast<float>(got[1][5])};
}

TEST(PairedFloats, EachHalfIsItsOwn) {
  EXPECT_EQ(pair_of("FADD2 R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO"), (std::vector<float>{1.5f + 0.1f, 1}));
  EXPECT_EQ(pair_of("FADD2 R8, R4.F32x2.HI_LO, -R6.F32x2.HI_LO"), (std::vector<float>{1.5f - 0.1f, -5}));
  EXPECT_EQ(pair_of("FMUL2 R8, R4.F32x2.HI_LO, R6.F32x2.LO_HI"), (std::vector<float>{4.5f, -2 * 0.1f}));
  EXPECT_EQ(pair_of("FMUL2 R8, R4.F32x2.HI_LO, 2.5"), (std::vector<float>{3.75f, -5}));
  EXPECT_EQ(pair_of("FFMA2 R8, R4.F32x2.HI_LO, R7.F32, R8.F32x2.HI_LO"), (std::vector<float>{11.5f, -5.75f}));
  EXPECT_EQ(pair_of("FFMA2 R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO, -R8.F32x2.HI_LO.NP"),
            (std::vector<float>{std::fma(1.5f, 0.1f, -7.0f), -5.75f}));
}

TEST(PairedFloats, ReadBeforeTheyAreWritten) {
  EXPECT_EQ(pair_of("FADD2 R8, R8.F32x2.LO_HI, R4.F32x2.HI_LO"), (std::vector<float>{1.75f, 5}));
  const auto some = compute("ISETP.GT.AND P0, PT, R0, 0x7, PT\n@P0 FADD2 R8, R4.F32x2.HI_LO, R4.F32x2.HI_LO",
                            {same(1), same(2), same(0), same(0), same(9), same(8)}, 2);
  EXPECT_EQ(std::bit_cast<float>(some[0][7]), 9);
  EXPECT_EQ(std::bit_cast<float>(some[1][7]), 8);
  EXPECT_EQ(std::bit_cast<float>(some[0][8]), 2);
  EXPECT_EQ(std::bit_cast<float>(some[1][8]), 4);
}

TEST(PairedFloats, RoundAndFlush) {
  EXPECT_EQ(pair_of("FFMA2.RZ R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO, R8.F32x2.HI_LO")[0], 0x1.c99998p+2f);
  EXPECT_EQ(pair_of("FFMA2.RP R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO, R8.F32x2.HI_LO")[0], 0x1.c9999ap+2f);
  const float least = std::numeric_limits<float>::denorm_min();
  const auto sum = [&](const char* line) {
    return std::bit_cast<float>(compute(line, {same(least), same(1), same(least), same(1)}, 2)[0][0]);
  };
  EXPECT_EQ(sum("FADD2 R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO"), 2 * least);
  EXPECT_EQ(sum("FADD2.FTZ R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO"), 0);
}

TEST(PairedFloats, LeastAndLargestOfThree) {
  const float nan = std::nanf("");
  const auto of = [](const char* line, float a, float b, float c) {
    return std::bit_cast<float>(compute(line, {same(a), same(b), same(c)})[0][0]);
  };
  EXPECT_EQ(of("FMNMX3 R8, R4, R5, R6, !PT", 1, 3, 2), 3);
  EXPECT_EQ(of("FMNMX3 R8, R4, R5, R6, PT", 1, -3, 2), -3);
  EXPECT_EQ(of("FMNMX3 R8, |R4|, R5, -R6, PT", -9, 3, 2), -2);
  EXPECT_EQ(of("FMNMX3.FTZ R8, R4, 3, -R5, PT", 4, 5, 0), -5);
  EXPECT_EQ(of("FMNMX3 R8, R4, R5, R6, !PT", nan, 3, nan), 3);
  EXPECT_TRUE(std::isnan(of("FMNMX3.NAN R8, R4, R5, R6, !PT", 1, 3, nan)));
  EXPECT_TRUE(std::signbit(of("FMNMX3 R8, R4, R5, R6, PT", 0, -0.0f, 0)));
}

TEST(PairedFloats, LeastAndLargestOfAWarp) {
  Lanes values(32), negative(32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    values[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) - 20);
    negative[i] = i - 9;
  }
  const auto of = [](const std::string& operation, const Lanes& lanes) {
    return compute(operation + " UR6, R4\nMOV R8, UR6", {lanes})[0][3];
  };
  EXPECT_EQ(std::bit_cast<float>(of("CREDUX.MAX.F32", values)), 11);
  EXPECT_EQ(std::bit_cast<float>(of("CREDUX.MIN.F32", values)), -20);
  EXPECT_EQ(std::bit_cast<float>(of("CREDUX.MAXABS.F32", values)), 20);
  EXPECT_EQ(of("CREDUX.MAX.S32", negative), 22u);
  EXPECT_EQ(of("CREDUX.MIN.S32", negative), static_cast<std::uint32_t>(-9));
  EXPECT_EQ(of("CREDUX.MIN", negative), 0u);
  values[7] = 0x7fc12345;
  EXPECT_EQ(std::bit_cast<float>(of("CREDUX.MAX.F32", values)), 11);
  EXPECT_EQ(of("CREDUX.MAX.F32.NAN", values), 0x7fffffffu);
}

}  // namespace
}  // namespace foretrace::emulate
