// Single instructions with a known answer, where the conformance kernels (which need nvcc) do not say it all: carries, the
// rare modifiers, directed rounding, halves, predicated lanes.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <sstream>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Lanes = std::vector<std::uint32_t>;

Lanes same(std::uint32_t v) { return Lanes(32, v); }
Lanes random_lanes(unsigned seed) {
  std::mt19937 random(seed);
  Lanes v(32);
  for (auto& x : v) x = static_cast<std::uint32_t>(random());
  return v;
}
std::uint32_t first(const std::string& lines, const std::vector<Lanes>& inputs) {
  return compute(lines, inputs)[0][0];
}
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(Integers, CarriesOfThreeTerms) {
  const char* program = "IADD3 R9, P0, P1, R4, R5, R6\nSEL R8, RZ, 0x1, !P0\n@P1 IADD3 R8, R8, 0x2, RZ";
  EXPECT_EQ(first(program, {same(1), same(2), same(3)}), 0u);
  EXPECT_EQ(first(program, {same(~0u), same(1), same(0)}), 1u);
  EXPECT_EQ(first(program, {same(~0u), same(~0u), same(~0u)}), 3u);
  // a - b carries out when there is no borrow.
  const char* minus = "IADD3 R9, P0, R4, -R5, RZ\nSEL R8, RZ, 0x1, !P0";
  EXPECT_EQ(first(minus, {same(5), same(5)}), 1u);
  EXPECT_EQ(first(minus, {same(5), same(6)}), 0u);
  EXPECT_EQ(first(minus, {same(5), same(0)}), 1u);
  // The high half of a 64-bit difference.
  const char* wide = "IADD3 R9, P0, R4, -R6, RZ\nIADD3.X R8, R5, ~R7, RZ, P0, !PT";
  EXPECT_EQ(first(wide, {same(0), same(1), same(1), same(0)}), 0u);
  EXPECT_EQ(first(wide, {same(2), same(1), same(1), same(0)}), 1u);
}

TEST(Integers, LogicOfThree) {
  const Lanes a = random_lanes(1), b = random_lanes(2), c = random_lanes(3);
  for (const unsigned lut : {0x00u, 0x1bu, 0x30u, 0x3cu, 0x78u, 0x80u, 0x96u, 0xc0u, 0xcau, 0xd8u, 0xe8u,
                             0xf8u, 0xfcu, 0xfeu, 0xffu}) {
    char text[80];
    std::snprintf(text, sizeof text, "LOP3.LUT R8, R4, R5, R6, 0x%x, !PT", lut);
    const Lanes got = compute(text, {a, b, c})[0];
    for (std::size_t l = 0; l < 32; ++l) {
      std::uint32_t e = 0;
      for (int i = 0; i < 32; ++i)
        e |= (lut >> ((a[l] >> i & 1) * 4 + (b[l] >> i & 1) * 2 + (c[l] >> i & 1)) & 1) << i;
      ASSERT_EQ(got[l], e) << std::hex << lut;
    }
  }
}

TEST(Integers, ShiftsClampOrWrap) {
  EXPECT_EQ(first("SHF.L.U32 R8, R4, 0x20, RZ", {same(5)}), 0u);
  EXPECT_EQ(first("SHF.L.W.U32 R8, R4, 0x20, RZ", {same(5)}), 5u);
  EXPECT_EQ(first("SHF.R.S32.HI R8, RZ, 0x28, R4", {same(0x80000000)}), 0xffffffffu);
  EXPECT_EQ(first("SHF.R.U32.HI R8, RZ, 0x1f, R4", {same(0x80000000)}), 1u);
  EXPECT_EQ(first("SHF.L.U64.HI R8, R4, 0x4, R5", {same(0xf0000000), same(1)}), 0x1fu);
  EXPECT_EQ(first("SHF.R.U64 R8, R4, 0x24, R5", {same(7), same(0xab0)}), 0xabu);
  EXPECT_EQ(first("SHF.L.W.U32.HI R8, R4, 0x8, R4", {same(0x12345678)}), 0x34567812u);
}

