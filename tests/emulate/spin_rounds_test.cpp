// What a warp that waits costs the emulator: rounds of its loop that are tried.

#include <vector>

#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

// The first lane asks again and again while its warp's others wait for it, and tries what it finds once per turn of 65,536
// instructions: each round tried as well made ExLlamaV3's products ten times as slow to emulate.
TEST(SpinRounds, ARoundThatWasTriedInVainIsNotTriedAgainInATurn) {
  // The second warp writes 1, counts for more than a turn, and writes 2.
  Assembled a(R"(
    S2R R0, SR_TID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R5, 0x1
    MOV R7, 0x2
    MOV R8, RZ
    ISETP.GE.U32.AND P1, PT, R0, 0x20, PT
    @P1 BRA `(W)
    ISETP.NE.AND P1, PT, R0, RZ, PT
    BSSY B0, `(J)
    @P1 BRA `(J)
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.GE.U32.AND P0, PT, R4, 0x2, PT
    @!P0 BRA `(L)
  J:
    BSYNC B0
    EXIT
  W:
    STG.E.STRONG.GPU [R2.64], R5
  C:
    IADD3 R8, R8, 0x1, RZ
    ISETP.LT.AND P0, PT, R8, 0xc350, PT
    @P0 BRA `(C)
    STG.E.STRONG.GPU [R2.64], R7
    EXIT
  )",
              33, 2);
  a.buffer(0, {0}, "flag");
  work::BlockRecord record;
  const BlockCount count = a.run(&record);
  EXPECT_GT(count.instructions, 3 * 65'536u) << "the first warp has gone around for more than a turn";
  EXPECT_GT(count.rounds_tried, 0u);
  EXPECT_LT(count.rounds_tried, 20u);
  const work::Shapes shapes(a.program);
  work::WarpCursor cursor(shapes, record.warps[0]);
  std::vector<work::Awaited> by;
  int asked = 0;
  for (work::Step step; cursor.next(step);) {
    if (!shapes.of[step.index].waits) continue;
    ++asked;
    by.insert(by.end(), cursor.awaited().begin(), cursor.awaited().end());
  }
  EXPECT_LE(asked, 2) << "no round but the last is on record, and one within which a turn ended";
  EXPECT_EQ(by, (std::vector<work::Awaited>{{0, {0, 1, 1}, 0}}));
}

}  // namespace
}  // namespace foretrace::emulate
