// What records say of waits: the last round, and the write that ended it.

#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

struct Awaited {
  std::uint64_t block = 0;
  std::uint32_t asked = 0;  // loads that wait, in order of execution
  std::vector<work::Awaited> by;
};

/// Of every block's first warp: the loads of spin loops, and all that they waited for.
std::vector<Awaited> awaited(const Assembled& a, std::uint64_t resident) {
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, resident, true);
  const work::Shapes shapes(a.program);
  std::vector<Awaited> result;
  while (const auto record = blocks.next()) {
    Awaited of{record->block, 0, {}};
    work::WarpCursor cursor(shapes, record->warps[0]);
    work::Step step;
    while (cursor.next(step)) {
      if (!shapes.of[step.index].waits) continue;
      ++of.asked;
      of.by.insert(of.by.end(), cursor.awaited().begin(), cursor.awaited().end());
    }
    result.push_back(of);
  }
  return result;
}

std::vector<work::Awaited> named(const std::vector<work::Signal>& signals) {
  std::vector<work::Awaited> result;
  for (const work::Signal& signal : signals) result.push_back({0, signal, 0});
  return result;
}

constexpr const char* kAddress = R"(
    S2R R0, SR_CTAID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R5, 0x1
)";

// Half of the lanes have nothing to do, the others 1.5 million instructions without a store: they meet at the end.
TEST(Waits, LongWorkIsWaitedFor) {
  Assembled a(std::string(kThreadAddress) + R"(
    ISETP.GE.U32.AND P0, PT, R0, 0x10, PT
    MOV R1, RZ
    BSSY B0, `(J)
    @P0 BRA `(J)
  L:
    IADD3 R1, R1, 0x1, RZ
    ISETP.LT.AND P1, PT, R1, 0x7a120, PT
    @P1 BRA `(L)
  J:
    BSYNC B0
    VOTE.ANY R8, PT, PT
    STG.E [R2.64], R8
    EXIT
  )",
              32, 2);
  const std::uint64_t out = a.buffer(0, std::vector<std::uint32_t>(32), "out");
  a.run();
  EXPECT_EQ(a.read(out, 32), std::vector<std::uint32_t>(32, ~0u));
}

/// `kept`: what each round does with what it has found, in R4.
void wait_at_two_barriers(const std::string& kept) {
  // Two barriers on one counter, four blocks: a block that still asks at the first may find that others have come to the second.
  Assembled a(std::string(kAddress) + "MOV R7, c[0x0][0x28]\nIADD3 R7, R7, -0x10, RZ\n" + R"(
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
)" + kept + R"(
    ISETP.GE.U32.AND P0, PT, R4, 0x4, PT
    @!P0 BRA `(L)
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
  M:
    LDG.E.STRONG.GPU R4, [R2.64]
)" + kept + R"(
    ISETP.GE.U32.AND P0, PT, R4, 0x8, PT
    @!P0 BRA `(M)
    EXIT
  )",
              1, 2);
  a.context.grid = {4, 1, 1};
  a.context.local_bytes = 16;
  const std::uint64_t counter = a.buffer(0, {0}, "counter");
  const auto blocks = awaited(a, 4);
  ASSERT_EQ(blocks.size(), 4u);
  for (const Awaited& block : blocks) {
    EXPECT_EQ(block.asked, 2u) << "a round a barrier is on record";
    EXPECT_EQ(block.by, (std::vector<work::Awaited>{{4, {}, counter / 4}, {8, {}, counter / 4}}))
        << "also by who came last";
  }
}

TEST(Waits, ABarrierOfAllBlocksIsEndedBySoManyAtomics) { wait_at_two_barriers(""); }

// A volatile variable: ExLlamaV3's barrier_acquire.
TEST(Waits, AThreadMayKeepWhatItFindsInItsOwnMemory) { wait_at_two_barriers("STL [R7], R4\nLDL R4, [R7]"); }

TEST(Waits, WhoCameLastMayLetTheOthersGo) {
  // The one that finds two in the counter sets the flag beside it.
  Assembled a(std::string(kAddress) + R"(
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.EQ.AND P1, PT, R6, 0x2, PT
    @P1 BRA `(W)
  L:
    LDG.E.STRONG.GPU R4, [R2.64+0x4]
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @!P0 BRA `(L)
    EXIT
  W:
    STG.E.STRONG.GPU [R2.64+0x4], R5
    EXIT
  )",
              1, 2);
  a.context.grid = {3, 1, 1};
  const std::uint64_t counter = a.buffer(0, {0, 0}, "counter and flag");
  const auto blocks = awaited(a, 3);
  ASSERT_EQ(blocks.size(), 3u);
  const std::vector<work::Awaited> both = {{0, {2, 0, 0}, 0}, {3, {}, counter / 4}};
  EXPECT_EQ(blocks[0].by, both) << "on the machine another block may be the last";
  EXPECT_EQ(blocks[1].by, both);
  EXPECT_TRUE(blocks[2].by.empty());
}

TEST(Waits, AValueThatWouldHaveDoneBeforeIsNotWaitedForOnceMore) {
  // Block 0 writes 1, then 2; block 1 waits for anything but 0, block 2 for 2.
  Assembled a(std::string(kAddress) + R"(
    MOV R7, 0x2
    ISETP.EQ.AND P1, PT, R0, RZ, PT
    @P1 BRA `(W)
    ISETP.EQ.AND P1, PT, R0, 0x2, PT
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @P1 ISETP.EQ.AND P0, PT, R4, 0x2, PT
    @!P0 BRA `(L)
    EXIT
  W:
    STG.E.STRONG.GPU [R2.64], R5
    STG.E.STRONG.GPU [R2.64], R7
    EXIT
  )",
              1, 2);
  a.context.grid = {3, 1, 1};
  a.buffer(0, {0}, "flag");
  const auto blocks = awaited(a, 1);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_TRUE(blocks[0].by.empty());
  EXPECT_EQ(blocks[1].by, named({{0, 0, 0}}));
  EXPECT_EQ(blocks[2].by, named({{0, 0, 1}}));
}

TEST(Waits, EveryLaneMayWaitForSomebodyElse) {
  // Blocks 0 to 3 write their flags; the lanes of block 4 ask for one each until all are there.
  Assembled a(std::string(kAddress) + R"(
    S2R R1, SR_LANEID
    MOV R9, 0x4
    ISETP.EQ.AND P1, PT, R0, 0x4, PT
    IMAD.WIDE R6, R0, R9, R2
    IMAD.WIDE R2, R1, R9, R2
    @!P1 BRA `(W)
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.EQ.AND P0, PT, R4, RZ, PT
    VOTE.ANY P0, P0
    @P0 BRA `(L)
    EXIT
  W:
    STG.E.STRONG.GPU [R6.64], R5
    EXIT
  )",
              4, 2);
  a.context.grid = {5, 1, 1};
  a.buffer(0, {0, 0, 0, 0}, "flags");
  const auto blocks = awaited(a, 1);
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[4].by, named({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}));
}

TEST(Waits, WhatAsksBeforeALoopIsOnRecordAsTooEarly) {
  const std::string text = std::string(kAddress) + R"(
    ISETP.EQ.AND P1, PT, R0, RZ, PT
    @P1 BRA `(W)
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @P0 BRA `(D)
  L:
    NANOSLEEP 0x64
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @!P0 BRA `(L)
  D:
    EXIT
  W:
    STG.E.STRONG.GPU [R2.64], R5
    EXIT
  )";
  Assembled a(text, 1, 2);
  a.context.grid = {2, 1, 1};
  a.buffer(0, {0}, "flag");
  const auto blocks = awaited(a, 1);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[1].asked, 1u) << "the flag is there at once, and yet";
  EXPECT_EQ(blocks[1].by, named({{0, 0, 0}}));
  Assembled set(text, 1, 2);  // a flag that was set before the launch: nobody waits
  set.context.grid = {2, 1, 1};
  set.buffer(0, {1}, "flag");
  EXPECT_EQ(awaited(set, 1)[1].asked, 0u);
}

