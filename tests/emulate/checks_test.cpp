// What a launch is watched for: on request, reads of what nobody has written and races on shared memory; always, stacks that
// overflow and blocks that take too long.
#include <gtest/gtest.h>

#include "sim/emulate/memory/shared_checks.h"
#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

std::string message_of(Assembled& a, FaultKind kind) {
  try {
    a.run();
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), kind) << fault.what();
    return fault.what();
  }
  return "";
}

/// Warp 0 stores 32 words, `between` happens in both warps, warp 1 loads them.
const std::string kStoreHead = R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT
    IMAD.SHL.U32 R1, R1, 0x4, RZ
    @!P0 STS [R1], R0
)";
const std::string kLoadTail = R"(
    @P0 LDS R4, [R1]
    EXIT
)";

TEST(Races, AreFoundWithoutABarrier) {
  Assembled a(kStoreHead + kLoadTail, 64);
  a.program.static_shared = 128;
  EXPECT_EQ(message_of(a, FaultKind::race), "") << "not asked for";
  a.context.checks.races = true;
  const std::string what = message_of(a, FaultKind::race);
  EXPECT_NE(what.find("thread (32,0,0), offset 0x50 '@P0 LDS R4, [R1]': race on shared byte 0x0: warp 1 "
                      "reads it here, warp 0 wrote "
                      "it at offset 0x40 '@!P0 STS [R1], R0', with no barrier between"),
            std::string::npos)
      << what;
}

TEST(Races, AWaitForProductsOrdersTheWarpsOfAWarpgroup) {
  // Warp 3 stores where all four warps have read a factor.
  const auto found = [](const std::string& wait) {
    Assembled a(R"(
      S2R R0, SR_TID.X
      ISETP.GE.U32.AND P0, PT, R0, 0x60, PT
      ULDC.64 UR8, c[0x0][0x210]
      ULDC.64 UR10, c[0x0][0x210]
      WARPGROUP.ARRIVE
      HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0
    )" + wait + R"(
      @P0 STS [RZ], R0
      EXIT
    )",
                128, 2, 90);
    a.program.static_shared = 0x1000;
    a.context.checks.races = true;
    return message_of(a, FaultKind::race);
  };
  EXPECT_EQ(found("WARPGROUP.DEPBAR.LE gsb0, 0x0\n"), "");
  EXPECT_NE(found(""), "");
}

TEST(Races, AreNoneWithABarrier) {
  Assembled a(kStoreHead + "BAR.SYNC.DEFER_BLOCKING 0x0\n" + kLoadTail, 64);
  a.program.static_shared = 128;
  a.context.checks.races = a.context.checks.uninitialized = true;
  EXPECT_EQ(message_of(a, FaultKind::race), "");
}

// Of a launch without clusters: the block is one by itself, and its warps wait for each other as at a barrier of the block.
TEST(Races, AreNoneWithTheClustersBarrier) {
  const std::string head = R"(
    S2R R0, SR_TID.X
    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
    LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT
    IMAD.SHL.U32 R1, R1, 0x4, RZ
    @P0 STS [R1], R0
)";
  const std::string tail = "@!P0 LDS R4, [R1]\nEXIT\n";
  Assembled without(head + "UCGABAR_ARV\n" + tail, 64);
  without.program.static_shared = 128;
  without.context.checks.uninitialized = true;
  EXPECT_NE(message_of(without, FaultKind::uninitialized_read), "") << "the first warp comes first";
  Assembled with(head + "UCGABAR_ARV\nUCGABAR_WAIT\n" + tail, 64);
  with.program.static_shared = 128;
  with.context.checks.races = with.context.checks.uninitialized = true;
  EXPECT_EQ(message_of(with, FaultKind::race), "");
}

