// A launch as a whole: what it refuses, the numbers that threads and blocks see, records that are the same each time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

TEST(Launch, RefusesWhatIsImpossible) {
  Assembled a("EXIT\n", 32, 2);
  a.context.block = {33, 32, 1};
  EXPECT_THROW(a.run(), InputError);
  a.context.block = {32, 32, 1};
  EXPECT_NO_THROW(a.run());
  a.context.parameters.resize(4);
  EXPECT_THROW(a.run(), InputError);
}

TEST(Launch, GivesThreadAndBlockTheirNumbers) {
  Assembled b(R"(
    S2R R0, SR_TID.X
    S2R R1, SR_TID.Y
    S2R R4, SR_TID.Z
    S2R R5, SR_CTAID.Y
    IMAD R6, R4, 0x3, R1
    IMAD R6, R6, 0x5, R0
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    IMAD.WIDE.U32 R2, R6, 0x4, R2
    IMAD R0, R1, 0x100, R0
    IMAD R0, R4, 0x10000, R0
    IMAD R0, R5, 0x1000000, R0
    STG.E [R2.64], R0
    EXIT
  )",
              1, 2);
  b.context.block = {5, 3, 4};
  b.context.grid = {2, 3, 1};
  const std::uint64_t out = b.buffer(0, std::vector<std::uint32_t>(60), "out");
  b.run(nullptr, 3);  // block (1, 1, 0)
  const auto got = b.read(out, 60);
  for (std::uint32_t t = 0; t < 60; ++t)
    EXPECT_EQ(got[t], t % 5 | t / 5 % 3 << 8 | t / 15 << 16 | 1u << 24) << t;
}

TEST(Launch, GivesBlocksTheSmsInTurn) {
  for (const auto& [sm, base, offset] :
       {std::tuple{80, "0x160", "0x10c"}, {90, "0x210", "0x10c"}, {120, "0x380", "0x2d0"}}) {
    Assembled a(fmt::format(R"(
    S2R R0, SR_VIRTUALSMID
    MOV R1, c[0x0][{}]
    MOV R2, c[0x0][{}]
    MOV R3, c[0x0][{}]
    STG.E.64 [R2.64], R0
    EXIT
  )",
                            offset, base, fmt::format("{:#x}", std::stoi(base, nullptr, 16) + 4)),
                1, 2, sm);
    a.context.grid = {12, 1, 1};
    a.context.sms = 5;
    const std::uint64_t out = a.buffer(0, {0, 0}, "out");
    for (const std::uint32_t block : {0u, 4u, 5u, 11u}) {
      a.run(nullptr, block);
      EXPECT_EQ(a.read(out, 2), (std::vector<std::uint32_t>{block % 5, 5})) << sm;
    }
  }
}

TEST(Independence, NeedsNoAtomicsFencesOrStrongAccesses) {
  EXPECT_TRUE(blocks_are_independent(assemble("LDG.E R0, [R2.64]\nSTG.E [R2.64], R0\nBAR.SYNC 0x0\nEXIT\n")));
  EXPECT_TRUE(blocks_are_independent(assemble("ATOMS.ADD R0, [R2], R3\nEXIT\n")));
  for (const char* line : {"ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R5\n", "LDG.E.STRONG.SYS R0, [R2.64]\n",
                           "MEMBAR.SC.GPU\n", "STG.E.STRONG.GPU [R2.64], R0\n"}) {
    EXPECT_FALSE(blocks_are_independent(assemble(std::string(line) + "EXIT\n"))) << line;
  }
}

TEST(Independence, OfClustersNeedsNothingBeyondThem) {
  for (const char* line : {"MEMBAR.ALL.CTA\n", "UCGABAR_ARV\n", "FENCE.VIEW.ASYNC.S\n"}) {
    const isa::Program program = assemble(std::string(line) + "EXIT\n", 0, 90);
    EXPECT_TRUE(clusters_are_independent(program)) << line;
    EXPECT_FALSE(blocks_are_independent(program)) << line;
  }
  for (const char* line : {"ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R5\n", "REDG.E.ADD [R2.64], R5\n",
                           "LDG.E.STRONG.SYS R0, [R2.64]\n", "MEMBAR.SC.GPU\n"}) {
    EXPECT_FALSE(clusters_are_independent(assemble(std::string(line) + "EXIT\n", 0, 90))) << line;
  }
}

TEST(Records, SayHowManyValuesLanesCompare) {
  const auto values = [](const char* match) {
    Assembled a(std::string(kThreadAddress) + R"(
    LOP3.LUT R4, R0, 0x7, RZ, 0xc0, !PT
    MOV R5, R0
    ISETP.LT.AND P0, PT, R0, 0x3, PT
    )" + match + "\nEXIT\n",
                32, 2);
    a.buffer(0, {0}, "out");
    const std::vector<work::Step> steps = a.steps();
    return steps.at(steps.size() - 2).value;
  };
  EXPECT_EQ(values("MATCH.ANY R8, R4"), 8u);
  EXPECT_EQ(values("@P0 MATCH.ANY R8, R4"), 3u) << "of the lanes that execute it";
  EXPECT_EQ(values("MATCH.ANY.U64 R8, R4"), 32u) << "the upper halves differ";
  EXPECT_EQ(values("MATCH.ALL PT, R8, R4"), 0u) << "takes one time whatever the values";
  EXPECT_EQ(
      values("MOV R9, 0xff\nLOP3.LUT R8, R0, 0x18, RZ, 0xc0, !PT\nSHF.L.U32 R8, R9, R8, RZ\nWARPSYNC R8"), 4u)
      << "masks of eight lanes each";
  EXPECT_EQ(values("MOV R10, 0xffffffff\nWARPSYNC R10"), 1u);
}