TEST(Integers, PermutesBytes) {
  EXPECT_EQ(first("PRMT R8, R4, 0x5410, R5", {same(0x44332211), same(0x88776655)}), 0x66552211u);
  EXPECT_EQ(first("PRMT R8, R4, 0x8765, R5", {same(0x443322a1), same(0x88776655)}), 0xff887766u);
}

TEST(Integers, LeaAddsShifted) {
  EXPECT_EQ(first("LEA R8, R4, R5, 0x4", {same(3), same(7)}), 55u);
  EXPECT_EQ(first("LEA.HI R8, R4, R5, RZ, 0x10", {same(0xabcd1234), same(1)}), 0xabceu);
  EXPECT_EQ(first("LEA.HI.SX32 R8, R4, R5, 0x1f", {same(0x80000000), same(0)}), 0xc0000000u);
}

TEST(Predicates, KeepTheOtherLanes) {
  Lanes even(32);
  for (std::uint32_t l = 0; l < 32; ++l) even[l] = l;
  const Lanes got = compute(
      "MOV R8, 0x63\nLOP3.LUT P0, RZ, R4, 0x1, RZ, 0xc0, !PT\n@P0 IADD3 R8, R4, 0x3e8, RZ", {even})[0];
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(got[l], l % 2 ? l + 1000 : 99u);
}

// What nvcc 13.0 makes where predicates are kept over a stretch of code: a byte of a register each, all of them where no mask is printed.
TEST(Predicates, AreKeptInBytesOfRegisters) {
  std::vector<std::uint32_t> in(32);
  for (std::uint32_t i = 0; i < 32; ++i) in[i] = 0x9e3779b9 * i;
  const auto out = compute(
      "R2P PR, R4.B3, 0x7f\nMOV R8, R4\nP2R.B1 R8, PR, R8, 0x7f\nP2R R9, PR, RZ, 0x5\n"
      "S2UR UR4, SR_CTAID.X\nUMOV UR4, 0x35000000\nUR2UP UPR, UR4.B3\nUMOV UR5, 0x1234\n"
      "UP2UR.B2 UR5, UPR, UR5, 0xff\nMOV R10, UR5",
      {in}, 3);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t kept = in[i] >> 24 & 0x7f;
    EXPECT_EQ(out[0][i], (in[i] & ~0x7f00u) | kept << 8) << i;
    EXPECT_EQ(out[1][i], kept & 5) << i;
    EXPECT_EQ(out[2][i], 0x00351234u) << i;
  }
}

TEST(Predicates, CompareWithAccumulation) {
  const char* program =
      "ISETP.GE.AND P1, PT, R5, 0x3, PT\nISETP.LT.OR P0, P2, R4, -0x1, P1\nSEL R8, RZ, 0x1, !P0\n@P2 IADD3 "
      "R8, R8, 0x2, RZ";
  EXPECT_EQ(first(program, {same(~1u), same(0)}), 1u);  // -2 < -1; the other result is false
  EXPECT_EQ(first(program, {same(0), same(0)}), 2u);
  EXPECT_EQ(first(program, {same(0), same(3)}), 3u);
}

TEST(Floats, RoundInTheDirectionThatIsAskedFor) {
  std::mt19937 random(5);
  const struct {
    const char* name;
    int direction;
  } kDirections[] = {{"", FE_TONEAREST}, {".RM", FE_DOWNWARD}, {".RP", FE_UPWARD}, {".RZ", FE_TOWARDZERO}};
  Lanes a(32), b(32), c(32);
  for (std::size_t l = 0; l < 32; ++l) {
    a[l] = bits(static_cast<float>(random()) - 2e9f);
    b[l] = bits(1.0f / static_cast<float>(random()));
    c[l] = bits(static_cast<float>(random()) * 1e-9f);
  }
  for (const auto& d : kDirections) {
    const std::string name = d.name;
    const Lanes sum = compute("FADD" + name + " R8, R4, -R5", {a, b})[0],
                product = compute("FMUL" + name + " R8, R4, R5", {a, b})[0],
                fused = compute("FFMA" + name + " R8, R4, R5, R6", {a, b, c})[0];
    for (std::size_t l = 0; l < 32; ++l) {
      volatile float x = std::bit_cast<float>(a[l]), y = std::bit_cast<float>(b[l]),
                     z = std::bit_cast<float>(c[l]);
      std::fesetround(d.direction);
      volatile float s = x - y, p = x * y, f = std::fma(x, y, z);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(sum[l], bits(s)) << d.name;
      EXPECT_EQ(product[l], bits(p)) << d.name;
      EXPECT_EQ(fused[l], bits(f)) << d.name;
    }
  }
}

