// Whose products decide: programs that differ in what becomes of a product's result.
#include "model/isa/product_flow.h"

#include <gtest/gtest.h>

#include "tests/isa/assemble.h"

namespace foretrace::isa {
namespace {

/// A loop of products whose registers were addresses before and are a counter's after; `then` behind it.
std::string after_the_loop(const std::string& then) {
  return R"(
    LDC.64 R8, c[0x0][0x210]
    LDG.E R2, desc[UR4][R8.64]
    MOV R30, 0x10
  L:
    LDSM.16.M88.4 R20, [R31]
    HMMA.16816.F32.BF16 R8, R20, R24, R8
    IADD3 R30, R30, -0x1, RZ
    ISETP.NE.AND P0, PT, R30, RZ, PT
    @P0 BRA `(L)
)" + then +
         "\n    EXIT\n";
}
bool decides(const std::string& then) { return products_decide(assemble(after_the_loop(then))); }

TEST(ProductFlow, AStoredResultDecidesNothing) {
  EXPECT_FALSE(decides("STG.E.128 desc[UR4][R40.64], R8"));
  EXPECT_FALSE(decides("FMUL R8, R8, R9\nF2FP.BF16.F32.PACK_AB R8, R9, R8\nSTS [R41], R8"));
  EXPECT_FALSE(decides("FSETP.GT.AND P1, PT, R8, RZ, PT\nFSEL R8, R8, RZ, P1\nSTG.E desc[UR4][R40.64], R8"));
}

TEST(ProductFlow, AnAddressDoes) {
  EXPECT_TRUE(decides("STG.E desc[UR4][R8.64], R2"));
  EXPECT_TRUE(decides("STG.E desc[UR4][R10.64], R2"));
  EXPECT_FALSE(decides("STG.E desc[UR4][R12.64], R2")) << "beyond the four registers of the result";
  EXPECT_TRUE(decides("F2I.TRUNC.NTZ R5, R11\nLEA R5, R5, R40, 0x2\nLDS R6, [R5]"));
  EXPECT_TRUE(decides("R2UR UR6, R8\nLDG.E R2, desc[UR6][R40.64]"));
  EXPECT_TRUE(decides("LDC R5, c[0x3][R8]"));
}

TEST(ProductFlow, AGuardDoesAndABranch) {
  const std::string compared = "FSETP.GT.AND P1, PT, R8, RZ, PT\n";
  EXPECT_TRUE(decides(compared + "@P1 STG.E desc[UR4][R40.64], R2"));
  EXPECT_TRUE(decides(compared + "@!P1 EXIT"));
  EXPECT_TRUE(decides(compared + "PLOP3.LUT P2, PT, P1, PT, PT, 0x80, 0x0\n@P2 EXIT"));
  EXPECT_TRUE(decides(compared + "VOTE.ANY P3, P1\n@P3 EXIT"));
  EXPECT_FALSE(decides(compared + "ISETP.GT.AND P1, PT, R30, RZ, PT\n@P1 EXIT")) << "P1 is another value";
  EXPECT_TRUE(decides(compared + "@P0 ISETP.GT.AND P1, PT, R30, RZ, PT\n@P1 EXIT")) << "not in all lanes";
}

TEST(ProductFlow, WhatWasInMemoryIsFollowed) {
  EXPECT_TRUE(decides("STS [R41], R8\nLDS R5, [R42]\nSTG.E desc[UR4][R5.64], R2"));
  EXPECT_FALSE(decides("STS [R41], R8\nLDS R5, [R42]\nSTG.E desc[UR4][R40.64], R5"));
  EXPECT_FALSE(decides("STS [R41], R8\nLDL R5, [R42]\nLDS R6, [R5]")) << "local memory is another";
  EXPECT_TRUE(decides("ST.E desc[UR4][R40.64], R8\nLDL R5, [R42]\nLDS R6, [R5]"))
      << "a generic store may be local";
  // The load stands before the store in the code, and comes after it in time.
  EXPECT_TRUE(products_decide(assemble(R"(
  L:
    LDS R5, [R42]
    STG.E desc[UR4][R5.64], R2
    HMMA.16816.F32.BF16 R8, R20, R24, R8
    STS [R41], R8
    BRA `(L)
)")));
}

TEST(ProductFlow, WhatIsNotFollowedDecides) {
  EXPECT_TRUE(decides("BRX R40 -0x100"));
  EXPECT_TRUE(decides("CALL.ABS.NOINC R40"));
  EXPECT_FALSE(products_decide(assemble("BRX R40 -0x100\nEXIT\n"))) << "no products";
}

}  // namespace
}  // namespace foretrace::isa
