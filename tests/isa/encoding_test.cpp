// The 128-bit word: bit fields, control bits, and that a printed operand which contradicts it makes it opaque.
#include "model/isa/encoding.h"

#include <gtest/gtest.h>

namespace foretrace::isa {
namespace {

Instruction decode(Word word, std::string_view line, std::uint32_t offset = 0, int sm = 90,
                   const Labels& labels = {}) {
  return parse_instruction(word, line, offset, sm, labels);
}

TEST(Word, BitsCrossTheMiddle) {
  const Word word{0x8000000000000001u, 0x3u};
  EXPECT_EQ(word.bits(0, 1), 1u);
  EXPECT_EQ(word.bits(1, 62), 0u);
  EXPECT_EQ(word.bits(63, 3), 7u);
  EXPECT_EQ(word.bits(64, 64), 3u);
  EXPECT_EQ(word.bits(0, 64), 0x8000000000000001u);
}

// Two lines of our own corpus, fields worked out by hand.
TEST(ControlBits, FromTheWord) {
  // S2R R11, SR_TID.X (sm_90): writes scoreboard 0, waits for none.
  const ControlBits load = control_bits({0x00000a00ff017b82u, 0x000fe20000000800u});
  EXPECT_EQ(load.stall, 1);
  EXPECT_FALSE(load.yield);
  EXPECT_EQ(load.write_barrier, 7);
  EXPECT_EQ(load.read_barrier, 7);
  EXPECT_EQ(load.wait_mask, 0);
  // IMAD R5, R9, UR4, R10 behind an S2R on scoreboard 0.
  const ControlBits waits = control_bits({0x0000000409057c24u, 0x001fe2000f8e020au});
  EXPECT_EQ(waits.wait_mask, 0b000001);
  EXPECT_EQ(waits.stall, 1);
  // LDG.E R3 sets scoreboard 2 (0x...ea2...).
  const ControlBits global = control_bits({0x0000000402037981u, 0x000ea2000c1e1900u});
  EXPECT_EQ(global.write_barrier, 2);
  EXPECT_EQ(global.read_barrier, 7);
  // STG.E releases its sources through scoreboard 0 and waits for scoreboard 0.
  const ControlBits store = control_bits({0x0000000902007986u, 0x0011e2000c101904u});
  EXPECT_EQ(store.read_barrier, 0);
  EXPECT_EQ(store.write_barrier, 7);
  EXPECT_EQ(store.wait_mask, 0b000001);
  // IMAD R7, R9, 0x84, R6.reuse: third slot.
  EXPECT_EQ(control_bits({0x0000008409077824u, 0x100fe400078e0206u}).reuse, 0b100);
  // IMAD.WIDE R2, R5, 0x4, R2, six cycles and the yield bit clear.
  const ControlBits yields = control_bits({0x0000000405027825u, 0x002fcc00078e0202u});
  EXPECT_TRUE(yields.yield);
  EXPECT_EQ(yields.stall, 6);
  EXPECT_EQ(yields.wait_mask, 0b000010);
}

TEST(Settle, FloatsComeFromTheBits) {
  // FSEL R3, R3, -QNAN: the payload is not printed.
  const Instruction in = decode({0xfff0000003037808u, 0x000fce0000000000u}, "FSEL R3, R3, -QNAN , P0");
  EXPECT_EQ(in.operands[2].value, 0xfff00000u);
}

TEST(Settle, RefusesAFloatThatIsNotEncoded) {
  // DADD R4, R16, +INF holds 0x7ff00000.
  const Word word{0x7ff0000010047429u, 0x000e240000000000u};
  EXPECT_EQ(decode(word, "DADD R4, R16, +INF ").operands[2].value, 0x7ff0000000000000u);
  EXPECT_FALSE(decode(word, "DADD R4, R16, 1.5").opaque.empty());
}

TEST(Settle, RefusesAnIntegerThatIsNotEncoded) {
  const Word word{0x0000008409077824u, 0x100fe400078e0206u};
  EXPECT_EQ(decode(word, "IMAD R7, R9, 0x84, R6.reuse").operands[2].value, 0x84u);
  EXPECT_FALSE(decode(word, "IMAD R7, R9, 0x85, R6.reuse").opaque.empty());
  // MOV.64: bits 24..87.
  const Word wide{0x47652b82fe027402u, 0x001fe400003ff715u};
  EXPECT_EQ(decode(wide, "MOV.64 R2, 0x3ff71547652b82fe", 0, 120).operands[1].value, 0x3ff71547652b82feu);
  EXPECT_FALSE(decode(wide, "MOV.64 R2, 0x3ff71547652b82ff", 0, 120).opaque.empty());
}

TEST(Settle, RefusesAConstantThatIsNotEncoded) {
  const Word word{0x00000a00ff017b82u, 0x000fe20000000800u};
  EXPECT_EQ(decode(word, "LDC R1, c[0x0][0x28]").operands[1].offset, 0x28);
  EXPECT_FALSE(decode(word, "LDC R1, c[0x0][0x2c]").opaque.empty());
  EXPECT_FALSE(decode(word, "LDC R1, c[0x1][0x28]").opaque.empty());
}

TEST(Settle, RefusesAGuardThatIsNotEncoded) {
  const Word exits_p0{0x000000000000094du, 0x000fea0003800000u};
  EXPECT_EQ(decode(exits_p0, "@P0 EXIT").guard, 0);
  EXPECT_FALSE(decode(exits_p0, "@!P0 EXIT").opaque.empty());
  EXPECT_FALSE(decode(exits_p0, "EXIT").opaque.empty());
}

TEST(Settle, RefusesASpecialRegisterThatIsNotEncoded) {
  const Word word{0x0000000000097919u, 0x000e2e0000002200u};
  EXPECT_EQ(decode(word, "S2R R9, SR_TID.Y").operands[1].value, 34u);
  EXPECT_FALSE(decode(word, "S2R R9, SR_TID.X").opaque.empty());
}

TEST(Target, CountsFromTheNextInstruction) {
  const Labels labels = {{"here", 0x200}, {"there", 0x210}};
  // `here: BRA here` at 0x200. sm_90 keeps the low bits of the distance at 16..23, sm_80 has them at 34.
  const Word later{0xfffffffc00fc7947u, 0x000fc0000383ffffu};
  const Word ampere{0xfffffff000007947u, 0x000fc0000383ffffu};
  EXPECT_EQ(decode(later, "BRA `(here)", 0x200, 90, labels).operands[0].value, 0x200u);
  EXPECT_EQ(decode(ampere, "BRA `(here)", 0x200, 80, labels).operands[0].value, 0x200u);
  EXPECT_FALSE(decode(later, "BRA `(there)", 0x200, 90, labels).opaque.empty());
  EXPECT_FALSE(decode(ampere, "BRA `(there)", 0x200, 80, labels).opaque.empty());
}

TEST(FloatBits, RoundToTheirWidth) {
  EXPECT_EQ(float_bits("0.1", FloatFormat::f32), 0x3dcccccdu);
  EXPECT_EQ(float_bits("-0.0", FloatFormat::f32), 0x80000000u);
  EXPECT_EQ(float_bits("0.1", FloatFormat::f64), 0x3fb999999999999au);
  EXPECT_EQ(float_bits("65520", FloatFormat::f16x2), 0x7c00u)
      << "half way beyond the largest half rounds to infinity";
  EXPECT_EQ(float_bits("65519", FloatFormat::f16x2), 0x7bffu);
  EXPECT_EQ(float_bits("6.103515625e-05", FloatFormat::f16x2), 0x0400u) << "the smallest normal";
  EXPECT_EQ(float_bits("6.097555160522461e-05", FloatFormat::f16x2), 0x03ffu) << "the largest subnormal";
  EXPECT_EQ(float_bits("+INF", FloatFormat::bf16x2), 0x7f80u);
  EXPECT_EQ(float_bits("1.5", FloatFormat::f64_high), 0x3ff80000u);
}

// sm_90, from ptxas: cvt, ex2 and tanh of constants.
TEST(FloatFormat, ConversionsOfHalvesHaveAHalfInTheWord) {
  const auto value = [](Word word, std::string_view line) {
    const Instruction in = decode(word, line);
    EXPECT_TRUE(in.opaque.empty()) << in.opaque;
    return in.operands[1].value;
  };
  EXPECT_EQ(value({0x0000404900007907u, 0x000fe2000040e000u}, "FRND.BF16.TRUNC R0, 3.140625"), 0x4049u);
  EXPECT_EQ(value({0x0000424800087907u, 0x000e220000100800u}, "FRND.F16 R8, 3.140625"), 0x4248u);
  EXPECT_EQ(value({0x00004049000c7904u, 0x000fe20000400800u}, "F2F.F16.BF16 R12, 3.140625"), 0x4049u);
  EXPECT_EQ(value({0x00004248000d7904u, 0x000e220000102000u}, "F2F.BF16.F16 R13, 3.140625"), 0x4248u);
  EXPECT_EQ(value({0x0000424800097908u, 0x000e700000000900u}, "MUFU.EX2.F16 R9, 3.140625"), 0x4248u);
  EXPECT_EQ(value({0x00004049000a7908u, 0x000fe20000002600u}, "MUFU.TANH.BF16 R10, 3.140625"), 0x4049u);
}

}  // namespace
}  // namespace foretrace::isa