TEST(Races, AWriteAfterAReadNeedsABarrierToo) {
  const std::string text = kStoreHead + "BAR.SYNC.DEFER_BLOCKING 0x0\n@P0 LDS R4, [R1]\n";
  Assembled a(text + "@!P0 YIELD\n@!P0 STS [R1], R0\nEXIT\n", 64);
  a.program.static_shared = 128;
  a.context.checks.races = true;
  const std::string what = message_of(a, FaultKind::race);
  // Whichever warp came first: the order of turns does not matter.
  EXPECT_NE(what.find("race on shared byte 0x0"), std::string::npos) << what;
  Assembled b(text + "BAR.SYNC.DEFER_BLOCKING 0x0\n@!P0 STS [R1], R0\nEXIT\n", 64);
  b.program.static_shared = 128;
  b.context.checks.races = true;
  EXPECT_EQ(message_of(b, FaultKind::race), "");
}

TEST(Races, AtomicsOrder) {
  Assembled a(kStoreHead + "ATOMS.ADD RZ, [RZ+0x80], R0\n" + kLoadTail, 64);
  a.program.static_shared = 132;
  a.context.checks.races = true;
  EXPECT_EQ(message_of(a, FaultKind::race), "") << "the first warp's atomic comes before the second's";
}

TEST(Races, AValueThatEveryWarpStoresIsNone) {
  const auto of = [](const std::string& value) {
    Assembled a("S2R R0, SR_TID.X\nSHF.R.U32.HI R2, RZ, 0x5, R0\n" + value + "STS [RZ], R3\nEXIT\n", 64);
    a.program.static_shared = 128;
    a.context.checks.races = true;
    return message_of(a, FaultKind::race);
  };
  EXPECT_EQ(of("MOV R3, 0x12345\n"), "");
  const std::string what = of("IADD3 R3, R2, 0x12345, RZ\n");
  EXPECT_NE(what.find("race on shared byte 0x0: warp 1 writes it here, warp 0 wrote it"), std::string::npos)
      << what;
}

TEST(Races, TheSameValueByAnotherStoreIsOne) {
  Assembled a(kStoreHead + "IADD3 R0, R0, -0x20, RZ\n@P0 STS [R1], R0\nEXIT\n", 64);
  a.program.static_shared = 128;
  a.context.checks.races = true;
  EXPECT_NE(message_of(a, FaultKind::race).find("race on shared byte 0x0: warp 1 writes it here"),
            std::string::npos);
}

TEST(Races, VectorClocks) {
  SharedChecks c(16, 3, false, true);
  EXPECT_FALSE(c.write(0, 4, 0, 7));
  EXPECT_FALSE(c.write(0, 4, 0, 8)) << "its own";
  ASSERT_TRUE(c.write(3, 4, 1, 9));
  EXPECT_EQ(c.write(3, 4, 1, 9)->kind, SharedChecks::Kind::write_after_write);
  EXPECT_EQ(c.write(3, 4, 1, 9)->offset, 3u);
  EXPECT_EQ(c.read(2, 1, 2)->pc, 8u);
  // A named barrier of warps 0 and 1 says nothing to warp 2.
  const std::uint64_t place = SharedChecks::barrier(1);
  c.arrive(place, 0);
  c.arrive(place, 1);
  c.wait(place, 1);
  EXPECT_FALSE(c.read(0, 4, 1));
  EXPECT_TRUE(c.read(0, 4, 2));
  // What warp 0 did after its arrival is not ordered.
  EXPECT_FALSE(c.write(8, 4, 0, 3));
  EXPECT_TRUE(c.read(8, 4, 1));
}

TEST(Uninitialized, SharedBytesAreKnownOneByOne) {
  const std::string text = kStoreHead + "BAR.SYNC.DEFER_BLOCKING 0x0\nLDS.U8 R4, [R1+0x1]\n";
  Assembled good(text + "EXIT\n", 64);
  good.program.static_shared = 256;
  good.context.checks.uninitialized = true;
  EXPECT_EQ(message_of(good, FaultKind::uninitialized_read), "");
  Assembled bad(text + "LDS R5, [R1+0x4]\nEXIT\n", 64);
  bad.program.static_shared = 256;
  EXPECT_EQ(message_of(bad, FaultKind::uninitialized_read), "") << "not asked for";
  bad.context.checks.uninitialized = true;
  const std::string what = message_of(bad, FaultKind::uninitialized_read);
  EXPECT_NE(
      what.find(
          "thread (31,0,0), offset 0x70 'LDS R5, [R1+0x4]': uninitialised read: shared byte 0x80 has not "
          "been written by the block; whether a result depends on the value is not followed"),
      std::string::npos)
      << what;
}

