// Which loops are waits, and which only look like them.

#include "model/isa/spin_loops.h"

#include <gtest/gtest.h>

#include "tests/isa/assemble.h"

namespace foretrace::isa {
namespace {

const std::string kSpin = R"(
    LDC.64 R2, c[0x0][0x210]
  L:
    LDG.E.STRONG.SYS R9, desc[UR12][R2.64]
    YIELD
    ISETP.GE.U32.AND P0, PT, R9, R22, PT
    @!P0 BRA `(L)
    EXIT
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(SpinLoops, ALoopThatOnlyAsksIsOne) {
  const auto loops = spin_loops(assemble(kSpin));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].first, 1u);
  EXPECT_EQ(loops[0].last, 4u);
  EXPECT_EQ(loops[0].early, SpinLoop::kNone);
}

TEST(SpinLoops, NothingElseMayHappenInIt) {
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "STG.E desc[UR12][R4.64], R9"))).empty());
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "STS [R4], R9"))).empty());
  EXPECT_TRUE(
      spin_loops(assemble(with(kSpin, "YIELD", "REDG.E.ADD.STRONG.GPU desc[UR12][R4.64], R9"))).empty());
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "BAR.SYNC.DEFER_BLOCKING 0x0"))).empty());
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "EXIT"))).empty());
}

TEST(SpinLoops, WhatItFindsMayBeKeptInMemoryOfTheThreadsOwn) {
  EXPECT_EQ(spin_loops(assemble(with(kSpin, "YIELD", "STL [R1], R9"))).size(), 1u);
  EXPECT_EQ(spin_loops(assemble(with(kSpin, "YIELD", "STL [R1], R9\nLDL R9, [R1]"))).size(), 1u);
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "STL [R9], R9"))).empty())
      << "another place in each round";
}

TEST(SpinLoops, ItsLoadIsStrong) {
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, ".STRONG.SYS", ""))).empty());
  EXPECT_EQ(spin_loops(assemble(with(kSpin, "LDG.E.STRONG.SYS", "LD.E.STRONG.GPU"))).size(), 1u);
}

TEST(SpinLoops, ASearchThroughAListIsNone) {
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "LDG.E.STRONG.SYS R9, ", "LDG.E.64.STRONG.SYS R2, "))).empty());
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "YIELD", "IMAD.WIDE R2, R9, 0x4, R10"))).empty());
  EXPECT_EQ(spin_loops(assemble(with(kSpin, "YIELD", "LDC.64 R2, c[0x0][0x210]"))).size(), 1u)
      << "the same in every round";
}

TEST(SpinLoops, OnlyAnAtomicThatWantsTheSameValueWaits) {
  const std::string lock =
      with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]", "ATOMG.E.CAS.STRONG.GPU PT, R9, [R2], R6, R7");
  EXPECT_EQ(spin_loops(assemble(lock)).size(), 1u);
  EXPECT_EQ(spin_loops(assemble(with(lock, "YIELD", "MOV R6, RZ"))).size(), 1u);
  EXPECT_TRUE(spin_loops(assemble(with(lock, "YIELD", "MOV R6, R9"))).empty())
      << "an addition made of compare-and-swaps";
  EXPECT_TRUE(spin_loops(assemble(with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]",
                                       "ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR12][R2.64], R7")))
                  .empty());
}

TEST(SpinLoops, AnAtomicThatAddsNothingAsks) {
  const auto asks = [](const std::string& atomic) {
    return spin_loops(assemble(with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]", atomic))).size() == 1;
  };
  EXPECT_TRUE(asks("ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR12][R2.64], RZ"));
  EXPECT_TRUE(asks("ATOMG.E.OR.STRONG.GPU PT, R9, desc[UR12][R2.64], RZ"));
  EXPECT_FALSE(asks("ATOMG.E.AND.STRONG.GPU PT, R9, desc[UR12][R2.64], RZ")) << "it clears the word";
  const Program atomic = assemble("ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR12][R2.64], RZ\n");
  EXPECT_TRUE(asks_memory(atomic.code[0]));
  EXPECT_FALSE(tells_memory(atomic.code[0]));
}

TEST(SpinLoops, TheSameLoadBeforeTheLoopBelongsToIt) {
  const std::string text = R"(
    LD.E.STRONG.GPU R0, desc[UR4][R4.64]
    CCTL.IVALL
    ISETP.GE.AND P0, PT, R0, R7, PT
    @P0 BRA `(D)
  L:
    NANOSLEEP 0x64
    LD.E.STRONG.GPU R0, desc[UR4][R4.64]
    ISETP.GE.AND P0, PT, R0, R7, PT
    @!P0 BRA `(L)
  D:
    EXIT
)";
  const auto loops = spin_loops(assemble(text));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].early, 0u);
  EXPECT_EQ(loops[0].early_exit, 3u);
  EXPECT_EQ(spin_loops(assemble(with(text, "[R4.64]", "[R6.64]")))[0].early, SpinLoop::kNone)
      << "it asks for something else";
}

const std::string kRetry = R"(
    LDG.E R8, desc[UR4][R4.64]
  L:
    FMNMX R9, R10, R8, !PT
    ATOMG.E.CAS.STRONG.GPU PT, R9, [R4], R8, R9
    ISETP.NE.AND P0, PT, R8, R9, PT
    MOV R8, R9
    @P0 BRA `(L)
    EXIT
)";

TEST(AskingLoops, AreAroundALoadThatIsNoWaitByItself) {
  EXPECT_FALSE(has_asking_loop(assemble(kSpin))) << "a wait";
  EXPECT_TRUE(has_asking_loop(assemble(with(kSpin, "YIELD", "BAR.SYNC.DEFER_BLOCKING 0x0"))));
  EXPECT_TRUE(has_asking_loop(assemble(with(kSpin, "YIELD", "STG.E desc[UR12][R4.64], R9"))));
  EXPECT_FALSE(
      has_asking_loop(assemble(with(with(kSpin, "YIELD", "STG.E desc[UR12][R4.64], R9"), ".STRONG.SYS", ""))))
      << "nobody has to see what others write";
  EXPECT_FALSE(has_asking_loop(assemble(with(kSpin, "@!P0 BRA `(L)", "NOP")))) << "no loop";
}

TEST(TellsBehindFence, APlainStoreOfAFlag) {
  const std::string flag = R"(
    MEMBAR.SC.GPU
    ERRBAR
    CCTL.IVALL
    MOV R5, 0x1
    STG.E desc[UR4][R2.64], R5
)";
  const auto tells = [](const std::string& text) { return tells_behind_fence(assemble(text), 4); };
  EXPECT_TRUE(tells(flag));
  EXPECT_FALSE(tells(with(flag, "SC.GPU", "ALL.CTA"))) << "only its own block is told";
  EXPECT_FALSE(tells(with(flag, "MEMBAR.SC.GPU", "NOP"))) << "no fence";
  EXPECT_FALSE(tells(with(flag, "STG.E", "STG.E.U8"))) << "words are followed";
  EXPECT_FALSE(tells(with(flag, "STG.E desc[UR4][R2.64], R5", "STS [R2], R5")));
}