TEST(Waits, ALockIsTakenAfterWhoHadItGivesItBack) {
  Assembled a(std::string(kAddress) + R"(
    MOV R8, RZ
  L:
    ATOMG.E.CAS.STRONG.GPU PT, R4, [R2.64], R8, R5
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @P0 BRA `(L)
    ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R2.64], RZ
    EXIT
  )",
              1, 2);
  a.context.grid = {3, 1, 1};
  const std::uint64_t lock = a.buffer(0, {0}, "lock");
  const auto blocks = awaited(a, 1);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_TRUE(blocks[0].by.empty());
  EXPECT_EQ(blocks[1].by, named({{0, 0, 1}}));
  EXPECT_EQ(blocks[2].by, named({{1, 0, 1}}));
  EXPECT_EQ(a.read(lock, 1)[0], 0u) << "trying what would have happened changes nothing";
}

TEST(Waits, AValueThatIsSharedAgainInEveryRoundIsNoProgress) {
  // Triton's atomics that give one value: a warp asks, and tells the other through shared memory. Block 0 waits for block 1.
  Assembled a(std::string(kAddress) + R"(
    S2R R7, SR_TID.X
    MOV R8, RZ
    ISETP.NE.AND P0, PT, R0, RZ, PT
    ISETP.GE.U32.AND P2, PT, R7, 0x20, PT
    @P0 BRA `(W)
  L:
    BAR.SYNC.DEFER_BLOCKING 0x0
    @!P2 ATOMG.E.CAS.STRONG.GPU PT, R4, [R2.64], R5, R5
    @!P2 STS [RZ], R4
    BAR.SYNC.DEFER_BLOCKING 0x0
    LDS R6, [RZ]
    ISETP.NE.AND P1, PT, R6, 0x1, PT
    @P1 BRA `(L)
    EXIT
  W:
    ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R2.64], R5
    EXIT
  )",
              64, 2);
  a.context.grid = {2, 1, 1};
  a.context.dynamic_shared = 16;
  a.context.max_instructions = 100'000;
  a.buffer(0, {0}, "flag");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 2, true);
  const auto first = blocks.next();
  ASSERT_NE(first, nullptr);
  EXPECT_LT(first->warps[0].instructions, 200u) << "a few rounds, then the other's turn";
}

TEST(Waits, AValueThatIsWrittenAgainInEveryRoundIsNoProgress) {
  // Graph colouring: who has to wait for a neighbour writes its own colour, as it was, and asks again. Block 0 waits for block 1.
  Assembled a(std::string(kAddress) + R"(
    ISETP.NE.AND P0, PT, R0, RZ, PT
    @P0 BRA `(W)
  L:
    LDG.E.STRONG.SYS R4, [R2.64]
    STG.E.STRONG.SYS [R2.64+0x4], R4
    STG.E [R2.64+0x8], R4
    ISETP.NE.AND P1, PT, R4, 0x1, PT
    @P1 BRA `(L)
    EXIT
  W:
    STG.E.STRONG.SYS [R2.64], R5
    EXIT
  )",
              1, 2);
  a.context.grid = {2, 1, 1};
  a.context.max_instructions = 100'000;
  const std::uint64_t flag = a.buffer(0, {0, 0, 0}, "flag and colours");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 2, true);
  const auto first = blocks.next();
  ASSERT_NE(first, nullptr);
  EXPECT_LT(first->warps[0].instructions, 200u) << "a few rounds, then the other's turn";
  EXPECT_EQ(a.read(flag, 3), (std::vector<std::uint32_t>{1, 1, 1})) << "what it has found in the end";
}

// Each block waits for the one before it, the first of which computes for long. The loop has a loop in it, so that it is not known as a wait:
// how often the others go around it until they find what they need is work of theirs.
TEST(Waits, BlocksThatGoAroundUntilOthersHaveDoneTheirsRunBesideThem) {
  Assembled a(std::string(kAddress) + R"(
    IMAD.WIDE R8, R0, 0x4, R2
    ISETP.EQ.AND P2, PT, R0, RZ, PT
    MOV R11, 0x10
    @P2 MOV R11, 0x7d0
  W:
    IADD3 R11, R11, -0x1, RZ
    ISETP.NE.AND P1, PT, R11, RZ, PT
    @P1 BRA `(W)
  L:
    MOV R11, 0x10
  V:
    IADD3 R11, R11, -0x1, RZ
    ISETP.NE.AND P1, PT, R11, RZ, PT
    @P1 BRA `(V)
    LDG.E.STRONG.GPU R4, [R8.64]
    ISETP.EQ.AND P0, PT, R4, RZ, PT
    @P0 BRA `(L)
    STG.E.STRONG.GPU [R8.64+0x4], R5
    EXIT
  )",
              1, 2);
  a.context.grid = {4, 1, 1};
  const std::uint64_t words = a.buffer(0, {1, 0, 0, 0, 0}, "words");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 4, false);
  while (blocks.next() != nullptr) {}
  EXPECT_EQ(a.read(words, 5), std::vector<std::uint32_t>(5, 1));
  constexpr std::uint64_t kFirst = 3 * 2000;  // instructions of the first one's work
  EXPECT_GT(blocks.count().instructions, 3 * kFirst) << "the others asked that long";
  EXPECT_LT(blocks.count().instructions, 6 * kFirst);
}