TEST(Floats, FlushSaturateAndNan) {
  EXPECT_EQ(first("FADD.FTZ R8, R4, RZ", {same(0x80000001)}), 0u);  // -0 + 0
  EXPECT_EQ(first("FADD.FTZ R8, R4, -RZ", {same(0x80000001)}), 0x80000000u);
  EXPECT_EQ(first("FADD R8, R4, RZ", {same(0x80000001)}), 0x80000001u);
  EXPECT_EQ(first("FMUL.D4 R8, R4, 3", {same(0x40000000)}), 0x3fc00000u);   // 2 * 3 / 4
  EXPECT_EQ(first("FMUL.M8 R8, R4, -3", {same(0x40000000)}), 0xc2400000u);  // 2 * -3 * 8
  EXPECT_EQ(first("FMUL.D2 R8, R4, 0.5", {same(0x00000003)}),
            0x00000001u);  // rounded twice: 3 / 2 to 2, then 2 / 2
  EXPECT_EQ(first("FMUL.FTZ R8, R4, 0.5", {same(0x00800000)}), 0u);
  EXPECT_EQ(first("FADD.SAT R8, R4, 1", {same(bits(0.5f))}), bits(1.0f));
  EXPECT_EQ(first("FADD.SAT R8, R4, 1", {same(bits(-3.0f))}), 0u);
  EXPECT_EQ(first("FADD.SAT R8, R4, 1", {same(0x7fc00000)}), 0u);
  EXPECT_EQ(first("FADD R8, R4, 1", {same(0xffc12345)}), 0x7fffffffu);
  EXPECT_EQ(first("FADD R8, -RZ, |R4|", {same(0x80000000)}), 0u);
  EXPECT_EQ(first("FMNMX R8, R4, R5, PT", {same(0x7fc00000), same(bits(2.0f))}), bits(2.0f));
  EXPECT_EQ(first("FMNMX.NAN R8, R4, R5, PT", {same(0x7fc00000), same(bits(2.0f))}), 0x7fffffffu);
  EXPECT_EQ(first("FMNMX R8, R4, R5, !PT", {same(0x80000000), same(0)}), 0u);
}

