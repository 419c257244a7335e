// Divergence, convergence, barriers and their faults, on programs written for each.
#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Masks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // instruction, active lanes

Masks path(Assembled& a, std::size_t warp = 0) {
  Masks out;
  for (const work::Step& s : a.steps(warp)) out.emplace_back(s.index, s.active);
  return out;
}

TEST(Divergence, FallThroughRunsFirstAndBsyncMerges) {
  Assembled a(R"(
    S2R R0, SR_LANEID
    ISETP.GE.U32.AND P0, PT, R0, 0xa, PT
    BSSY B0, `(J)
    @P0 BRA `(E)
    MOV R1, 0x1
    BRA `(J)
  E:
    MOV R1, 0x2
  J:
    BSYNC B0
    EXIT
  )",
              32);
  const std::uint32_t low = 0x3ff, high = ~low;
  EXPECT_EQ(path(a), (Masks{{0, ~0u},
                            {1, ~0u},
                            {2, ~0u},
                            {3, ~0u},
                            {4, low},
                            {5, low},
                            {7, low},
                            {6, high},
                            {7, high},
                            {8, ~0u}}));
}

TEST(Divergence, AgreeingLanesDoNotPart) {
  Assembled a(R"(
    S2R R0, SR_LANEID
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    @!P0 BRA `(E)
    MOV R1, 0x1
  E:
    EXIT
  )",
              32);
  EXPECT_EQ(path(a), (Masks{{0, ~0u}, {1, ~0u}, {2, ~0u}, {4, ~0u}}));
}

TEST(Divergence, LanesThatExitAreNotWaitedFor) {
  Assembled a(R"(
    S2R R0, SR_LANEID
    ISETP.GE.U32.AND P0, PT, R0, 0x8, PT
    BSSY B0, `(J)
    @P0 BRA `(J)
    EXIT
  J:
    BSYNC B0
    EXIT
  )",
              32);
  EXPECT_EQ(path(a),
            (Masks{{0, ~0u}, {1, ~0u}, {2, ~0u}, {3, ~0u}, {4, 0xff}, {5, 0xffffff00}, {6, 0xffffff00}}));
}

TEST(Divergence, BreakTakesLanesOutOfTheBarrier) {
  // Lane l leaves the loop in round l; each waits at the end for all 4.
  Assembled a(R"(
    S2R R0, SR_LANEID
    MOV R1, RZ
    BSSY B0, `(J)
  L:
    ISETP.EQ.AND P0, PT, R0, R1, PT
    IADD3 R1, R1, 0x1, RZ
    @P0 BREAK B0
    @P0 BRA `(O)
    BRA `(L)
  O:
    NOP
  J:
    EXIT
  )",
              4);
  const Masks got = path(a);
  // The NOP is executed by each lane alone: they broke out one after the other and never wait.
  int alone = 0;
  for (const auto& [index, active] : got) alone += index == 8 && (active & (active - 1)) == 0;
  EXPECT_EQ(alone, 4);
}

/// Lanes that go to two targets by turns, by such a branch through R4.
void expect_issued_once_per_target(const std::string& branch) {
  Assembled a(R"(
    S2R R0, SR_LANEID
    LOP3.LUT R4, R0, 0x1, RZ, 0xc0, !PT
    IMAD.SHL.U32 R4, R4, 0x20, RZ
    MOV R5, RZ
    )" + branch + R"(
  F:
    MOV R1, 0x1
    EXIT
    MOV R1, 0x2
    EXIT
  )",
              32);
  const std::uint32_t even = 0x55555555, odd = ~even, all = ~0u;
  const Masks first = {{0, all}, {1, all}, {2, all}, {3, all}, {4, all}, {5, even}, {6, even}};
  Masks expected = first;
  for (const std::uint32_t index : {4u, 7u, 8u}) expected.push_back({index, odd});
  EXPECT_EQ(path(a), expected) << branch << " is issued once for each target";
}

TEST(Divergence, IndirectBranchPartsByTarget) { expect_issued_once_per_target("BRX R4 0x0"); }

TEST(Divergence, CallsByPointersAreIssuedOncePerTarget) {
  expect_issued_once_per_target("CALL.REL.NOINC R4 `(F)");
}

TEST(Divergence, ReturnGoesWhereTheRegisterSays) {
  Assembled a(R"(
  K:
    MOV R20, 0x40
    MOV R21, RZ
    CALL.REL.NOINC `(F)
    BPT.TRAP 0x1
    EXIT
  F:
    RET.REL.NODEC R20 `(K)
  )",
              32);
  EXPECT_EQ(path(a), (Masks{{0, ~0u}, {1, ~0u}, {2, ~0u}, {5, ~0u}, {4, ~0u}}));
}

