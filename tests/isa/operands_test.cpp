// Registers by slot and width, and memory forms: the cases in which the printed operand does not say its width.
#include "model/isa/operands.h"

#include <gtest/gtest.h>

#include <ostream>

#include "model/isa/matrix_shapes.h"
#include "model/isa/parse.h"
#include "tests/isa/assemble.h"

namespace foretrace::isa {

bool operator==(const RegisterRange& a, const RegisterRange& b) {
  return a.first == b.first && a.count == b.count;
}
std::ostream& operator<<(std::ostream& out, const RegisterRange& r) {
  return out << 'R' << int{r.first} << '+' << int{r.count};
}

namespace {

constexpr RegisterRange kNone{};

Instruction text(std::string_view line) { return parse_text(line, 0, {{"L", 0}}, "k"); }
RegisterUse use(std::string_view line) { return register_use(text(line), 90); }
RegisterRange range(int first, int count) {
  return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
}
using Sources = std::array<RegisterRange, 3>;

TEST(RegisterUse, ThreeSourcesAndReuse) {
  const RegisterUse ffma = use("FFMA R4, R1.reuse, R2, R4");
  EXPECT_EQ(ffma.destination, range(4, 1));
  EXPECT_EQ(ffma.sources, (Sources{range(1, 1), range(2, 1), range(4, 1)}));
  EXPECT_EQ(ffma.reuse, (std::array{true, false, false}));
  EXPECT_FALSE(ffma.constant_operand);
}

TEST(RegisterUse, ImmediatesAndConstantsKeepTheirSlot) {
  EXPECT_EQ(use("IMAD R4, R1, 0x84, R6").sources, (Sources{range(1, 1), kNone, range(6, 1)}));
  const RegisterUse constant = use("FFMA R4, R1, c[0x0][0x168], R6");
  EXPECT_EQ(constant.sources, (Sources{range(1, 1), kNone, range(6, 1)}));
  EXPECT_TRUE(constant.constant_operand);
  EXPECT_FALSE(use("LDC R4, c[0x3][R6]").constant_operand);
  EXPECT_EQ(use("LDC.64 R4, c[0x3][R6]").sources[0], range(6, 1));
  EXPECT_EQ(use("LDC.64 R4, c[0x3][R6]").destination, range(4, 2));
}

TEST(RegisterUse, SlotsThatReuseBitsShow) {
  EXPECT_EQ(use("HADD2 R4, R1, R2").sources, (Sources{range(1, 1), kNone, range(2, 1)}));
  EXPECT_EQ(use("HFMA2 R4, R1, R2, R3").sources, (Sources{range(1, 1), range(2, 1), range(3, 1)}));
  EXPECT_EQ(use("MOV R4, R1").sources, (Sources{kNone, range(1, 1), kNone}));
}

TEST(RegisterUse, PredicatesTakeNoSlot) {
  const RegisterUse setp = use("ISETP.GE.AND P0, PT, R2, R3, PT");
  EXPECT_EQ(setp.destination, kNone);
  EXPECT_EQ(setp.sources, (Sources{range(2, 1), range(3, 1), kNone}));
  const RegisterUse add = use("IADD3 R0, P0, PT, R1, R2, RZ");
  EXPECT_EQ(add.destination, range(0, 1));
  EXPECT_EQ(add.sources, (Sources{range(1, 1), range(2, 1), kNone}));
  EXPECT_EQ(use("LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, !PT").destination, kNone);
  EXPECT_EQ(use("SHFL.UP P0, R5, R12, 0x1, RZ").destination, range(5, 1));
  EXPECT_EQ(use("R2UR UR4, R12").sources[0], range(12, 1));
  EXPECT_EQ(use("R2UR P1, URZ, R5").sources[0], range(5, 1));
}

TEST(RegisterUse, PairsThatAreNotPrintedAsSuch) {
  EXPECT_EQ(use("IMAD.WIDE R2, R4, 0x4, R6").destination, range(2, 2));
  EXPECT_EQ(use("IMAD.WIDE R2, R4, 0x4, R6").sources, (Sources{range(4, 1), kNone, range(6, 2)}));
  EXPECT_EQ(use("IMAD.HI R2, R4, R5, R6").destination, range(2, 1));
  EXPECT_EQ(use("IMAD.HI R2, R4, R5, R6").sources[2], range(6, 2));
  EXPECT_EQ(use("DFMA R2, R4, R6, R8").sources, (Sources{range(4, 2), range(6, 2), range(8, 2)}));
  EXPECT_EQ(use("DSETP.GT.AND P0, PT, R4, R6, PT").sources[1], range(6, 2));
  EXPECT_EQ(use("ISETP.GE.S64.AND P3, PT, R2, R4, PT").sources[0], range(2, 2));
  EXPECT_EQ(use("IADD.64 R2, R4, R6").destination, range(2, 2));
  EXPECT_EQ(use("CS2R R2, SRZ").destination, range(2, 2));
  EXPECT_EQ(use("CS2R.32 R2, SR_CLOCKLO").destination, range(2, 1));
  EXPECT_EQ(use("RET.REL.NODEC R6 `(L)").sources[0], range(6, 2));
  EXPECT_EQ(use("SHF.R.U64 R2, R4, 0x3, R5").destination, range(2, 1));
  EXPECT_EQ(use("MATCH.ANY.U64 R2, R4").sources[0], range(4, 2));
}

TEST(RegisterUse, Conversions) {
  EXPECT_EQ(use("F2F.F64.F32 R2, R4").destination, range(2, 2));
  EXPECT_EQ(use("F2F.F64.F32 R2, R4").sources[0], range(4, 1));
  EXPECT_EQ(use("F2F.F32.F64 R2, R4").sources[0], range(4, 2));
  EXPECT_EQ(use("F2I.F64.TRUNC R2, R4").destination, range(2, 1));
  EXPECT_EQ(use("F2I.F64.TRUNC R2, R4").sources[0], range(4, 2));
  EXPECT_EQ(use("F2I.U64.TRUNC R2, R4").destination, range(2, 2));
  EXPECT_EQ(use("F2I.U64.TRUNC R2, R4").sources[0], range(4, 1));
  EXPECT_EQ(use("I2F.F64 R2, R4").destination, range(2, 2));
  EXPECT_EQ(use("I2F.S64 R2, R4").sources[0], range(4, 2));
  EXPECT_EQ(use("I2F.S64 R2, R4").destination, range(2, 1));
  EXPECT_EQ(use("FRND.F64.FLOOR R2, R4").sources[0], range(4, 2));
}

TEST(RegisterUse, Memory) {
  EXPECT_EQ(use("LDG.E.128 R4, desc[UR4][R2.64]").destination, range(4, 4));
  EXPECT_EQ(use("LDG.E.128 R4, desc[UR4][R2.64]").sources[0], range(2, 2));
  EXPECT_EQ(use("STG.E.64 desc[UR4][R2.64], R8").sources, (Sources{range(2, 2), range(8, 2), kNone}));
  EXPECT_EQ(use("ATOMG.E.CAS.64 PT, R4, [R18+0x8], R6, R8").sources,
            (Sources{range(18, 2), range(6, 2), range(8, 2)}))
      << ".E makes the address a pair";
  EXPECT_EQ(use("STS.U8 [R2], R3").sources, (Sources{range(2, 1), range(3, 1), kNone}));
  EXPECT_EQ(use("LDGSTS.E.BYPASS.128 [R11], desc[UR12][R2.64]").sources,
            (Sources{range(11, 1), range(2, 2), kNone}));
  EXPECT_EQ(use("ATOMS.CAST.SPIN P0, [R5], R6, R7").destination, kNone) << "sm_120 returns a predicate";
  EXPECT_EQ(use("ATOMS.CAST.SPIN R4, [R5], R6, R7").destination, range(4, 1));
  const RegisterUse wide = use("LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]");
  EXPECT_EQ(wide.destination, range(12, 4));
  EXPECT_EQ(wide.second_destination, range(8, 4));
}

TEST(RegisterUse, MatrixFragments) {
  const RegisterUse half = use("HMMA.16816.F32 R16, R12, R8, R20");
  EXPECT_EQ(half.destination, range(16, 4));
  EXPECT_EQ(half.sources, (Sources{range(12, 4), range(8, 2), range(20, 4)}));
  EXPECT_EQ(use("HMMA.16816.F16 R16, R12, R8, R20").sources[2], range(20, 2));
  EXPECT_EQ(use("HMMA.1688.F32.TF32 R16, R12, R8, R20").sources[0], range(12, 4));
  EXPECT_EQ(use("HMMA.1688.F32 R16, R12, R8, R20").sources[0], range(12, 2));
  EXPECT_EQ(use("HMMA.SP.16832.F32 R12, R4, R8, R16, R2, 0x0").sources,
            (Sources{range(4, 4), range(8, 4), range(16, 4)}));
  EXPECT_EQ(use("IMMA.16832.S8.S8 R12, R4.ROW, R8.COL, R12").sources[1], range(8, 2));
  EXPECT_EQ(use("IMMA.8816.S8.S8 R12, R4.ROW, R8.COL, R12").destination, range(12, 2));
  EXPECT_EQ(use("DMMA.884 R16, R24, R10, R16").sources, (Sources{range(24, 2), range(10, 2), range(16, 4)}));
  EXPECT_EQ(use("HGMMA.64x128x16.F32 R24, R4, gdesc[UR8], R24, gsb0").destination, range(24, 64));
  EXPECT_EQ(use("HGMMA.64x128x16.F32 R24, R4, gdesc[UR8], R24, gsb0").sources[0], range(4, 4));
  EXPECT_EQ(use("HGMMA.64x8x16.F32 R24, gdesc[UR8], R28, !UPT, gsb0").sources[1], range(28, 4));
  EXPECT_EQ(use("LDSM.16.MT88.2 R8, [R2]").destination, range(8, 2));
  EXPECT_EQ(use("LDSM.16.M88 R8, [R2]").destination, range(8, 1));
}

MemoryForm form(std::string_view line) {
  MemoryForm out;
  EXPECT_TRUE(memory_form(text(line), out)) << line;
  return out;
}

TEST(MemoryForm, SpacesAndKinds) {
  EXPECT_EQ(form("LDG.E R4, desc[UR4][R2.64]").space, Space::global);
  EXPECT_EQ(form("LD.E R4, desc[UR4][R2.64]").space, Space::generic);
  EXPECT_EQ(form("STL [R1], R4").space, Space::local);
  EXPECT_EQ(form("ATOMS.ADD R4, [R1], R2").access, Access::atomic);
  EXPECT_EQ(form("RED.E.ADD.STRONG.GPU [R2.64], R4").access, Access::reduction);
  EXPECT_EQ(form("RED.E.ADD.STRONG.GPU [R2.64], R4").space, Space::global);
  const MemoryForm copy = form("LDGSTS.E.BYPASS.128 [R11], desc[UR12][R2.64]");
  EXPECT_EQ(copy.access, Access::async_copy);
  EXPECT_EQ(copy.address_sets, 2);
  EXPECT_EQ(copy.bytes, 16);
  const MemoryForm matrix = form("LDSM.16.M88.4 R12, [R26]");
  EXPECT_EQ(matrix.access, Access::matrix_load);
  EXPECT_EQ(matrix.matrices, 4);
  EXPECT_EQ(matrix.bytes, 16);
  MemoryForm ignored;
  for (const char* line : {"LDC R4, c[0x3][R6]", "CCTL.IVALL", "FFMA R4, R1, c[0x0][0x168], R6", "LDGDEPBAR",
                           "SYNCS.CCTL.IV [UR4]", "UTMALDG.2D [UR4], [UR10]"}) {
    EXPECT_FALSE(memory_form(text(line), ignored)) << line;
  }
}

TEST(MemoryForm, Bytes) {
  EXPECT_EQ(form("LDG.E.U8 R4, desc[UR4][R2.64]").bytes, 1);
  EXPECT_EQ(form("LDG.E.S16 R4, desc[UR4][R2.64]").bytes, 2);
  EXPECT_EQ(form("LDG.E R4, desc[UR4][R2.64]").bytes, 4);
  EXPECT_EQ(form("STS.128 [R2], R4").bytes, 16);
  EXPECT_EQ(form("LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]").bytes, 32);
  EXPECT_EQ(form("REDG.E.ADD.F64.RN.STRONG.GPU desc[UR4][R2.64], R4").bytes, 8);
  EXPECT_EQ(form("ATOMG.E.MIN.S64.STRONG.GPU PT, R4, desc[UR4][R2.64], R6").bytes, 8);
  EXPECT_EQ(form("ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, desc[UR8][R14.64], R17").bytes, 4);
}

TEST(MemoryForm, UniformAndStrong) {
  EXPECT_TRUE(form("LDS R4, [UR4+0x10]").uniform_address);
  EXPECT_TRUE(form("LDS R4, [0x10]").uniform_address);
  EXPECT_TRUE(form("LDG.E R4, [RZ.U32+UR4]").uniform_address);
  EXPECT_FALSE(form("LDS R4, [R2+UR4]").uniform_address);
  EXPECT_TRUE(form("LDG.E.STRONG.SYS R4, desc[UR4][R2.64]").strong);
  EXPECT_FALSE(form("LDG.E.STRONG.SM R4, desc[UR4][R2.64]").strong);
  EXPECT_FALSE(form("LDG.E R4, desc[UR4][R2.64]").strong);
}

TEST(MatrixShape, AllSpellings) {
  const auto shape = [](std::string_view line) {
    MatrixShape out;
    return matrix_shape(text(line), out) ? std::array{out.m, out.n, out.k} : std::array{0, 0, 0};
  };
  EXPECT_EQ(shape("HMMA.16816.F32 R0, R4, R8, R0"), (std::array{16, 8, 16}));
  EXPECT_EQ(shape("HMMA.1684.F32.TF32 R0, R4, R8, R0"), (std::array{16, 8, 4}));
  EXPECT_EQ(shape("DMMA.884 R0, R4, R8, R0"), (std::array{8, 8, 4}));
  EXPECT_EQ(shape("DMMA.8x8x4 R0, R4, R8, R0"), (std::array{8, 8, 4}));
  EXPECT_EQ(shape("BMMA.168256.AND.POPC R0, R4, R8, R0"), (std::array{16, 8, 256}));
  EXPECT_EQ(shape("IMMA.8816.S8.S8 R0, R4, R8, R0"), (std::array{8, 8, 16}));
  EXPECT_EQ(shape("FFMA R0, R4, R8, R0"), (std::array{0, 0, 0}));
}

TEST(MatrixShape, ProductsOfDoublesAreNotThoseThatLowerTheClock) {
  EXPECT_TRUE(makes_products(assemble("FFMA R0, R4, R8, R0\nHMMA.16816.F32 R0, R4, R8, R0")));
  EXPECT_TRUE(makes_products(assemble("IMMA.16832.S8.S8 R0, R4.ROW, R8.COL, R0")));
  EXPECT_TRUE(makes_products(assemble("HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0")));
  EXPECT_FALSE(makes_products(assemble("FFMA R0, R4, R8, R0\nDMMA.8x8x4 R0, R4, R8, R0")));
}

}  // namespace
}  // namespace foretrace::isa
