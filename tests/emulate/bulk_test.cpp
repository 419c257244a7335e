// What a bulk copy leaves behind: the bytes, and a record of them whatever the size, the guard and the lanes that start it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

std::string hex(int n) { return fmt::format("{:x}", n); }

/// Copies `pieces` times 16 bytes from shared memory, where word i is i, to the buffer; lanes from `first` on start it.
std::string copies_out(int pieces, const std::string& guard, int first = 0) {
  return R"(
    S2R R0, SR_TID.X
    MOV R1, 0x0
  FILL:
    STS [R1], R1
    IADD3 R1, R1, 0x4, RZ
    ISETP.LT.AND P0, PT, R1, 0x800, PT
    @P0 BRA `(FILL)
    ISETP.LT.AND P1, PT, R0, 0x)" +
         hex(first) + R"(, PT
    @P1 EXIT
    ISETP.EQ.AND P2, PT, R0, R0, PT
    ULDC.64 UR4, c[0x0][0x210]
    UMOV UR6, 0x0
    UMOV UR7, 0x)" +
         hex(pieces) + "\n" + guard + R"(UBLKCP.G.S [UR4], [UR6], UR7
    EXIT
  )";
}

/// The steps that copy, what they move, and the words that have arrived.
struct Copied {
  std::vector<work::Step> steps;
  std::vector<work::Transfer> moved;
  std::vector<std::uint32_t> words;
  std::uint64_t to = 0;
};

Copied copy(int pieces, const std::string& guard, int first = 0) {
  Assembled a(copies_out(pieces, guard, first), 32, 2, 90);
  a.program.static_shared = 4096;
  Copied result;
  result.to = a.buffer(0, std::vector<std::uint32_t>(512, 1), "out");
  work::BlockRecord record;
  a.run(&record);
  const work::Shapes shapes(a.program);
  work::WarpCursor cursor(shapes, record.warps.at(0));
  for (work::Step step; cursor.next(step);) {
    if (a.program.code[step.index].opcode != isa::Opcode::UBLKCP) continue;
    result.steps.push_back(step);
    if (step.executed != 0) result.moved.push_back(cursor.transfer());
  }
  result.words = a.read(result.to, 512);
  return result;
}

TEST(BulkCopy, IsRecordedOnceWhateverItsSize) {
  // As a loop over the lanes of a warp does it, one elected lane at a time: nothing but the bytes counts.
  for (const int first : {0, 31}) {
    for (const std::uint32_t pieces : {1u, 33u}) {
      for (const std::string guard : {"", "@P2 "}) {
        const Copied copied = copy(static_cast<int>(pieces), guard, first);
        ASSERT_EQ(copied.steps.size(), 1u);
        EXPECT_EQ(copied.steps[0].executed, copied.steps[0].active);
        EXPECT_EQ(copied.moved[0].kind, work::TransferKind::store);
        EXPECT_EQ(copied.moved[0].bytes, 16 * pieces);
        EXPECT_EQ(copied.moved[0].rows, pieces == 1 ? 1u : 5u);
        EXPECT_EQ(copied.moved[0].barrier, work::Transfer::kNoBarrier);
        EXPECT_EQ(copied.moved[0].runs, (std::vector<work::CopyRun>{{copied.to, 16 * pieces, 1, 0}}));
        for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(copied.words[i], i < 4 * pieces ? 4 * i : 1u);
      }
    }
  }
}

TEST(BulkCopy, OfNothingMovesNothing) {
  for (const std::string guard : {"", "@P2 "}) {
    const Copied copied = copy(0, guard);
    ASSERT_EQ(copied.steps.size(), 1u);
    EXPECT_EQ(copied.moved[0], work::Transfer());
    EXPECT_EQ(copied.words, std::vector<std::uint32_t>(512, 1));
  }
}

TEST(BulkCopy, WhoseGuardIsFalseIsRecordedAsHeldBack) {
  const Copied copied = copy(1, "@!P2 ");
  ASSERT_EQ(copied.steps.size(), 1u);
  EXPECT_EQ(copied.steps[0].executed, 0u);
}

}  // namespace
}  // namespace foretrace::emulate