TEST(Divergence, EachGroupHasItsOwnUniformRegisters) {
  Assembled a(std::string(kThreadAddress) + R"(
    ISETP.GE.U32.AND P0, PT, R0, 0x10, PT
    MOV R1, 0xffffffff
    BSSY B0, `(J)
    @P0 BRA `(E)
    UMOV UR4, 0x7
    WARPSYNC R1
    MOV R8, UR4
    BRA `(J)
  E:
    UMOV UR4, 0x9
    WARPSYNC R1
    MOV R8, UR4
  J:
    BSYNC B0
    STG.E [R2.64], R8
    EXIT
  )",
              32, 2);
  const std::uint64_t out = a.buffer(0, std::vector<std::uint32_t>(32), "out");
  a.run();
  const auto got = a.read(out, 32);
  for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(got[l], l < 16 ? 7u : 9u) << l;
}

// The lock's owner waits at the loop's end for those who spin for the lock.
// What the compiler makes of a uniform operand that differs by lane (mbarrier.init by several threads): one value per round.
TEST(Divergence, ALoopOverDifferentValuesTakesEachOnce) {
  std::vector<std::uint32_t> values(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) values[lane] = 100 + lane / 8;
  const auto out = compute(R"(
    MOV R8, RZ
    MOV R9, RZ
    PLOP3.LUT P1, PT, PT, PT, PT, 0x80, 0x0
  L:
    @P1 R2UR P0, UR4, R4
    @P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0
    IADD3 R8, R8, 0x1, RZ
    IADD3 R9, R9, UR4, RZ
    @P1 BRA.U.ANY `(L)
  )",
                           {values}, 2);
  EXPECT_EQ(out[0], std::vector<std::uint32_t>(32, 4));
  EXPECT_EQ(out[1], std::vector<std::uint32_t>(32, 100 + 101 + 102 + 103));
}

// A reduction behind WARPSYNC.COLLECTIVE (cooperative groups' reduce of a tile) takes in the lanes of the own mask alone.
TEST(Divergence, CollectiveLanesOfDifferentMasksPart) {
  const auto out =
      compute(R"(
    S2R R10, SR_LANEID
    MOV R1, 0xffff
    LOP3.LUT R11, R10, 0x10, RZ, 0xc0, !PT
    SHF.L.U32 R1, R1, R11, RZ
    BSSY B0, `(J)
    WARPSYNC.COLLECTIVE R1, `(C)
    REDUX.SUM.S32 UR4, R4
    MOV R8, UR4
    ENDCOLLECTIVE
  C:
    BSYNC B0
  J:
    MOV R9, R10
  )",
              {std::vector<std::uint32_t>{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                          17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
              2);
  for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(out[0][l], l < 16 ? 136u : 392u) << l;
}

TEST(Divergence, SpinningLanesLetTheOthersGoOn) {
  Assembled a(R"(
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R4, RZ
    MOV R5, 0x1
    BSSY B0, `(J)
  L:
    YIELD
    ATOMG.E.CAS.STRONG.GPU PT, R6, [R2], R4, R5
    ISETP.NE.AND P0, PT, R6, RZ, PT
    @P0 BRA `(L)
  J:
    BSYNC B0
    LDG.E R7, [R2.64+0x4]
    IADD3 R7, R7, 0x1, RZ
    STG.E [R2.64+0x4], R7
    ATOMG.E.EXCH.STRONG.GPU PT, R6, [R2.64], RZ
    EXIT
  )",
              64, 2);
  const std::uint64_t words = a.buffer(0, {0, 0}, "words");
  a.context.idle_limit = 1'000'000;
  a.run();
  EXPECT_EQ(a.read(words, 2), (std::vector<std::uint32_t>{0, 64}));
}

TEST(Divergence, LanesOfALoopThatTriesAgainGoOnTogether) {
  Assembled a(R"(
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    STS [RZ], RZ
    LDS R6, [RZ]
    BSSY B0, `(J)
  L:
    IADD3 R5, R6, 0x1, RZ
    YIELD
    ATOMS.CAS R7, [RZ], R6, R5
    ISETP.NE.AND P0, PT, R7, R6, PT
    MOV R6, R7
    @P0 BRA `(L)
  J:
    BSYNC B0
    VOTE.ANY R8, PT, PT
    S2R R0, SR_TID.X
    IMAD.WIDE R10, R0, 0x4, R2
    STG.E [R10.64+0x4], R8
    LDS R6, [RZ]
    STG.E [R2.64], R6
    EXIT
  )",
              32, 2);
  a.program.static_shared = 128;
  const std::uint64_t words = a.buffer(0, std::vector<std::uint32_t>(33), "words");
  a.run();
  std::vector<std::uint32_t> expected(33, ~0u);  // every lane stands with all others behind the loop
  expected[0] = 32;
  EXPECT_EQ(a.read(words, 33), expected);
}