TEST(Uninitialized, GlobalBytesAreKnownOneByOne) {
  Assembled a(
      std::string(kThreadAddress) +
          "STG.E.U16 [R2.64], R0\nLDG.E.U16 R4, [R2.64]\nLDG.E R5, [R2.64+0x80]\nLDG.E R6, [R2.64]\nEXIT\n",
      32, 2);
  a.memory->written().track();
  const std::uint64_t address = a.memory->allocate(256, "data");
  std::memcpy(a.context.parameters.data(), &address, 8);
  a.context.checks.uninitialized = true;
  std::string what = message_of(a, FaultKind::uninitialized_read);
  EXPECT_NE(what.find("'LDG.E R5, [R2.64+0x80]': uninitialised read: global access of 4 bytes"),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("128 bytes into buffer data"), std::string::npos) << what;
  a.memory->written().mark(address + 128, 128);
  what = message_of(a, FaultKind::uninitialized_read);
  EXPECT_NE(what.find("'LDG.E R6, [R2.64]'"), std::string::npos) << "two of its four bytes: " << what;
  a.memory->write(address, std::vector<std::byte>(256));
  EXPECT_EQ(message_of(a, FaultKind::uninitialized_read), "");
}

// nvcc loads four words for three where they lie so: of rows of 129 words of shared memory, the padding with them.
TEST(Uninitialized, WordsOfAWideLoadThatNothingReadsAreNotAskedFor) {
  const auto found = [](const std::string& before, const std::string& load, const std::string& after) {
    Assembled a(std::string(kThreadAddress) +
                    "STS [RZ], R0\nSTS [RZ+0x4], R0\nSTS [RZ+0x8], R0\nSTG.E.64 [R2.64], R0\n" + before +
                    load + after + "EXIT\n",
                1, 2);
    a.memory->written().track();
    const std::uint64_t address = a.memory->allocate(16, "data");
    std::memcpy(a.context.parameters.data(), &address, 8);
    a.program.static_shared = 256;
    a.context.checks.uninitialized = true;
    return message_of(a, FaultKind::uninitialized_read);
  };
  for (const std::string load : {"LDS.128 R4, [RZ]\n", "LDG.E.128 R4, [R2.64]\n"}) {
    const auto is_named = [&](const std::string& before, const std::string& after) {
      return found(before, load, after).find(load.substr(0, load.size() - 1) + "': uninitialised read") !=
             std::string::npos;
    };
    EXPECT_EQ(found("", load, "IADD3 R8, R4, R5, RZ\n"), "");
    const std::string said = found("", load, "IADD3 R8, R4, R7, RZ\n");
    EXPECT_NE(said.find("; it is read on at offset 0x"), std::string::npos) << said;
    EXPECT_NE(said.find(" 'IADD3 R8, R4, R7, RZ'; whether a result depends on the value is not followed"),
              std::string::npos)
        << said;
    EXPECT_EQ(found("", load, "MOV R6, RZ\nMOV R7, RZ\nIADD3 R8, R6, R7, RZ\n"), "") << "written before";
    EXPECT_TRUE(is_named("", "IADD3 R8, R4, R7, RZ\n"));
    EXPECT_TRUE(is_named("", "@!PT MOV R7, RZ\nIADD3 R8, R4, R7, RZ\n")) << "not by all lanes";
    const std::string two_ways = " BRA `(L)\nMOV R7, RZ\nL:\nIADD3 R8, R4, R7, RZ\n";
    EXPECT_TRUE(is_named("", "@!P0" + two_ways)) << "on the way taken";
    EXPECT_EQ(found("", load, "@P0" + two_ways), "") << "on the other way";
    EXPECT_TRUE(is_named("", "@!P0 IADD3 R8, R7, RZ, RZ\n"));
    EXPECT_EQ(found("", load, "@P0 IADD3 R8, R7, RZ, RZ\n"), "") << "by no lane";
    const std::string round = "ISETP.EQ.AND P1, PT, R9, RZ, PT\nIADD3 R9, R9, 0x1, RZ\n@P1 BRA `(L)\n";
    EXPECT_TRUE(is_named("L:\nIADD3 R8, R8, R7, RZ\n", round)) << "in the next round";
    EXPECT_EQ(found("L:\nIADD3 R8, R8, R5, RZ\n", load, round), "");
    EXPECT_TRUE(is_named("", "LDS R8, [R7]\n")) << "as an address";
    EXPECT_TRUE(is_named("", "STS.128 [RZ+0x40], R4\n"));
    EXPECT_EQ(found("", load, "CALL.REL.NOINC `(L)\nL:\n"), "");
    EXPECT_TRUE(is_named("", "CALL.REL.NOINC `(L)\nL:\nIADD3 R8, R7, RZ, RZ\n")) << "behind a call";
  }
}