TEST(Halves, AreRoundedOnce) {
  // Every result against a sum in long double, rounded to 11 bits by hand.
  std::mt19937 random(9);
  const auto value = [](std::uint32_t h) {
    const int e = static_cast<int>(h >> 10 & 31), f = static_cast<int>(h & 0x3ff);
    const long double m =
        e == 0 ? std::ldexp(static_cast<long double>(f), -24) : std::ldexp(1024.0L + f, e - 25);
    return (h & 0x8000) != 0 ? -m : m;
  };
  const auto rounded = [](long double x) -> std::uint32_t {
    const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    if (x == 0) return sign;
    const int e = std::max(std::ilogb(x), -14);
    const long double n = std::nearbyint(std::ldexp(x, 10 - e));  // to even
    const long double v = std::ldexp(n, e - 10);
    if (v >= 65536) return sign | 0x7c00;
    if (v < 0x1p-14L) return sign | static_cast<std::uint32_t>(std::ldexp(v, 24));
    const int k = std::ilogb(v);
    return sign | static_cast<std::uint32_t>((k + 15) << 10) |
           (static_cast<std::uint32_t>(std::ldexp(v, 10 - k)) & 0x3ff);
  };
  for (int round = 0; round < 200; ++round) {
    Lanes a(32), b(32), c(32);
    for (std::size_t l = 0; l < 32; ++l) {
      const auto finite = [&] {
        std::uint32_t h = random() & 0xffff;
        if ((h & 0x7c00) == 0x7c00) h ^= 0x4000;
        return h;
      };
      a[l] = finite() | finite() << 16;
      b[l] = finite() | finite() << 16;
      c[l] = finite() | finite() << 16;
    }
    const Lanes got = compute("HFMA2 R8, R4, R5.H0_H0, -R6", {a, b, c})[0];
    for (std::size_t l = 0; l < 32; ++l) {
      for (int part = 0; part < 32; part += 16) {
        const long double x =
            value(a[l] >> part & 0xffff) * value(b[l] & 0xffff) - value(c[l] >> part & 0xffff);
        ASSERT_EQ(got[l] >> part & 0xffff, rounded(x))
            << std::hex << a[l] << " " << b[l] << " " << c[l] << " part " << part;
      }
    }
  }
  EXPECT_EQ(first("HFMA2 R8, -RZ, RZ, 1.5, 2", {same(0)}), 0x3e004000u);
  // Numbers below the normal ones stay, zeros keep their signs, but +0 and -0 are +0, and a NaN becomes the canonical one.
  EXPECT_EQ(first("HFMA2 R8, -RZ, RZ, 5.9604644775390625e-08, -0.0", {same(0)}), 0x00018000u);
  EXPECT_EQ(first("HFMA2 R8, RZ, RZ, 1.5, -0.0", {same(0)}), 0x3e000000u);
  EXPECT_EQ(first("HFMA2 R8, -RZ, RZ, -QNAN, 2", {same(0)}), 0x7fff4000u);
  EXPECT_EQ(first("HFMA2.RELU R8, -RZ, RZ, -1.5, 2", {same(0)}), 0x00004000u);
  EXPECT_EQ(first("HFMA2 R8, -R4, RZ, 1.5, 2", {same(0x7e000000)}), 0x7fff4000u);
  EXPECT_EQ(first("HADD2.F32 R8, -RZ, R4.H1_H1", {same(0x3c00ffff)}), bits(1.0f));
}

TEST(Halves, OutsideATensorIsZero) {
  const auto sum = [](const char* form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return first(std::string("HFMA2") + form + " R8, R4, R5, R6", {same(a), same(b), same(c)});
  };
  const std::uint32_t one = 0x3c003c00, fill = 0x7ff77ff7;
  EXPECT_EQ(sum(".OOB", fill, one, one), 0u);
  EXPECT_EQ(sum(".OOB", one, fill, one), 0u);
  EXPECT_EQ(sum(".OOB", one, one, fill), 0x7fff7fffu);  // an addend is NaN as others are
  EXPECT_EQ(sum(".OOB", fill, one, fill), 0u);
  EXPECT_EQ(sum(".OOB", 0xfff7fff7, one, one), 0u);  // of either sign
  EXPECT_EQ(sum(".OOB", 0x7fff7fff, 0xfff77ff7, one), 0u);
  EXPECT_EQ(sum(".BF16_V2.OOB.RELU", 0x3f803f80, fill, 0x3f803f80), 0u);
  EXPECT_EQ(sum(".OOB", one, one, one), 0x40004000u);
  EXPECT_EQ(sum(".OOB", 0x7ff73c00, one, one), 0x00004000u);  // each half by itself
  EXPECT_EQ(sum(".OOB", one, 0x3c007ff7, one), 0x40000000u);
  EXPECT_EQ(sum(".OOB", 0x7fff3c00, one, one), 0x7fff4000u);  // NaN as others are
  EXPECT_EQ(sum(".OOB.RELU", one, one, 0xc200c200), 0u);
  EXPECT_EQ(first("HFMA2.OOB R8, R4.H1_H1, R5, R6", {same(0x7ff70000), same(one), same(one)}), 0u);
  EXPECT_EQ(sum("", fill, one, one), 0x7fff7fffu);
}