/// Warp instructions for each change, where every thread of the blocks adds to one word by compare-and-swap.
double instructions_per_change(std::uint32_t count) {
  // Each thread has loaded the word strongly before; whoever comes first makes all others try again.
  Assembled a(std::string(kAddress) + R"(
    LDG.E.STRONG.GPU R4, [R2.64]
  L:
    MOV R8, R4
    YIELD
    IADD3 R9, R4, 0x1, RZ
    ATOMG.E.CAS.STRONG.GPU PT, R4, [R2.64], R8, R9
    ISETP.NE.AND P0, PT, R4, R8, PT
    @P0 BRA `(L)
    EXIT
  )",
              64, 2);
  a.context.grid = {count, 1, 1};
  const std::uint64_t word = a.buffer(0, {0}, "word");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, count, false);
  while (blocks.next() != nullptr) {}
  EXPECT_EQ(a.read(word, 1)[0], count * 64);
  return static_cast<double>(blocks.count().instructions) / (count * 64);
}

TEST(Waits, BlocksThatCompeteForAWordDoNotAllTryAtEachChange) {
  const double few = instructions_per_change(64), many = instructions_per_change(512);
  EXPECT_LT(many, 1.5 * few) << "no more for each change, however many blocks there are";
}

/// Asked so often: then it writes the word that a launch waits for, or, where there is none, gives up.
class Answering final : public Outside {
 public:
  Answering(GlobalMemory& memory, std::uint64_t word, int after)
      : memory_(memory), word_(word), after_(after) {}
  bool wait(bool again) override {
    EXPECT_EQ(again, asked > 0);
    if (++asked < after_) return true;
    if (word_ == 0) return false;
    const std::uint32_t one = 1;
    memory_.write(word_, std::as_bytes(std::span(&one, 1)));
    return true;
  }
  int asked = 0;

 private:
  GlobalMemory& memory_;
  const std::uint64_t word_;
  const int after_;
};

constexpr const char* kAsking = R"(
  L:
    LDG.E.STRONG.GPU R4, [R2.64]
    ISETP.EQ.AND P0, PT, R4, RZ, PT
    @P0 BRA `(L)
    EXIT
  )";

TEST(Waits, WhoIsOutsideIsAskedWhenAllBlocksWait) {
  Assembled a(std::string(kAddress) + kAsking, 64, 2);
  a.context.grid = {3, 1, 1};
  const std::uint64_t flag = a.buffer(0, {0}, "flag");
  Answering outside(*a.memory, flag, 5);
  a.context.outside = &outside;
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 3, false);
  for (std::uint64_t block = 0; block < 3; ++block) EXPECT_EQ(blocks.next()->block, block);
  EXPECT_EQ(blocks.next(), nullptr);
  EXPECT_EQ(outside.asked, 6) << "turns end behind a load, so what it has found shows in the next one";
}

