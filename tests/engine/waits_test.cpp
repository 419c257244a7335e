// Blocks that wait for each other, emulated and simulated: the clock of the model says how often they ask.

#include <gtest/gtest.h>

#include <numeric>

#include "sim/engine/run_launch.h"
#include "sim/engine/sources.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

/// A counter, and the blocks that are awaited. Block 0 first counts down from the word that `in` holds; then all come to a barrier.
const char* const kBarrier = R"(
  S2R R0, SR_CTAID.X
  MOV R2, c[0x0][0x168]
  MOV R3, c[0x0][0x16c]
  MOV R5, 0x1
  MOV R6, c[0x0][0x174]
  ISETP.EQ.AND P0, PT, R0, RZ, PT
  @!P0 BRA `(A)
  C:
  IADD3 R6, R6, -0x1, RZ
  ISETP.GT.AND P0, PT, R6, RZ, PT
  @P0 BRA `(C)
  A:
  ATOMG.E.ADD.STRONG.GPU PT, R7, [R2.64], R5
  L:
  LDG.E.STRONG.GPU R4, [R2.64]
  ISETP.GE.U32.AND P0, PT, R4, c[0x0][0x170], PT
  @!P0 BRA `(L)
  EXIT
)";
constexpr std::uint32_t kAdd = 10, kPoll = 11;  // instructions: the atomic, the load that waits

/// As before, but the others wait for block 0 alone, which sets a flag by a plain store behind a fence. The others ask by an atomic that adds nothing.
const char* const kFlag = R"(
  S2R R0, SR_CTAID.X
  MOV R2, c[0x0][0x168]
  MOV R3, c[0x0][0x16c]
  MOV R5, 0x1
  MOV R6, c[0x0][0x174]
  ISETP.EQ.AND P0, PT, R0, RZ, PT
  @!P0 BRA `(L)
  C:
  IADD3 R6, R6, -0x1, RZ
  ISETP.GT.AND P0, PT, R6, RZ, PT
  @P0 BRA `(C)
  MEMBAR.SC.GPU
  STG.E [R2.64], R5
  EXIT
  L:
  ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], RZ
  ISETP.EQ.AND P0, PT, R4, RZ, PT
  @P0 BRA `(L)
  EXIT
)";
constexpr std::uint32_t kFlagPoll = 13;

struct Barrier : Launch {
  Barrier(std::uint32_t blocks, std::uint32_t rounds, const char* text = kBarrier)
      : Launch(text, blocks, 1, {0}, 1) {
    assembled.context.parameters.resize(24);
    assembled.program.parameter_bytes = 24;
    set_word(4, blocks);
    set_word(5, rounds);
    for (isa::Instruction& instruction : assembled.program.code) {
      if (instruction.opcode == isa::Opcode::ATOMG) instruction.control.write_barrier = 0;
    }
  }
  engine::Outcome run(int threads = 1) {
    engine::Machine machine(chip);
    engine::LaunchRun choices;
    choices.accuracy = engine::Accuracy::exact;
    choices.threads = threads;
    return engine::run_launch(assembled.context, shape(), machine, choices);
  }
};

TEST(Waits, BlocksAskUntilTheLastHasCome) {
  constexpr std::uint32_t kBlocks = 64;
  Barrier late(kBlocks, 2000), later(kBlocks, 4000);
  const stats::LaunchCounters a = late.run().counters, b = later.run().counters;
  EXPECT_EQ(a.instructions[kAdd].executed, kBlocks);
  // All wait for block 0, and so ask in proportion to its time.
  const auto polls = [&](const stats::LaunchCounters& counters) {
    return counters.instructions[kPoll].executed;
  };
  EXPECT_GT(polls(a), 10u * kBlocks);
  EXPECT_GT(polls(b), 3 * polls(a) / 2);
  EXPECT_GT(b.elapsed, a.elapsed + 2000 * 15);  // fifteen cycles per round
  // One block per SM: all end within a round of the wait.
  std::vector<std::uint64_t> active = b.sm_active_each;
  std::erase(active, 0u);
  ASSERT_EQ(active.size(), kBlocks);
  const auto [least, most] = std::minmax_element(active.begin(), active.end());
  EXPECT_LT(*most - *least, 3000u);
  EXPECT_GT(*least, 4000u * 15);
}

TEST(Waits, AFlagByAPlainStoreBehindAFenceIsAwaited) {
  constexpr std::uint32_t kBlocks = 16;
  Barrier late(kBlocks, 2000, kFlag), later(kBlocks, 4000, kFlag);
  const stats::LaunchCounters a = late.run().counters, b = later.run().counters;
  EXPECT_GT(a.instructions[kFlagPoll].executed, 10u * kBlocks);
  EXPECT_GT(b.instructions[kFlagPoll].executed, 3 * a.instructions[kFlagPoll].executed / 2);
  EXPECT_GT(b.elapsed, a.elapsed + 2000 * 15);
}

TEST(Waits, NobodyAsksTwiceForWhatIsThere) {
  Barrier alone(1, 1);  // it comes last, so it waits for nobody
  EXPECT_EQ(alone.run().counters.instructions[kPoll].executed, 1u);
}

TEST(Waits, AnyNumberOfThreadsGivesTheSameBits) {
  Barrier one(200, 500), three(200, 500);
  const stats::LaunchCounters a = one.run(1).counters, b = three.run(3).counters;
  EXPECT_EQ(a.elapsed, b.elapsed);
  EXPECT_EQ(a.sm_active_each, b.sm_active_each);
  EXPECT_EQ(a.over_time, b.over_time);
  EXPECT_EQ(a.inst_executed, b.inst_executed);
  EXPECT_EQ(a.memory.tex_sectors_read, b.memory.tex_sectors_read);
  EXPECT_EQ(a.state, b.state);
}

TEST(Waits, BlocksThatCannotStartAreNotWaitedForForEver) {
  // Recorded as if all 300 were resident; the machine holds one per SM, so those that start first would wait for others that never do.
  Barrier barrier(300, 1);
  const auto resident = [&](std::uint32_t blocks_per_sm) {
    const auto fork = barrier.assembled.memory->fork();
    emulate::LaunchContext context = barrier.assembled.context;
    context.memory = fork.get();
    const emulate::Emulator emulator(context);
    engine::EmulatedBlocks source(emulator, 300, 1, nullptr);
    engine::Machine machine(barrier.chip);
    engine::RunOptions options;
    options.blocks_per_sm = blocks_per_sm;
    return machine.run(barrier.shape(), source, options);
  };
  const engine::Outcome all = resident(0), few = resident(1);
  EXPECT_EQ(all.estimate.note, "");
  EXPECT_LT(all.counters.elapsed, 50'000u);
  EXPECT_EQ(few.counters.blocks, 300u);
  EXPECT_GT(few.counters.elapsed, 500'000u);
  EXPECT_NE(few.estimate.note, "");
}

}  // namespace
}  // namespace foretrace::engine_tests