TEST(Warp, ShufflesStayInTheirSegment) {
  Lanes lane(32);
  for (std::uint32_t l = 0; l < 32; ++l) lane[l] = l;
  const Lanes down = compute("SHFL.DOWN P0, R8, R4, 0x3, 0x181f\n@!P0 IADD3 R8, R8, 0x64, RZ", {lane})[0];
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(down[l], l % 8 + 3 < 8 ? l + 3 : l + 100) << l;
  const Lanes up = compute("SHFL.UP PT, R8, R4, 0x2, RZ", {lane})[0];
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(up[l], l < 2 ? l : l - 2) << l;
}

TEST(Warp, ClockGoesUpWithEveryInstruction) {
  const auto got = compute("CS2R.32 R8, SR_CLOCKLO\nNOP\nCS2R.32 R9, SR_CLOCKLO", {}, 2);
  EXPECT_EQ(got[1][0] - got[0][0], 2u);
}

TEST(Integers, SumsSaturate) {
  EXPECT_EQ(first("VIADD.S32.ISAT R8, R4, R5", {same(0x7ffffff0), same(0x20)}), 0x7fffffffu);
  EXPECT_EQ(first("VIADD.S32.ISAT R8, R4, R5", {same(0x7ffffff0), same(0xf)}), 0x7fffffffu);
  EXPECT_EQ(first("VIADD.S32.ISAT R8, R4, R5", {same(0x7ffffff0), same(0xe)}), 0x7ffffffeu);
  EXPECT_EQ(first("VIADD.S32.ISAT R8, R4, -R5", {same(0), same(0x80000000)}), 0x7fffffffu);
  EXPECT_EQ(first("VIADD.S32.ISAT R8, R4, -R5", {same(0xfffffffe), same(0x7fffffff)}), 0x80000000u);
}

TEST(Integers, PackedSumsOfANegatedTerm) {
  EXPECT_EQ(first("VIADD.16x2 R8, -R4, RZ", {same(0x00018000)}), 0xffff8000u);
  EXPECT_EQ(first("VIADD.16x2 R8, -R4, R5", {same(0x00010002), same(0x00030001)}), 0x0002ffffu);
}

TEST(Halves, OneHalfOfAnOperandNegated) {
  // Both halves of the second factor are its own, the high one negated: 2 * (1, -3) + (1, 1).
  EXPECT_EQ(
      first("HFMA2 R8, R4.H1_H1, R5.H0_NH1, R6", {same(0x40000000), same(0x42003c00), same(0x3c003c00)}),
      0xc5004200u);
}

/// Which lanes succeed that try ATOMS.CAST.SPIN at once, lane l at byte l * `apart` of shared memory, which holds zeros.
std::uint32_t successful(std::uint32_t apart, bool wide) {
  std::ostringstream text;
  text << kThreadAddress << "IMAD R1, R0, 0x" << std::hex << apart << ", RZ\n"
       << "MOV R6, 0x7\nMOV R7, RZ\nMOV R4, RZ\nMOV R5, RZ\n"
       << "ATOMS.CAST.SPIN" << (wide ? ".64" : "") << " R8, [R1], R4, R6\nSTG.E [R2.64], R8\nEXIT\n";
  Assembled a(text.str(), 32, 2);
  a.program.static_shared = 16384;
  const std::uint64_t address = a.buffer(0, same(99), "data");
  a.run();
  std::uint32_t lanes = 0;
  const Lanes result = a.read(address, 32);
  for (std::size_t l = 0; l < 32; ++l) lanes |= result[l] << l;
  return lanes;
}

TEST(Atomics, OfTheLanesThatTryToSwapOneOfABankHasItsTurn) {
  EXPECT_EQ(successful(4, false), ~0u);
  EXPECT_EQ(successful(0, false), 1u) << "one word";
  EXPECT_EQ(successful(128, false), 1u) << "words of one bank";
  EXPECT_EQ(successful(8, false), 0xffffu) << "two of each bank";
  EXPECT_EQ(successful(8, true), ~0u) << "64 bits: half the warp after the other";
  EXPECT_EQ(successful(16, true), 0x00ff00ffu);
  EXPECT_EQ(successful(256, true), 0x00010001u);
}