TEST(Records, NeedNoProductsThatDecideNothing) {
  const auto product = [](const std::string& address) {
    return std::string(kThreadAddress) + R"(
    MOV R12, 0x3c003c00
    HMMA.16816.F32 R8, R12, R12, RZ
    STG.E [)" +
           address + R"(], R8
    EXIT)";
  };
  const auto run = [](Assembled& a, bool unused) {
    const std::uint64_t address = a.buffer(0, std::vector<std::uint32_t>(32), "out");
    a.context.results_unused = unused;
    const std::size_t steps = a.steps().size();
    return std::pair(steps, a.read(address, 1)[0]);
  };
  Assembled stored(product("R2.64"), 32, 2);
  const auto computed = run(stored, false), left_out = run(stored, true);
  EXPECT_NE(computed.second, 0u);
  EXPECT_EQ(left_out.second, 0u);
  EXPECT_EQ(left_out.first, computed.first);
  stored.context.checks.races = true;
  EXPECT_EQ(run(stored, true), computed) << "what is checked is executed as it is";
  // The same where an address comes from the product.
  Assembled addressed(std::string(kThreadAddress) + R"(
    MOV R12, 0x3c003c00
    HMMA.16816.F32 R8, R12, R12, RZ
    LOP3.LUT R8, R8, 0x4, RZ, 0xc0, !PT
    IMAD.WIDE.U32 R2, R8, 0x1, R2
    STG.E [R2.64], R8
    STG.E [R2.64], R12
    EXIT)",
                      32, 2);
  EXPECT_EQ(run(addressed, true), run(addressed, false));
}

TEST(Records, AreTheSameEachTime) {
  const char* text = R"(
    S2R R0, SR_TID.X
    LOP3.LUT R1, R0, 0x3, RZ, 0xc0, !PT
    BSSY B0, `(J)
  L:
    IADD3 R1, R1, -0x1, RZ
    ISETP.GT.AND P0, PT, R1, RZ, PT
    @P0 BRA `(L)
  J:
    BSYNC B0
    BAR.SYNC 0x0
    EXIT
  )";
  Assembled a(text, 96);
  work::BlockRecord one, two;
  a.run(&one);
  a.run(&two);
  ASSERT_EQ(one.warps.size(), 3u);
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(one.warps[w].runs, two.warps[w].runs);
    EXPECT_EQ(one.warps[w].details, two.warps[w].details);
    EXPECT_GT(one.warps[w].instructions, 8u);
  }
}

TEST(RunCluster, OfABlockWhoseAtomicsChangeNothingComesToItsEnd) {
  // Maxima in shared memory that are there already: a block that others run beside would give way to them.
  Assembled a(std::string(kThreadAddress) + R"(
    MOV R5, RZ
  L:
    ATOMS.MAX.S32 RZ, [RZ], RZ
    IADD3 R5, R5, 0x1, RZ
    ISETP.LT.AND P0, PT, R5, 0x3e8, PT
    @P0 BRA `(L)
    STG.E [R2], R5
    EXIT
  )",
              64, 2);
  a.program.static_shared = 16;
  const std::uint64_t out = a.buffer(0, std::vector<std::uint32_t>(64, 0), "out");
  Emulator(a.context).run_cluster(0, nullptr);
  EXPECT_EQ(a.read(out, 64), std::vector<std::uint32_t>(64, 1000));
}

TEST(BlockBarrier, WarpsThatArriveAndThenWaitAtTheSameOneComeTogether) {
  // Eight arrivals of four warps: two phases. Each warp reads what the next one stored before it arrived.
  Assembled a(std::string(kThreadAddress) + R"(
    SHF.R.U32.HI R4, RZ, 0x5, R0
    IMAD.SHL.U32 R5, R4, 0x4, RZ
    STS [R5], R4
    BAR.ARV 0x1, 0x80
    BAR.SYNC 0x1, 0x80
    IADD3 R5, R5, 0x4, RZ
    LOP3.LUT R5, R5, 0xc, RZ, 0xc0, !PT
    LDS R6, [R5]
    STG.E [R2], R6
    EXIT
  )",
              128, 2);
  a.program.static_shared = 16;
  const std::uint64_t out = a.buffer(0, std::vector<std::uint32_t>(128, 9), "out");
  a.run();
  const std::vector<std::uint32_t> got = a.read(out, 128);
  for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(got[i], (i / 32 + 1) % 4) << i;
}

}  // namespace
}  // namespace foretrace::emulate