TEST(RetryLoops, ASwapThatIsTriedUntilNobodyCameBetween) {
  const auto loops = retry_loops(assemble(kRetry));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].first, 1u);
  EXPECT_EQ(loops[0].swap, 2u);
  EXPECT_EQ(loops[0].last, 5u);
  const std::string shared =
      with(with(kRetry, "ATOMG.E.CAS.STRONG.GPU PT, R9, [R4], R8, R9", "ATOMS.CAST.SPIN R9, [R4], R8, R9"),
           "L:\n", "L:\n    LDS R8, [R4]\n");
  ASSERT_EQ(retry_loops(assemble(shared)).size(), 1u);
  EXPECT_TRUE(retry_loops(assemble(shared))[0].shared);
  EXPECT_FALSE(loops[0].shared);
}

TEST(RetryLoops, LanesMayEndInThem) {
  EXPECT_EQ(retry_loops(assemble(with(kRetry, "MOV R8, R9", "@P1 EXIT"))).size(), 1u);
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "MOV R8, R9", "EXIT"))).empty());
}

TEST(RetryLoops, NothingElseHasAnEffectInThem) {
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "MOV R8, R9", "STG.E desc[UR4][R6.64], R9"))).empty());
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "MOV R8, R9", "BAR.SYNC.DEFER_BLOCKING 0x0"))).empty());
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "ATOMG.E.CAS.STRONG.GPU PT, R9, [R4], R8, R9",
                                        "ATOMG.E.EXCH.STRONG.GPU PT, R9, desc[UR4][R4.64], R8")))
                  .empty());
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "@P0 BRA", "BRA"))).empty()) << "it never ends";
}

TEST(RetryLoops, WhatTheSwapFindsEndsThem) {
  EXPECT_TRUE(retry_loops(assemble(with(kRetry, "ISETP.NE.AND P0, PT, R8, R9, PT",
                                        "ISETP.NE.AND P0, PT, R6, R7, PT")))
                  .empty())
      << "a swap in each round of a loop that counts";
}

TEST(RetryLoops, ALockIsAWait) {
  const std::string lock =
      with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]", "ATOMG.E.CAS.STRONG.GPU PT, R9, [R2], R6, R7");
  EXPECT_TRUE(retry_loops(assemble(lock)).empty());
}

}  // namespace
}  // namespace foretrace::isa
