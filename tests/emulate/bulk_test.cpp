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

/// The steps that copy, and the words that have arrived.
struct Copied {
  std::vector<work::Step> steps;
  std::vector<std::uint32_t> words;
};

Copied copy(int pieces, const std::string& guard, int first = 0) {
  Assembled a(copies_out(pieces, guard, first), 32, 2, 90);
  a.program.static_shared = 4096;
  const std::uint64_t to = a.buffer(0, std::vector<std::uint32_t>(512, 1), "out");
  Copied result;
  for (const work::Step& step : a.steps()) {
    if (a.program.code[step.index].opcode == isa::Opcode::UBLKCP) result.steps.push_back(step);
  }
  result.words = a.read(to, 512);
  return result;
}

TEST(BulkCopy, OfAFewBytesIsRecordedWithoutAGuard) {
  // As a loop over the lanes of a warp does it, one elected lane at a time: nothing but the bytes counts.
  for (const int first : {0, 31}) {
    const Copied copied = copy(1, "", first);
    ASSERT_EQ(copied.steps.size(), 1u);
    EXPECT_EQ(copied.steps[0].executed, 1u) << "16 bytes are one lane's";
    for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(copied.words[i], i < 4 ? 4 * i : 1u);
  }
}

TEST(BulkCopy, OfMoreThanAWarpsWidthEndsInAPart) {
  for (const std::string guard : {"", "@P2 "}) {
    const Copied copied = copy(33, guard);
    ASSERT_EQ(copied.steps.size(), 2u) << guard;
    EXPECT_EQ(copied.steps[0].executed, ~0u);
    EXPECT_EQ(copied.steps[1].executed, 1u);
    for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(copied.words[i], i < 132 ? 4 * i : 1u);
  }
}

TEST(BulkCopy, OfNothingMovesNothing) {
  EXPECT_TRUE(copy(0, "").steps.empty());
  const Copied guarded = copy(0, "@P2 ");
  ASSERT_EQ(guarded.steps.size(), 1u);
  EXPECT_EQ(guarded.steps[0].executed, 0u);
  EXPECT_EQ(guarded.words, std::vector<std::uint32_t>(512, 1));
}

TEST(BulkCopy, WhoseGuardIsFalseIsRecordedAsHeldBack) {
  const Copied copied = copy(1, "@!P2 ");
  ASSERT_EQ(copied.steps.size(), 1u);
  EXPECT_EQ(copied.steps[0].executed, 0u);
}

}  // namespace
}  // namespace foretrace::emulate