TEST(Divergence, WarpsyncIsKeyedByItsMask) {
  Assembled a(R"(
    S2R R0, SR_LANEID
    MOV R1, 0xffffffff
    ISETP.GE.U32.AND P0, PT, R0, 0x10, PT
    @P0 BRA `(E)
    WARPSYNC R1
    EXIT
  E:
    WARPSYNC R1
    EXIT
  )",
              32);
  const std::uint32_t low = 0xffff, high = 0xffff0000;
  const Masks got = path(a);
  ASSERT_EQ(got.size(), 8u);
  EXPECT_EQ(got[4], (std::pair<std::uint32_t, std::uint32_t>{4, low}));   // waits
  EXPECT_EQ(got[5], (std::pair<std::uint32_t, std::uint32_t>{6, high}));  // and lets both go on
}

// sm_120 initialises an mbarrier by STS and this.
TEST(SharedBarriers, ForgettingWhatTheUnitHoldsIsAStepWithoutAnEffect) {
  Assembled a("SYNCS.CCTL.IVALL\nEXIT", 32, 0, 120);
  EXPECT_EQ(a.steps().size(), 2u);
  Assembled other("SYNCS.CCTL.PF\nEXIT", 32, 0, 120);
  EXPECT_EQ(fault_of([&] { other.run(); }).kind(), FaultKind::unsupported);
}

TEST(NeverEnds, AfterTheLimitAndNotBefore) {
  // A loop of 3 instructions, 1000 rounds, without a store.
  const char* text = R"(
    MOV R0, RZ
  L:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P0, PT, R0, 0x3e8, PT
    @P0 BRA `(L)
    EXIT
  )";
  Assembled ends(text, 32);
  ends.context.idle_limit = 3002;
  EXPECT_EQ(ends.run().instructions, 3002u);
  Assembled spins(R"(
  L:
    BRA `(L)
  )",
                  32);
  spins.context.idle_limit = 100'000;
  const KernelFault fault = fault_of([&] { spins.run(); });
  EXPECT_EQ(fault.kind(), FaultKind::never_ends);
  Assembled bounded(text, 32);
  bounded.context.max_instructions = 3001;
  EXPECT_EQ(fault_of([&] { bounded.run(); }).kind(), FaultKind::never_ends);
  bounded.context.max_instructions = 3002;
  EXPECT_NO_THROW(bounded.run());
}

// A loop of 1.2 million instructions without a store, then what follows.
std::string computes_then(const std::string& end) {
  return R"(
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R0, RZ
  L:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P0, PT, R0, 0x61a80, PT
    @P0 BRA `(L)
    )" + end +
         "\n    EXIT\n  ";
}

TEST(BlockSequence, BlocksThatOnlyComputeRunToTheirEnd) {
  Assembled a(computes_then("STG.E [R2.64], R0").c_str(), 32, 2);
  a.context.grid = {3, 1, 1};
  a.context.idle_limit = 2'000'000;
  a.buffer(0, {0}, "out");
  EXPECT_FALSE(blocks_may_wait(*a.context.program));
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 3, false);
  for (int block = 0; block < 3; ++block) EXPECT_NE(blocks.next(), nullptr);
  EXPECT_EQ(blocks.next(), nullptr);
}

TEST(BlockSequence, OfBlocksThatMightWaitEachHasToBeIdle) {
  Assembled a(computes_then("ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R0").c_str(), 32, 2);
  a.context.grid = {8, 1, 1};
  a.context.idle_limit = 6'000'000;  // less than all do before the first comes to its atomic
  a.buffer(0, {0}, "sum");
  EXPECT_TRUE(blocks_may_wait(*a.context.program));
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 8, false);
  for (int block = 0; block < 8; ++block) EXPECT_NE(blocks.next(), nullptr);
}

// Block 0 waits for a word that block 1 writes.
const char* const kWaitingBlocks = R"(
    S2R R0, SR_CTAID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    ISETP.NE.AND P0, PT, R0, RZ, PT
    MOV R5, 0x1
    @P0 BRA `(W)
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.EQ.AND P1, PT, R4, RZ, PT
    @P1 BRA `(L)
    EXIT
  W:
    STG.E.STRONG.GPU [R2.64], R5
    EXIT
  )";

