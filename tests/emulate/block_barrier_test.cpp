// The barriers of a block (BAR) and their faults, on programs written for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

TEST(BlockBarrier, PartOfAWarpIsAFault) {
  const char* text = R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x3, PT
    @P0 BAR.SYNC 0x0
    EXIT
  )";
  Assembled a(text, 64);
  const KernelFault fault = fault_of([&] { a.run(); });
  EXPECT_EQ(fault.kind(), FaultKind::divergent_barrier);
  EXPECT_EQ(fault.offset(), 0x20u);
  const std::string what = fault.what();
  EXPECT_NE(what.find("kernel test, block (0,0,0), thread (0,0,0), offset 0x20"), std::string::npos) << what;
  EXPECT_NE(what.find("29 of the 32 live threads"), std::string::npos) << what;
}

TEST(BlockBarrier, ThreadsThatHaveLeftDoNotCount) {
  Assembled a(R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x14, PT
    @P0 EXIT
    BAR.SYNC 0x0
    EXIT
  )",
              96);
  EXPECT_NO_THROW(a.run());
}

TEST(BlockBarrier, AWarpWhoseGuardIsFalseThroughoutPasses) {
  // Warp 1 leaves it out and ends; warp 0 then waits for nobody.
  Assembled a(R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    @!P0 BAR.SYNC 0x0
    EXIT
  )",
              64);
  EXPECT_NO_THROW(a.run());
}

/// Two warps come to a barrier of the form `line`, whose operand R4 holds `value`: barrier numbers and threads are what the step says.
std::uint32_t barrier_value(const std::string& line, std::uint32_t value) {
  Assembled a(fmt::format("MOV R4, {:#x}\n{}\nEXIT", value, line), 64);
  return a.steps().at(1).value;
}

TEST(BlockBarrier, OneRegisterHoldsBothOperands) {
  // ptxas: SHF.L.U32 R7, R7, 0x10, RZ; LOP3.LUT R7, R7, 0xf, R6, 0xf8, !PT; BAR.SYNC R7, R7.
  EXPECT_EQ(barrier_value("BAR.SYNC R4, R4", 64 << 16 | 14), 64u << 16 | 14);
  EXPECT_EQ(barrier_value("BAR.SYNC 0x3, R4", 64), 64u << 16 | 3);
  EXPECT_EQ(barrier_value("BAR.SYNC R4, 0x40", 5), 64u << 16 | 5);
  EXPECT_EQ(barrier_value("BAR.SYNC R4", 5), 5u);
  EXPECT_EQ(barrier_value("BAR.RED.POPC R4, R4, PT", 64 << 16 | 2), 64u << 16 | 2);
}

TEST(BlockBarrier, NoFormHasTwoRegisters) {
  Assembled a("BAR.SYNC R4, R5\nEXIT", 32);
  EXPECT_EQ(fault_of([&] { a.run(); }).kind(), FaultKind::unsupported);
}

TEST(BlockBarrier, ThreadsInARegisterAreWaitedFor) {
  // Of 96 threads, those of warps 0 and 1 meet at barrier 3; warp 2 never comes.
  Assembled a(R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x40, PT
    MOV R4, 0x40
    @!P0 BAR.SYNC 0x3, R4
    @P0 BAR.SYNC 0x2, 0x20
    EXIT
  )",
              96);
  EXPECT_NO_THROW(a.run());
}

TEST(BlockBarrier, ThatCanNeverCompleteIsAFault) {
  Assembled a(R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    @P0 EXIT
    BAR.SYNC 0x1, 0x40
    EXIT
  )",
              64);
  const KernelFault fault = fault_of([&] { a.run(); });
  EXPECT_EQ(fault.kind(), FaultKind::impossible_barrier);
  EXPECT_EQ(fault.offset(), 0x30u);
}

TEST(BlockBarrier, DifferentBarriersWaitForEachOther) {
  Assembled a(R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    @P0 BAR.SYNC 0x1
    @!P0 BAR.SYNC 0x2
    EXIT
  )",
              64);
  EXPECT_EQ(fault_of([&] { a.run(); }).kind(), FaultKind::impossible_barrier);
}

TEST(BlockBarrier, ThatCanNeverCompleteIsAFaultAmongBlocksInASequence) {
  Assembled a("BAR.SYNC 0x1, 0x40\nEXIT", 32);
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 3, false);
  EXPECT_EQ(fault_of([&] { blocks.next(); }).kind(), FaultKind::impossible_barrier);
}

}  // namespace
}  // namespace foretrace::emulate