TEST(Uninitialized, ACooperativeLaunchFindsItsWorkspaceWritten) {
  Assembled a(
      "MOV R3, c[0x0][0x44]\nMOV R2, c[0x0][0x48]\nLDG.E R5, [R2.64+0x4]\nSTG.E [R2.64+0x1000], R5\nEXIT\n",
      1, 0, 90);
  a.memory->written().track();
  a.context.checks.uninitialized = true;
  EXPECT_NE(message_of(a, FaultKind::out_of_bounds).find("buffer grid workspace"), std::string::npos)
      << "beyond its end, after a read of what the driver has zeroed";
}

TEST(Stacks, OverflowIsNamed) {
  const std::string text = "MOV R1, c[0x0][0x28]\nIADD3 R1, R1, -0x40, RZ\nSTL [R1], R0\nEXIT\n";
  Assembled fits(text, 32);
  fits.context.local_bytes = 64;
  EXPECT_EQ(message_of(fits, FaultKind::stack_overflow), "");
  Assembled over("MOV R1, c[0x0][0x28]\nIADD3 R1, R1, -0x44, RZ\nSTL [R1], R0\nEXIT\n", 32);
  over.context.local_bytes = 64;
  const std::string what = message_of(over, FaultKind::stack_overflow);
  EXPECT_NE(what.find("stack overflow: local access of 4 bytes 4 bytes below the thread's 64 bytes"),
            std::string::npos)
      << what;
}

TEST(Freed, BuffersAreNotUsedAgain) {
  Assembled a(std::string(kThreadAddress) + "LDG.E R4, [R2.64]\nEXIT\n", 32, 2);
  const std::uint64_t address = a.buffer(0, std::vector<std::uint32_t>(32), "data");
  EXPECT_EQ(message_of(a, FaultKind::use_after_free), "");
  ASSERT_TRUE(a.memory->free(address));
  const std::string what = message_of(a, FaultKind::use_after_free);
  EXPECT_NE(what.find("0 bytes into buffer data, which was freed"), std::string::npos) << what;
}

TEST(TimeLimits, StopAnEndlessLoopThatStores) {
  // Never idle: only a limit ends it.
  Assembled a(std::string(kThreadAddress) + "AGAIN:\nSTG.E [R2.64], R0\nBRA `(AGAIN)\n", 32, 2);
  a.buffer(0, std::vector<std::uint32_t>(32), "data");
  a.context.time_limit = 0.01;
  EXPECT_NE(message_of(a, FaultKind::never_ends).find("has not ended after 0.01 seconds"), std::string::npos);
  a.context.time_limit = 0;
  a.context.max_instructions = 100'000;
  EXPECT_NE(message_of(a, FaultKind::never_ends).find("more than 100000 warp instructions"),
            std::string::npos);
}

}  // namespace
}  // namespace foretrace::emulate