TEST(BlockSequence, LetsAWaitedForBlockRun) {
  Assembled a(kWaitingBlocks, 32, 2);
  a.context.grid = {2, 1, 1};
  a.buffer(0, {0}, "flag");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 2, true);
  const auto first = blocks.next(), second = blocks.next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->block, 0u);
  EXPECT_EQ(second->block, 1u);
  EXPECT_LT(first->warps[0].instructions, 100u) << "a few polls, then the other's turn";
  EXPECT_EQ(blocks.next(), nullptr);
  EXPECT_EQ(first->warps[0].instructions, 6u + 3 + 1) << "of the polls the last one is on record";
  EXPECT_EQ(blocks.count().instructions, 3 + first->warps[0].instructions + second->warps[0].instructions);
}

TEST(BlockSequence, WaitingBlocksAskAgainWhenAllHaveStarted) {
  // Seven blocks wait for what the eighth writes.
  std::string text = kWaitingBlocks;
  const std::string compare = "ISETP.NE.AND P0, PT, R0, RZ, PT";
  text.replace(text.find(compare), compare.size(), "ISETP.EQ.AND P0, PT, R0, 0x7, PT");
  Assembled a(text.c_str(), 32, 2);
  a.context.grid = {8, 1, 1};
  a.buffer(0, {0}, "flag");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 8, true);
  for (int block = 0; block < 7; ++block) {
    EXPECT_EQ(blocks.next()->warps[0].instructions, 6u + 3 + 1) << "the poll when all have run";
  }
  ASSERT_NE(blocks.next(), nullptr);
  EXPECT_EQ(blocks.count().instructions, 7u * (6 + 3 + 3 + 1) + 8)
      << "one poll in vain, and one when all have run";
}

TEST(BlockSequence, ReportsBlocksThatWaitInVain) {
  Assembled a(kWaitingBlocks, 32, 2);
  a.context.grid = {2, 1, 1};
  a.context.idle_limit = 100'000;
  a.buffer(0, {0}, "flag");
  const Emulator emulator(a.context);
  BlockSequence alone(emulator, 1, false);  // the second block may not run beside the first
  EXPECT_EQ(fault_of([&] { alone.next(); }).kind(), FaultKind::never_ends);
}

TEST(Traps, StopTheLaunch) {
  Assembled a("BPT.TRAP 0x1\nEXIT\n", 32);
  EXPECT_EQ(fault_of([&] { a.run(); }).kind(), FaultKind::trap);
  Assembled end("NOP\n", 32);
  EXPECT_EQ(fault_of([&] { end.run(); }).kind(), FaultKind::illegal_instruction);
}

TEST(Unsupported, AnOpaqueInstructionIsRefusedWhenReachedAndNotBefore) {
  const isa::Word p0{};  // guard field 0: @P0
  const isa::Instruction frob = isa::parse_instruction(p0, "@P0 FROB.WIDE R1, zdesc[UR4], R2", 0x10, 90, {});
  ASSERT_EQ(frob.opcode, isa::Opcode::opaque);
  Assembled passed("NOP\nNOP\nEXIT\n", 32, 0, 90);
  passed.program.code[1] = frob;
  EXPECT_EQ(passed.run().instructions, 3u) << "P0 is false in all lanes";
  Assembled reached("ISETP.EQ.U32.AND P0, PT, RZ, RZ, PT\nNOP\nEXIT\n", 32, 0, 90);
  reached.program.code[1] = frob;
  const KernelFault fault = fault_of([&] { reached.run(); });
  EXPECT_EQ(fault.kind(), FaultKind::unsupported);
  const std::string what = fault.what();
  EXPECT_NE(what.find("offset 0x10"), std::string::npos) << what;
  EXPECT_NE(what.find("FROB.WIDE R1, zdesc[UR4], R2"), std::string::npos) << what;
  EXPECT_NE(what.find("unknown instruction FROB"), std::string::npos) << what;
}

TEST(Unsupported, IsRefusedWhenReachedAndNotBefore) {
  Assembled reached("IMAD.WIDE.FANCY R0, R1, R2, R4\nEXIT\n", 32);
  const KernelFault fault = fault_of([&] { reached.run(); });
  EXPECT_EQ(fault.kind(), FaultKind::unsupported);
  const std::string what = fault.what();
  EXPECT_NE(what.find("'IMAD.WIDE.FANCY R0, R1, R2, R4'"), std::string::npos) << what;
  EXPECT_NE(what.find(".FANCY"), std::string::npos) << what;
  Assembled passed("@!PT IMAD.WIDE.FANCY R0, R1, R2, R4\nEXIT\n", 32);
  EXPECT_NO_THROW(passed.run());
}

}  // namespace
}  // namespace foretrace::emulate
