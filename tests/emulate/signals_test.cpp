// What comes with a signal to an mbarrier: reductions in shared memory (red.async) and the answer to a request for more work
// (clusterlaunchcontrol.try_cancel).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/isa/asynchronous.h"
#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Words = std::vector<std::uint32_t>;

/// The low word of an mbarrier that waits for one arrival and that many bytes; its high word.
constexpr std::uint32_t waits_for(std::uint32_t bytes) { return bytes << 21 | 0x1ffffe; }
constexpr std::uint32_t kOneArrival = 0x7ffff800;

/// Words 0 and 1 of shared memory, and an mbarrier that waited for `bytes`, after one warp's `instruction`: R0 is the thread, R6
/// the thread less 16, R14:R15 2^32 + 1.
Words reduced(const std::string& instruction, std::uint32_t bytes, Words first) {
  Assembled a(fmt::format(R"(
    S2R R0, SR_TID.X
    IADD3 R6, R0, -0x10, RZ
    MOV R14, 0x1
    MOV R15, 0x1
    MOV R4, 0x0
    MOV R5, 0x40
    MOV R8, 0x{:x}
    MOV R9, 0x{:x}
    STS.64 [R4], R8
    MOV R8, 0x{:x}
    MOV R9, 0x{:x}
    STS.64 [R5], R8
    {}
    LDS.64 R8, [R4]
    LDS.64 R10, [R5]
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    STG.E.128 [R2.64], R8
    EXIT
  )",
                          first[0], first[1], waits_for(bytes), kOneArrival, instruction),
              32, 2, 90);
  a.program.static_shared = 128;
  const std::uint64_t out = a.buffer(0, Words(4), "out");
  a.run();
  return a.read(out, 4);
}

TEST(SignalledReductions, CombineEveryLaneAndTakeItsBytesOff) {
  const struct {
    const char* operation;
    std::uint32_t result;
  } rows[] = {
      {"ADD [R4.64], R0", 100 + 496}, {"ADD.S32 [R4.64], R6", 100 - 16}, {"MIN [R4.64], R6", 0},
      {"MIN.S32 [R4.64], R6", ~15u},  {"MAX [R4.64], R6", ~0u},          {"MAX.S32 [R4.64], R6", 100},
      {"INC [R4.64], R0", 31},        {"DEC [R4.64], R15", 0},           {"AND [R4.64], R0", 0},
      {"OR [R4.64], R0", 127},        {"XOR [R4.64], R14", 100},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(reduced(std::string("REDAS.") + row.operation, 128, {100, 7}),
              (Words{row.result, 7, waits_for(0), kOneArrival}))
        << row.operation;
  }
}

TEST(SignalledReductions, OfWideWordsCarry) {
  EXPECT_EQ(reduced("REDAS.ADD.64 [R4.64], R14", 256, {0xffffffff, 0}),
            (Words{31, 33, waits_for(0), kOneArrival}));
}

TEST(SignalledReductions, OfOtherFormsAreRefusedByName) {
  try {
    reduced("REDAS.ADD.128 [R4.64], R8", 0, {0, 0});
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::unsupported);
    EXPECT_NE(std::string(fault.what()).find("a reduction of 128 bits"), std::string::npos) << fault.what();
  }
}

TEST(RequestsForWork, AreAnsweredWithNoneAndSignalled) {
  for (const std::string cast : {"SELFCAST", "BROADCAST"}) {
    Assembled a(fmt::format(R"(
    UMOV UR4, 0x20
    UMOV UR5, 0x40
    MOV R4, 0x20
    MOV R5, 0x40
    MOV R8, 0xffffffff
    MOV R9, 0xffffffff
    STS.64 [R4], R8
    STS.64 [R4+0x8], R8
    MOV R8, 0x{:x}
    MOV R9, 0x{:x}
    STS.64 [R5], R8
    UGETNEXTWORKID.{} [UR4], [UR5]
    LDS.128 R8, [R4]
    LDS.64 R12, [R5]
    MOV R2, c[0x0][0x380]
    MOV R3, c[0x0][0x384]
    STG.E.128 [R2.64], R8
    STG.E.64 [R2.64+0x10], R12
    EXIT
  )",
                            waits_for(16), kOneArrival, cast),
                32, 2, 120);
    a.program.static_shared = 128;
    const std::uint64_t out = a.buffer(0, Words(6, 1), "out");
    work::BlockRecord record;
    a.run(&record);
    EXPECT_EQ(a.read(out, 6), (Words{0, 0, 0, 0, waits_for(0), kOneArrival})) << cast;

    const work::Shapes shapes(a.program);
    work::WarpCursor cursor(shapes, record.warps.at(0));
    int asked = 0;
    for (work::Step step; cursor.next(step);) {
      if (!isa::starts_transfer(a.program.code[step.index])) continue;
      ++asked;
      const work::Transfer& answer = cursor.transfer();
      EXPECT_EQ(answer.kind, work::TransferKind::shared);
      EXPECT_EQ(answer.bytes, 16u);
      EXPECT_EQ(answer.rows, 1u);
      EXPECT_EQ(answer.shared, 0x20u);
      EXPECT_EQ(answer.barrier, 0x40u);
      EXPECT_EQ(answer.blocks, 1u);
      EXPECT_TRUE(answer.runs.empty());
    }
    EXPECT_EQ(asked, 1) << cast;
  }
}

}  // namespace
}  // namespace foretrace::emulate