// Two HMNMX2 in one, as nvcc makes them of __hmax2(__hmax2(a, b), c) for sm_90; asked of an H100 (2026-11-27) with NaNs, zeros of both signs and
// subnormals: six kernels of 65,536 threads.
TEST(Halves, TheGreatestOfThree) {
  const auto of = [](const char* code, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return compute(code, {same(a), same(b), same(c)})[0][0];
  };
  EXPECT_EQ(of("VHMNMX R8, R4, R5, R6, !PT", 0x3c00bc00, 0x40008000, 0x00000000), 0x40000000u);
  EXPECT_EQ(of("VHMNMX R8, R4, R5, R6, PT", 0x3c00bc00, 0x40008000, 0x00000000), 0x0000bc00u);
  EXPECT_EQ(of("VHMNMX R8, R4, R5.H1_H1, R6, !PT", 0x00000000, 0x3c000000, 0xbc00bc00), 0x3c003c00u);
  EXPECT_EQ(of("VHMNMX R8, R4, R5, R6, !PT", 0x7e007e00, 0x7e003c00, 0x7e007e00), 0x7fff3c00u);
  EXPECT_EQ(of("VHMNMX.NAN R8, R4, R5, R6, !PT", 0x3c003c00, 0x3c007e00, 0x40004000), 0x40007fffu);
  EXPECT_EQ(of("VHMNMX.BF16_V2 R8, R4, R5, R6, !PT", 0x7f813f80, 0x40000000, 0x00004040), 0x40004040u);
  EXPECT_EQ(of("VHMNMX R8, R4, -INF , -INF , R6, !PT", 0xbc00fc00, 0, 0xc000fc00), 0xbc00fc00u);
}

TEST(Halves, ConstantsOfConversionsAndFunctions) {
  EXPECT_EQ(first("FRND.BF16.TRUNC R8, 3.140625", {}), 0x4040u);
  EXPECT_EQ(first("FRND.F16 R8, 2.5", {}), 0x4000u) << "to even";
  EXPECT_EQ(first("F2I.S32.F16.TRUNC.NTZ R8, -3.75", {}), 0xfffffffdu);
  EXPECT_EQ(first("F2F.F16.BF16 R8, 1.5", {}), 0x3e00u);
  EXPECT_EQ(first("MUFU.EX2.F16 R8, 3", {}), 0x4800u);
}

TEST(Eights, UnpackTheUpperHalfAndNarrowHalves) {
  EXPECT_EQ(first("F2FP.F16.E4M3.UNPACK_B R8, R4", {same(0x40b83c38)}), 0x3e003c00u);
  EXPECT_EQ(first("F2FP.F16.E4M3.UNPACK_B R8, R4.H1", {same(0x40b83c38)}), 0x4000bc00u);
  EXPECT_EQ(first("F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C R8, R4, R5", {same(0x7bffbc00), same(0x1234)}),
            0x12347eb8u);
  EXPECT_EQ(first("F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C R8, R4, RZ", {same(0x40003c00)}), 0x403cu);
}

