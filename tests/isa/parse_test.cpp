// The printed forms of nvdisasm, one trap per test. Texts without a word are checked for what they print; texts with one
// are lines of our corpus.
#include "model/isa/parse.h"

#include <gtest/gtest.h>

#include "model/units/error.h"

namespace foretrace::isa {
namespace {

Instruction text(std::string_view line) {
  return parse_text(line, 0x40, {{".L_x_1", 0x100}, {"kernel", 0}}, "k");
}

std::string error_of(std::string_view line) {
  try {
    text(line);
  } catch (const InputError& error) { return error.what(); }
  return "no error";
}

TEST(Opcodes, NamesRoundTrip) {
  for (int i = 0; i < static_cast<int>(Opcode::count); ++i) {
    Opcode opcode{};
    ASSERT_TRUE(opcode_from_name(name_of(static_cast<Opcode>(i)), opcode));
    EXPECT_EQ(static_cast<int>(opcode), i);
  }
  Opcode opcode{};
  EXPECT_FALSE(opcode_from_name("FFMA3", opcode));
  EXPECT_FALSE(opcode_from_name("", opcode));
}

TEST(Parse, MnemonicGuardAndModifiers) {
  const Instruction in = text("@!P2      LDG.E.64.STRONG.GPU R4, desc[UR6][R2.64+-0x10] ;");
  EXPECT_EQ(in.opcode, Opcode::LDG);
  EXPECT_EQ(in.guard, 2);
  EXPECT_TRUE(in.guard_negate);
  EXPECT_FALSE(in.guard_uniform);
  EXPECT_TRUE(in.guarded());
  EXPECT_EQ(in.modifiers, (std::vector<std::string>{"E", "64", "STRONG", "GPU"}));
  EXPECT_TRUE(in.has("STRONG"));
  EXPECT_FALSE(in.has("SYS"));
  EXPECT_EQ(in.text, "@!P2 LDG.E.64.STRONG.GPU R4, desc[UR6][R2.64+-0x10]");
  EXPECT_FALSE(text("NOP;").guarded());
  EXPECT_TRUE(text("@!PT LDS RZ, [RZ]").guarded()) << "!PT holds back every lane";
  const Instruction uniform = text("@!UP1 SYNCS.EXCH.64 URZ, [UR8], UR4");
  EXPECT_EQ(uniform.guard, 1);
  EXPECT_TRUE(uniform.guard_uniform);
}

TEST(Parse, MemoryOperands) {
  const Operand described = text("LDG.E R4, desc[UR6][R2.64+-0x10]").operands[1];
  EXPECT_EQ(described.kind, OperandKind::memory);
  EXPECT_EQ(described.descriptor, 6);
  EXPECT_EQ(described.base, 2);
  EXPECT_EQ(described.base_suffix, "64");
  EXPECT_TRUE(described.wide);
  EXPECT_EQ(described.offset, -16);
  EXPECT_EQ(described.uniform_base, -1);

  const Operand scaled = text("LDS.128 R4, [R0.X16+0x10]").operands[1];
  EXPECT_EQ(scaled.base_suffix, "X16");
  EXPECT_FALSE(scaled.wide);
  EXPECT_EQ(scaled.offset, 16);

  const Operand absolute = text("STS.64 [0xa00], R4").operands[0];
  EXPECT_EQ(absolute.base, -1);
  EXPECT_EQ(absolute.offset, 0xa00);

  const Operand uniform = text("LDS R3, [UR4+0x18]").operands[1];
  EXPECT_EQ(uniform.base, -1);
  EXPECT_EQ(uniform.uniform_base, 4);
  EXPECT_EQ(uniform.offset, 0x18);

  const Operand both = text("LDG.E R0, [R2.U32+UR4+0x8]").operands[1];
  EXPECT_EQ(both.base, 2);
  EXPECT_EQ(both.base_suffix, "U32");
  EXPECT_EQ(both.uniform_base, 4);
  EXPECT_EQ(both.offset, 8);

  EXPECT_EQ(text("LDS RZ, [RZ]").operands[1].base, kRz);
  EXPECT_EQ(text("ATOMS.POPC.INC.32 RZ, [URZ]").operands[1].uniform_base, kUrz);
}

TEST(Parse, ConstantOperands) {
  const Operand plain = text("IMAD.MOV R5, RZ, RZ, -c[0x0][0x168]").operands[3];
  EXPECT_EQ(plain.kind, OperandKind::constant);
  EXPECT_TRUE(plain.negate);
  EXPECT_EQ(plain.bank, 0);
  EXPECT_EQ(plain.offset, 0x168);

  const Operand indexed = text("LDC R4, c[0x2][R0+0x10]").operands[1];
  EXPECT_EQ(indexed.bank, 2);
  EXPECT_EQ(indexed.base, 0);
  EXPECT_EQ(indexed.offset, 0x10);

  EXPECT_EQ(text("ULDC.64 UR8, c[0x3][-0x8000]").operands[1].offset, 0x8000);
  EXPECT_EQ(text("ULDC UR8, c[0x3][-0x4]").operands[1].offset, 0xfffc);
  EXPECT_EQ(text("LDC R4, c[0x3][R0+-0x4]").operands[1].offset, -4);
  EXPECT_EQ(text("LDCU.64 UR4, c[0x4][URZ]").operands[1].uniform_base, kUrz);

  const Operand sign = text("PLOP3.LUT P0, PT, c[0x0] [0x168].SIGN, PT, PT, 0x8, 0x0").operands[2];
  EXPECT_EQ(sign.offset, 0x168);
  EXPECT_EQ(sign.suffix, "SIGN");
}

TEST(Parse, RegisterDecorations) {
  const Instruction half = text("HADD2.F32 R3, -RZ, |R14|.reuse.H0_H0");
  EXPECT_TRUE(half.operands[1].negate);
  EXPECT_EQ(half.operands[1].index, kRz);
  EXPECT_TRUE(half.operands[2].absolute);
  EXPECT_TRUE(half.operands[2].reuse);
  EXPECT_EQ(half.operands[2].suffix, "H0_H0");
  EXPECT_EQ(half.operands[2].index, 14);

  EXPECT_TRUE(text("IMAD.X R21, R17, 0x1, ~R3, P0").operands[3].invert);
  EXPECT_TRUE(text("IADD3.X R2, PT, PT, R24, RZ, RZ, P2, !PT").operands[7].negate);
  const Instruction matrix = text("IMMA.16832.S8.S8 R12, R4.ROW, R8.COL, R12");
  EXPECT_EQ(matrix.operands[1].suffix, "ROW");
  EXPECT_EQ(matrix.operands[2].suffix, "COL");
}

TEST(Parse, IntegersAreSignExtended) {
  EXPECT_EQ(text("ISETP.GT.U32.AND P0, PT, R2, -0x65432110, PT").operands[3].value, 0xffffffff9abcdef0u);
  EXPECT_EQ(text("LOP3.LUT R2, R2, 0x80000000, RZ, 0xc0, !PT").operands[2].value, 0x80000000u);
  EXPECT_EQ(text("MOV.64 R2, 0x789abcdef1067402").operands[1].value, 0x789abcdef1067402u);
  EXPECT_FALSE(text("MOV R2, 0x10").operands[1].is_float);
}

TEST(Parse, FloatsWithoutAPointAreFloats) {
  const Operand one = text("FADD R2, R0, 1").operands[2];
  EXPECT_TRUE(one.is_float);
  EXPECT_EQ(one.value, 0x3f800000u);
  EXPECT_EQ(text("DFMA R4, -R14, R2, 1").operands[3].value, 0x3ff0000000000000u);
  EXPECT_EQ(text("FSEL R2, R2, -INF , P2").operands[2].value, 0xff800000u);
  EXPECT_EQ(text("DSETP.NEU.AND P2, PT, |R10|, +INF , PT").operands.size(), 5u);
  EXPECT_EQ(text("DSETP.NEU.AND P2, PT, |R10|, +INF , PT").operands[3].value, 0x7ff0000000000000u);
  EXPECT_EQ(text("MUFU.RCP64H R7, 3").operands[1].value, 0x40080000u) << "the high word of the double 3";
  EXPECT_EQ(text("F2F.F64.F32 R2, 1.5").operands[1].value, 0x3fc00000u) << "the source is a float";
}

TEST(Parse, HalfPairsBecomeOneOperand) {
  const Instruction in = text("HFMA2.MMA R22, R17.reuse, 1, -2, R6");
  ASSERT_EQ(in.operands.size(), 4u);
  EXPECT_EQ(in.operands[2].value, 0x3c00c000u) << "the first printed is the high half";
  EXPECT_TRUE(in.operands[2].is_float);
  EXPECT_EQ(text("HFMA2 R3, -RZ, RZ, 0, 5.9604644775390625e-08").operands[3].value, 1u) << "a subnormal";
  EXPECT_EQ(text("HFMA2 R3, -RZ, RZ, -0.0, 65504").operands[3].value, 0x80007bffu);
  EXPECT_EQ(text("HFMA2.BF16_V2 R0, R16, 1, -3.5, R33").operands[2].value, 0x3f80c060u);
}

TEST(Parse, ControlFlow) {
  const Instruction branch = text("@P0 BRA !P1, `(.L_x_1)");
  ASSERT_EQ(branch.operands.size(), 2u);
  EXPECT_EQ(branch.operands[0].kind, OperandKind::predicate);
  EXPECT_TRUE(branch.operands[0].negate);
  EXPECT_EQ(branch.operands[1].kind, OperandKind::label);
  EXPECT_EQ(branch.operands[1].value, 0x100u);

  const Instruction indirect = text("BRX R4 -0xe0      (*\"BRANCH_TARGETS .L_x_46,.L_x_1\"*)");
  ASSERT_EQ(indirect.operands.size(), 2u);
  EXPECT_EQ(indirect.operands[0].index, 4);
  EXPECT_EQ(static_cast<std::int64_t>(indirect.operands[1].value), -0xe0);
  EXPECT_EQ(indirect.text, "BRX R4 -0xe0");

  const Instruction back = text("RET.REL.NODEC R6 `(kernel)");
  ASSERT_EQ(back.operands.size(), 2u);
  EXPECT_EQ(back.operands[1].kind, OperandKind::label);
  EXPECT_EQ(back.operands[1].value, 0u);

  EXPECT_EQ(text("BSSY.RECONVERGENT B7, `(.L_x_1)").operands[0].kind, OperandKind::convergence_barrier);
  EXPECT_EQ(text("BRA.DIV ~URZ, `(.L_x_1)").operands[0].kind, OperandKind::uniform_register);
  EXPECT_TRUE(text("BRA.DIV ~URZ, `(.L_x_1)").operands[0].invert);
}

TEST(Parse, OneHalfOfAFloat) {
  const Operand scales = text("F2FP.BF16.E4M3.UNPACK_B R5, R4, 4.5736980577097704378e-41.H0").operands[2];
  EXPECT_EQ(scales.kind, OperandKind::immediate);
  EXPECT_EQ(scales.value, 0x7f7fu);
  EXPECT_EQ(scales.suffix, "H0");
  const Operand upper = text("F2FP.BF16.E4M3.UNPACK_B R5, R4, -1.5.H1").operands[2];
  EXPECT_EQ(upper.value, 0xbfc00000u);
  EXPECT_FALSE(upper.negate) << "the sign is the number's";
  EXPECT_EQ(upper.suffix, "H1");
}

TEST(Parse, OddOperands) {
  const Instruction wait = text("DEPBAR.LE SB0, 0x0, {3,1}");
  EXPECT_EQ(wait.operands[0].kind, OperandKind::scoreboard);
  EXPECT_EQ(wait.operands[2].kind, OperandKind::scoreboard_list);
  EXPECT_EQ(wait.operands[2].value, 0b1010u);
  EXPECT_EQ(text("S2R R5, SR_TID.X").operands[1].value, 33u);
  EXPECT_EQ(text("CS2R R8, SRZ").operands[1].value, 255u);
  EXPECT_EQ(text("R2P PR, R0, 0x3").operands[0].text, "PR");
  EXPECT_EQ(text("UP2UR.B3 UR62, UPR, UR62, 0xff").operands[1].text, "UPR");
  EXPECT_EQ(text("HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0").operands[1].index, 8);
  const Operand described = text("HGMMA.64x64x16.F32 R24, gdesc[UR12].negA.tnspB, R24, UP0").operands[1];
  EXPECT_EQ(described.index, 12);
  EXPECT_EQ(described.suffix, "negA.tnspB");
  EXPECT_EQ(text("RPCMOV.32 Rpc.LO, R5").operands[0].text, "Rpc.LO");
}

TEST(Parse, RefusesByNameAndPlace) {
  EXPECT_EQ(error_of("FROB R1, R2"), "k, offset 0x40: 'FROB R1, R2': unknown instruction FROB");
  for (const std::string name : {"UTCATOMSWS", "UTCHMMA", "LDTM", "STTM", "UVIRTCOUNT"})
    EXPECT_TRUE(
        error_of(name + " R1")
            .ends_with("unknown instruction " + name + ": tcgen05 and tensor memory are not executed"))
        << error_of(name + " R1");
  EXPECT_NE(error_of("MOV R1, a[0x10]").find("operand 'a[0x10]' has a form that is not understood"),
            std::string::npos);
  EXPECT_NE(error_of("MOV R1, R256").find("'R256'"), std::string::npos);
  EXPECT_NE(error_of("MOV R1, R2.FOO.").find("R2.FOO."), std::string::npos) << "an empty suffix";
  EXPECT_NE(error_of("LDS R1, [R2.X3]").find("address register 'R2.X3'"), std::string::npos);
  EXPECT_NE(error_of("LDS R1, [R2+R3]").find("address term 'R3'"), std::string::npos);
  EXPECT_NE(error_of("BRA `(.L_x_2)").find("lies outside this kernel's section"), std::string::npos);
  EXPECT_NE(error_of("MOV R2, 32@lo(counter)").find("needs a linker"), std::string::npos);
  EXPECT_NE(error_of("IADD3 R1, R2, 1.5, RZ").find("'1.5' is a float"), std::string::npos);
  EXPECT_NE(error_of("HFMA2 R1, R2, 1.5, R3").find("come in pairs"), std::string::npos);
  EXPECT_NE(error_of("MOV R1, , R2").find("operand is missing"), std::string::npos);
  EXPECT_NE(error_of("@Q0 EXIT").find("guard 'Q0'"), std::string::npos);
  EXPECT_NE(error_of("LDS R1, [R2").find("brackets"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::isa