TEST(Waits, WhereNobodyOutsideWillAnswerTheLaunchNeverEnds) {
  Assembled a(std::string(kAddress) + kAsking, 64, 2);
  a.buffer(0, {0}, "flag");
  Answering outside(*a.memory, 0, 5);
  a.context.outside = &outside;
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 1, false);
  try {
    blocks.next();
    FAIL() << "no fault";
  } catch (const KernelFault& fault) { EXPECT_EQ(fault.kind(), FaultKind::never_ends); }
  EXPECT_EQ(outside.asked, 5);
}

// The second block asks 200 places in vain before it comes to write what the first one waits for.
TEST(Waits, WhoHasMuchToAskIsNotTakenToWaitForSomebodyOutside) {
  Assembled a(std::string(kAddress) + R"(
    MOV R8, R2
    MOV R9, R3
    MOV R10, 0xc8
    ISETP.EQ.AND P2, PT, R0, RZ, PT
    @P2 BRA `(L)
  W:
    LDG.E.STRONG.GPU R4, [R8.64]
    IADD3 R10, R10, -0x1, RZ
    ISETP.NE.AND P1, PT, R10, RZ, PT
    @P1 BRA `(W)
    STG.E.STRONG.GPU [R2.64], R5
    EXIT
  )" + kAsking,
              32, 2);
  a.context.grid = {2, 1, 1};
  a.buffer(0, {0}, "flag");
  Answering outside(*a.memory, 0, 1);
  a.context.outside = &outside;
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 2, false);
  for (std::uint64_t block = 0; block < 2; ++block) EXPECT_EQ(blocks.next()->block, block);
  EXPECT_EQ(outside.asked, 0);
}

}  // namespace
}  // namespace foretrace::emulate