// As ptxas 13.4 writes cvt between bf16x2 and narrow floats (PTX ISA 9.1); expectations by hand.
TEST(Eights, NarrowBfloatsAndUnpackToThemWithScales) {
  // 448 and -1.0625 (a tie: to even); larger than the largest; an f16 of these bits would be another number.
  EXPECT_EQ(first("F2FP.SATFINITE.E4M3.BF16.UNPACK_B_MERGE_C R8, R4, R5", {same(0x43e0bf88), same(0x1234)}),
            0x12347eb8u);
  EXPECT_EQ(first("F2FP.SATFINITE.E4M3.BF16.UNPACK_B_MERGE_C R8, R4, RZ", {same(0x7f80c700)}), 0x7efeu);
  EXPECT_EQ(first("F2FP.SATFINITE.RELU.E5M2.BF16.UNPACK_B_MERGE_C R8, R4, RZ", {same(0x4000bf80)}), 0x4000u);
  EXPECT_EQ(first("F2FP.SATFINITE.E2M1.BF16.UNPACK_B_MERGE_C R8, R4, RZ", {same(0x40c0bf00)}), 0x79u);
  EXPECT_EQ(first("F2FP.BF16.E4M3.UNPACK_B R8, R4, 4.5736980577097704378e-41.H0", {same(0x40b83c38)}),
            0x3fc03f80u)
      << "1.5 and 1, times one";
  EXPECT_EQ(first("F2FP.BF16.E4M3.UNPACK_B R8, R4.H1, R5.H0", {same(0x40b83c38), same(0x0000807e)}),
            0x4080bf00u)
      << "2 * 2 and -1 / 2";
  EXPECT_EQ(first("F2FP.BF16.E5M2.UNPACK_B R8, R4, R5.H1", {same(0x3c3c), same(0xff7f0000)}), 0x7fff3f80u)
      << "a scale that is none";
  EXPECT_EQ(first("F2FP.SATFINITE.BF16.E4M3.UNPACK_B R8, R4, R5.H0", {same(0xfe7e), same(0xfefe)}),
            0xff7f7f7fu);
  EXPECT_EQ(first("F2FP.BF16.E4M3.UNPACK_B R8, R4, R5.H0", {same(0xfe7e), same(0xfefe)}), 0xff807f80u);
  EXPECT_EQ(first("F2FP.RELU.BF16.E2M1.UNPACK_B R8, R4.B1, R5.H0", {same(0xa700), same(0x7f7f)}), 0x000040c0u)
      << "6 and -1";
}

// Behind ELECT, as ptxas writes it for sm_120: the value of the lane that was elected.
// Triton's loop over 4-bit weights skips with it what lanes without the guard still have to do.
TEST(Uniform, ABranchGoesWhereAllItsLanesSaySo) {
  const char* const code = R"(
    S2R R10, SR_LANEID
    MOV R8, 0x1
    ISETP.GE.U32.AND P6, PT, R10, R4, PT
    @P6 BRA.U `(E)
    MOV R8, 0x2
  E:
    MOV R9, RZ
  )";
  const auto from = [&](std::uint32_t lane) { return compute(code, {same(lane)}, 2)[0]; };
  EXPECT_EQ(from(31), same(2)) << "one lane";
  EXPECT_EQ(from(1), same(2)) << "all but one";
  EXPECT_EQ(from(0), same(1)) << "all";
}

TEST(Uniform, ABroadcastTakesTheElectedLanesValue) {
  Lanes values(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) values[lane] = 100 + lane;
  EXPECT_EQ(first(R"(
    ISETP.GT.U32.AND P1, PT, R4, 0x68, PT
    ELECT P0, URZ, P1
    @P0 R2UR.BROADCAST UR4, R4
    MOV R8, UR4
  )",
                  {values}),
            105u);
}

// -1.5 and 5 in four bits: b and 6; the byte before them moves up.
TEST(Narrow, FourBits) {
  const Lanes low = same(0xbfc00000), high = same(0x40a00000);  // 5 is a tie between 4 and 6
  EXPECT_EQ(first("F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C R8, R5, R4, R6", {low, high, same(0x123456)}),
            0x1234566bu);
  EXPECT_EQ(first("F2FP.SATFINITE.RELU.E2M1.F32.PACK_AB_MERGE_C R8, R5, R4, RZ", {low, high}), 0x60u);
  EXPECT_EQ(first("F2FP.F16.E2M1.UNPACK_B R8, R4", {same(0x017f6bf8)}), 0xc6008000u);
  EXPECT_EQ(first("F2FP.F16.E2M1.UNPACK_B R8, R4.B1", {same(0x017f6bf8)}), 0x4400be00u);
  EXPECT_EQ(first("F2FP.RELU.F16.E2M1.UNPACK_B R8, R4.B1", {same(0x017f6bf8)}), 0x44000000u);
  EXPECT_EQ(first("F2FP.F16.E2M1.UNPACK_B R8, R4.B3", {same(0x017f6bf8)}), 0x00003800u);
}

TEST(Narrow, SixBits) {
  EXPECT_EQ(first("F2FP.SATFINITE.E2M3.F32.PACK_AB_MERGE_C R8, R5, R4, R6",
                  {same(0xbf800000), same(0x42c80000), same(0xabcd)}),
            0xabcd1f28u);  // -1, 100
  EXPECT_EQ(
      first("F2FP.SATFINITE.E3M2.F32.PACK_AB_MERGE_C R8, R5, R4, RZ", {same(0xbf800000), same(0x41e00000)}),
      0x1f2cu);
  EXPECT_EQ(first("F2FP.F16.E3M2.UNPACK_B R8, R4", {same(0x1f2c)}), 0x4f00bc00u);
  EXPECT_EQ(first("F2FP.F16.E2M3.UNPACK_B R8, R4.H1", {same(0x1f280000)}), 0x4780bc00u);
}

TEST(Narrow, Scales) {
  const Lanes low = same(0xc0400000), high = same(0x7f7fffff);  // -3, the largest single
  EXPECT_EQ(first("F2FP.E8.F32.PACK_AB_MERGE_C.RZ R8, R5, R4, R6", {low, high, same(0x77)}), 0x77fe80u);
  EXPECT_EQ(first("F2FP.E8.F32.PACK_AB_MERGE_C.RP R8, R5, R4, RZ", {low, high}), 0xff81u);
  EXPECT_EQ(first("F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP R8, R5, R4, RZ", {low, high}), 0xfe81u);
  EXPECT_EQ(
      first("F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP R8, R5, R4, RZ", {same(0x7fc00000), same(0x00400001)}),
      0x01ffu);
  EXPECT_EQ(first("F2FP.SATFINITE.E8.BF16.UNPACK_B_MERGE_C.RP R8, R4, RZ", {same(0x7f803f80)}), 0xfe7fu);
  EXPECT_EQ(first("F2FP.BF16.E8.UNPACK_B R8, R4", {same(0x0080)}), 0x00404000u);
  EXPECT_EQ(first("F2FP.BF16.E8.UNPACK_B R8, R4.H1", {same(0xff7f0000)}), 0x7fff3f80u);
}

TEST(Tiles, NibblesBecomeBytes) {
  Lanes nibbles(32);
  for (std::uint32_t l = 0; l < 32; ++l) {
    for (std::uint32_t i = 0; i < 8; ++i)
      nibbles[l] |= ((l / 4 + (l % 4) * 8 + i) & 15) << (4 * i);  // row + column
  }
  const auto got = compute("MOVM.U4TO8.M832 R8, R4", {nibbles}, 2);
  for (std::uint32_t l = 0; l < 32; ++l) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(got[half][l] >> (8 * i) & 0xff, (l / 4 + half * 16 + l % 4 * 4 + i) & 15) << l;
      }
    }
  }
}

/// c + the product of two matrices of ones and small numbers, exact in any arithmetic: one row of A and one column of B differ.
TEST(Tensor, EightBitFloats) {
  const char* lines = "QMMA.16832.F32.E4M3.E5M2 R8, R4, R12, RZ";
  // e4m3: 1.0 is 0x38, 2.0 is 0x40; e5m2: 1.0 is 0x3c, 0.5 is 0x38.
  Lanes a0(32, 0x38383838), b0(32, 0x3c3c3c3c);
  a0[4] = 0x38384040;  // row 1, columns 0 to 3
  b0[0] = 0x3c3c3c38;  // column 0, row 0
  const auto got =
      compute("MOV R12, R8\nMOV R13, R9\n" + std::string(lines),
              {a0, same(0x38383838), same(0x38383838), same(0x38383838), b0, same(0x3c3c3c3c)}, 4);
  EXPECT_EQ(got[0][0], bits(31.5f));  // row 0, column 0
  EXPECT_EQ(got[1][0], bits(32.0f));  // row 0, column 1
  EXPECT_EQ(got[0][4], bits(33.0f));  // row 1: 2 * 0.5 + 2 * 1 + 30
  EXPECT_EQ(got[1][4], bits(34.0f));
  EXPECT_EQ(got[2][0], bits(31.5f));  // row 8
}

}  // namespace
}  // namespace foretrace::emulate
