// The issue stage: stall counts, scoreboards, pipes, operand reads. Each number comes from the chip's configuration.

#include <gtest/gtest.h>

#include <numeric>

#include "model/units/error.h"
#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

std::vector<Line> repeat(const Line& line, int times) {
  return std::vector<Line>(static_cast<std::size_t>(times), line);
}

/// Cycles that 40 more of the same instructions take.
Cycle forty_more(const spec::GpuSpec& chip, const Line& line, int warps = 1) {
  return run(chip, repeat(line, 80), warps).end - run(chip, repeat(line, 40), warps).end;
}

TEST(Issue, AStallCountHoldsTheSameWarpForThatManyCycles) {
  const spec::GpuSpec chip = bench_chip();
  for (const unsigned stall : {1u, 2u, 4u, 7u, 15u}) {
    EXPECT_EQ(forty_more(chip, {"NOP", static_cast<std::uint8_t>(stall)}), 40u * stall) << stall;
  }
}

TEST(Issue, OtherWarpsFillTheStallCycles) {
  const spec::GpuSpec chip = bench_chip();
  // Four warps on each sub-core, one chain of stall 4 each: one instruction per cycle.
  EXPECT_EQ(forty_more(chip, {"MOV R0, 0x1", 4}, 4), 160u);  // one warp per sub-core
  EXPECT_EQ(forty_more(chip, {"NOP", 4}, 16), 160u);         // four warps per sub-core: the slots are full
}

TEST(Issue, FfmaGoesToEitherHalfAndImadToTheHeavyOne) {
  const spec::GpuSpec chip = bench_chip();
  const auto heavy = chip.pipe[static_cast<std::size_t>(spec::Pipe::fmaheavy)].interval;
  EXPECT_EQ(forty_more(chip, {"FADD R0, R2, R5", 1}),
            40u);  // split over the banks: one per cycle with two halves
  EXPECT_EQ(forty_more(chip, {"IMAD R0, R2, R5, RZ", 1}), 40u * heavy);
}

TEST(Issue, OperandsInOneBankCostACycleEach) {
  const spec::GpuSpec chip = bench_chip();
  EXPECT_EQ(forty_more(chip, {"FFMA R1, R2, R4, R6", 1}), 120u);  // three reads of the even bank
  EXPECT_EQ(forty_more(chip, {"FFMA R1, R2, R4, R7", 1}), 80u);   // two of them
  EXPECT_EQ(forty_more(chip, {"FFMA R1, R2, R2, R2", 1}), 40u);   // the same register is read once
  EXPECT_EQ(forty_more(chip, {"FFMA R1, R2.reuse, R4.reuse, R6", 1}),
            40u);  // kept in the register-file cache
  EXPECT_EQ(forty_more(chip, {"FFMA R1, R2.reuse, R4, R6", 1}), 80u);
}

TEST(Issue, OperandsOfMatrixProductsInOneBankHoldNothing) {
  const Ran ran = run(bench_chip(), repeat({"HMMA.16816.F32 R4, R8, R12, R4", 8}, 20));
  EXPECT_GT(ran.counters.register_bank_conflict_cycles, 0u);
  EXPECT_EQ(state(ran, stats::WarpState::dispatch_stall), 0u);
}

TEST(Issue, AWideMultiplicationHoldsItsSubCoreWhateverItsStallCount) {
  const spec::GpuSpec chip = bench_chip();
  const auto pairs = [&](const char* first, std::uint8_t stall, int warps) {  // cycles of 20 more of them
    std::vector<Line> some, more;
    for (int i = 0; i < 40; ++i) {
      for (std::vector<Line>* lines : {&some, &more}) {
        if (lines == &some && i >= 20) continue;
        lines->push_back({first, stall});
        lines->push_back({"NOP", 1});
      }
    }
    return run(chip, more, warps).end - run(chip, some, warps).end;
  };
  for (const unsigned stall : {2u, 5u, 8u}) {
    const auto s = static_cast<std::uint8_t>(stall);
    EXPECT_EQ(pairs("IMAD R0, R2, R5, RZ", s, 1), 20u * (stall + 1));
    EXPECT_EQ(pairs("IMAD.WIDE R6, R2, 0x4, R8", s, 1), 20u * (stall + 1 + 2))
        << stall;  // as issue_stall: 5, 8, 11
  }
  // Stall counts of the sub-core's other warps stand still in the meantime, and the wait stays a wait; a hold of one's own is none.
  const std::vector<Line> lines = repeat({"IMAD.WIDE R6, R2, 0x4, R8", 5}, 20);
  const Ran one = run(chip, lines), two = run(chip, lines, 8);  // the second: two warps per sub-core
  EXPECT_EQ(state(one, stats::WarpState::dispatch_stall), 40u);
  EXPECT_EQ(state(one, stats::WarpState::wait), 20u * 4 + 4);  // the EXIT's count too
  EXPECT_GE(state(two, stats::WarpState::wait), 8 * (20u * 4 + 4) + 8 * 19 * 2);
}

TEST(Issue, ABranchThatIsNotTakenCostsItsStallCountAndOneThatIsTheTarget) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle straight = run(chip, {{"NOP", 5}, {"NOP", 1}}).end;
  // Lanes of a guard: none is on, so nothing jumps.
  for (const char* text : {"BRA 0x20", "EXIT", "BREAK B0"}) {
    const Ran ran = run(chip, {{text, 5, 7, 7, 0, 0u}, {"NOP", 1}});
    EXPECT_EQ(ran.end, straight) << text;
    EXPECT_EQ(state(ran, stats::WarpState::branch_resolving), chip.fetch.converge_latency - 5)
        << text;  // the last EXIT's
  }
  const Ran converges = run(chip, {{"BSYNC B0", 5}, {"NOP", 1}});
  EXPECT_EQ(converges.end - straight, chip.fetch.converge_latency - 5);
  EXPECT_EQ(state(converges, stats::WarpState::branch_resolving), 2 * (chip.fetch.converge_latency - 5));
  EXPECT_EQ(run(chip, {{"BSYNC B0", 14}, {"NOP", 1}}).end - straight, 14u - 5);  // a longer count decides
}

TEST(Issue, ATargetInARegisterTakesLongerToResolve) {
  const spec::GpuSpec chip = bench_chip();
  const auto jump = [&](const char* text) {
    Line skipped{"NOP", 1};
    skipped.skipped = true;
    return run(chip, {{text, 5}, skipped, {"NOP", 1}});
  };
  const Ran direct = jump("BRA `(first)");
  for (const char* text :
       {"BRX R2 -0x10", "JMX R2 -0x10", "RET.REL.NODEC R2 `(first)", "CALL.REL.NOINC R2 `(first)"}) {
    const Ran ran = jump(text);
    EXPECT_EQ(ran.end - direct.end, chip.fetch.target_latency) << text;
    EXPECT_EQ(
        state(ran, stats::WarpState::branch_resolving) - state(direct, stats::WarpState::branch_resolving),
        chip.fetch.target_latency)
        << text;
  }
  EXPECT_EQ(jump("CALL.REL.NOINC `(first)").end, direct.end);
}

TEST(Issue, AMaskInARegisterTakesLongerToResolve) {
  const spec::GpuSpec chip = bench_chip();
  const auto waits = [&](const Line& line) {
    return state(run(chip, {line, {"NOP", 1}}), stats::WarpState::branch_resolving) -
           state(run(chip, {{"NOP", 5}, {"NOP", 1}}), stats::WarpState::branch_resolving);
  };
  const auto masks = [&](std::uint32_t count) {
    Line line{"WARPSYNC R2", 5};
    line.value = count;
    return waits(line);
  };
  EXPECT_EQ(masks(1), chip.fetch.mask_latency);
  EXPECT_EQ(masks(4), chip.fetch.mask_latency + 3 * chip.fetch.mask_interval);
  EXPECT_EQ(waits({"WARPSYNC R2", 5, 7, 7, 0, 0u}), 0u) << "no lane comes to it";
  EXPECT_EQ(waits({"WARPSYNC.ALL", 5}), 0u);
}

TEST(Issue, ABlocksFirstPreexitIsAnnouncedAndNoOther) {
  const spec::GpuSpec chip = bench_chip();
  EXPECT_EQ(run(chip, {{"NOP", 1}}, 3).announced, 0);
  EXPECT_EQ(run(chip, {{"PREEXIT", 1}, {"NOP", 1}}, 3).announced, 1);
  EXPECT_EQ(run(chip, {{"PREEXIT", 1, 7, 7, 0, 0u}, {"NOP", 1}}, 3).announced, 0) << "no lane comes to it";
}

TEST(Issue, AReturnIsCountedOnTheAduToo) {
  const spec::GpuSpec chip = bench_chip();
  const auto on = [&](const Ran& ran, spec::Pipe pipe) {
    return ran.counters.pipe_inst[static_cast<std::size_t>(pipe)];
  };
  const Ran jump = run(chip, {{"BSYNC B0", 5}, {"NOP", 1}}, 3);
  const Ran back = run(chip, {{"RET.REL.NODEC R2 `(first)", 5, 7, 7, 0, 0u}, {"NOP", 1}}, 3);
  EXPECT_EQ(on(jump, spec::Pipe::adu), 0u);
  EXPECT_EQ(on(back, spec::Pipe::adu), 3u) << "one per warp";
  EXPECT_EQ(on(back, spec::Pipe::cbu), on(jump, spec::Pipe::cbu));
}

TEST(Issue, ConstantLoadsOfAllSubCoresShareOneUnitWithAQueueEach) {
  const spec::GpuSpec chip = bench_chip();
  const auto interval = chip.pipe[static_cast<std::size_t>(spec::Pipe::adu)].interval;
  const Line load{"LDC R0, c[0x0][0x210]", 1};
  const auto later = [&](int warps) {  // 40 loads of each after the line has come
    return run(chip, repeat(load, 160), warps).end - run(chip, repeat(load, 120), warps).end;
  };
  EXPECT_EQ(later(1), 40u * interval);
  EXPECT_EQ(later(4), 160u * interval);  // a warp on each sub-core
  const auto throttled = [&](int loads) {
    return state(run(chip, repeat(load, loads)), stats::WarpState::mio_throttle);
  };
  const auto queue = static_cast<int>(chip.sm.adu_queue);
  EXPECT_EQ(throttled(queue), 0u);
  EXPECT_GT(throttled(4 * queue), 0u);
}

TEST(Issue, AScoreboardIsReleasedAfterTheLatencyAndNotBefore) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle lds = chip.shared.latency;
  // The consumer's stall count alone would hold it `gap` cycles: below the latency the scoreboard decides, above it the count.
  const auto ends = [&](std::uint8_t gap_a, std::uint8_t gap_b, std::uint8_t wait) {
    return run(chip, {{"LDS R0, [R2]", gap_a, 0}, {"NOP", gap_b}, {"FADD R1, R0, R3", 1, 7, 7, wait}}).end;
  };
  const Cycle waited = ends(2, 2, 1);
  EXPECT_EQ(waited - ends(2, 2, 0), lds - 4);  // issued exactly `latency` cycles after the load
  EXPECT_EQ(ends(10, static_cast<std::uint8_t>(lds - 10), 1),
            waited);  // a count of exactly the latency changes nothing
  EXPECT_EQ(ends(10, static_cast<std::uint8_t>(lds - 10 + 1), 1), waited + 1);  // one more does
}

TEST(Issue, WaitingForSharedMemoryIsAShortScoreboardAndForGlobalMemoryALongOne) {
  const spec::GpuSpec chip = bench_chip();
  const Ran shared = run(chip, {{"LDS R0, [R2]", 2, 0}, {"FADD R1, R0, R3", 1, 7, 7, 1}});
  EXPECT_EQ(state(shared, stats::WarpState::short_scoreboard), chip.shared.latency - 2);
  EXPECT_EQ(state(shared, stats::WarpState::long_scoreboard), 0u);
  const Ran global =
      run(chip, {{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096}, {"FADD R1, R0, R3", 1, 7, 7, 1}});
  EXPECT_GT(state(global, stats::WarpState::long_scoreboard), 250u);
  EXPECT_EQ(state(global, stats::WarpState::short_scoreboard), 0u);
}

TEST(Issue, ArithmeticBehindABarrierDoesNotWaitForIt) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](const char* barrier, int additions) {
    std::vector<Line> lines = {{barrier, 1}};
    for (int i = 0; i < additions; ++i) lines.push_back({"FADD R1, R1, R4", 4});
    lines.push_back({"STS [R2], R1", 1, 7, 0});
    return run(chip, lines).end;
  };
  const char* const defers = "BAR.SYNC.DEFER_BLOCKING 0x0";
  // A lone warp's barrier is over after barrier.warp_interval and barrier.latency, 14 cycles: three additions, a cycle after it.
  ASSERT_EQ(chip.barrier.warp_interval + chip.barrier.latency, 14u);
  const Cycle none = end(defers, 0);
  EXPECT_EQ(end(defers, 3), none) << "the store waits for the barrier";
  EXPECT_EQ(end(defers, 4), none + 3) << "17 cycles of additions";
  EXPECT_EQ(end("BAR.SYNC 0x0", 3), end("BAR.SYNC 0x0", 0) + 12) << "it holds what is behind it at once";
  EXPECT_EQ(end("BAR.SYNC 0x0", 0), none);
}

TEST(Issue, EveryWarpCycleHasOneStateAndEverySchedulerCycleOneReason) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran = run(chip,
                      {{"MUFU.RCP R0, R1", 1, 0},
                       {"LDG.E R4, desc[UR4][R2.64]", 1, 1, 7, 0, ~0u, 8192, 128},
                       {"FFMA R1, R2, R4, R6", 1},
                       {"IMAD R1, R2, R4, R6", 1},
                       {"FADD R1, R0, R4", 4, 7, 7, 3},
                       {"BAR.SYNC.DEFER_BLOCKING 0x0", 5},
                       {"STG.E desc[UR4][R2.64], R1", 1, 7, 2, 0, ~0u, 65536}},
                      24);
  const auto sum = [](const auto& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum(ran.counters.state), ran.counters.warp_cycles);
  EXPECT_EQ(sum(ran.counters.idle_reason) + ran.counters.issue_active, ran.counters.scheduler_cycles);
  EXPECT_EQ(ran.counters.issue_active, 24u * 8);
  EXPECT_GT(state(ran, stats::WarpState::barrier), 0u);
  EXPECT_GT(state(ran, stats::WarpState::mio_throttle) + state(ran, stats::WarpState::lg_throttle), 0u);
  std::uint64_t attributed = 0;
  for (const auto& instruction : ran.counters.instructions) attributed += sum(instruction.stalled);
  EXPECT_EQ(attributed, ran.counters.warp_cycles);  // every state is attributed to an instruction
}

TEST(Issue, ABarrierCostsItsLatencyAndAnIntervalAWarp) {
  const spec::GpuSpec chip = bench_chip();
  const Line barrier{"BAR.SYNC.DEFER_BLOCKING 0x0", 1};
  for (const int warps : {1, 4, 8, 16}) {
    EXPECT_EQ(forty_more(chip, barrier, warps),
              40 * (chip.barrier.latency + chip.barrier.warp_interval * static_cast<unsigned>(warps)))
        << warps;
  }
}

/// Of three warps two meet at a barrier for 64 threads; the third waits for memory and comes to none: the cycles that they wait at it.
Cycle waited_at(const std::string& barrier, std::uint32_t value) {
  const auto lines = [&](bool meets) {
    const std::uint32_t some = 1;  // not all, or the bench leaves out the guard
    const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, meets ? 0 : some, 4096};
    Line meet{barrier, 5, 7, 7, 1, meets ? some : 0};
    meet.value = value;
    return std::vector<Line>{load, meet};
  };
  const Ran ran = run_warps(bench_chip(), {lines(true), lines(true), lines(false)}, 100000);
  return state(ran, stats::WarpState::barrier);
}

TEST(Issue, ABarrierWaitsForAsManyThreadsAsItsRegisterSays) {
  const Cycle said = waited_at("BAR.SYNC 0x3, 0x40", 0);
  EXPECT_LT(said, 1000u);
  EXPECT_EQ(waited_at("BAR.SYNC 0x3, R4", 64 << 16 | 3), said);
  EXPECT_EQ(waited_at("BAR.SYNC R4, R4", 64 << 16 | 3), said);
  EXPECT_EQ(waited_at("BAR.SYNC R4, 0x40", 64 << 16 | 3), said);
  EXPECT_EQ(waited_at("BAR.SYNC RZ, 0x40", 0), said);
  EXPECT_GT(waited_at("BAR.SYNC 0x3, RZ", 0), 100000u);  // 0: all of the block
}

TEST(Issue, ADepbarLetsAsManyGroupsOfCopiesBeOutstandingAsItSays) {
  const spec::GpuSpec chip = bench_chip();
  const Line copy{"LDGSTS.E [R0], desc[UR4][R2.64]", 1, 7, 7, 0, ~0u, 1 << 20};
  const Line commit{"LDGDEPBAR", 1, 0};
  const Ran none = run(chip, {copy, commit, {"DEPBAR.LE SB0, 0x1", 4}}, 1, 1000);
  const Ran all = run(chip, {copy, commit, {"DEPBAR.LE SB0, 0x0", 4}}, 1, 1000);
  EXPECT_LT(none.end, 1000u);
  EXPECT_GT(all.end, 1000u);
}

TEST(Issue, AnOpcodeWithoutARowStopsTheRunOnlyWhereItIsExecuted) {
  const spec::GpuSpec chip = bench_chip();
  Line line{"OMMA.SF.16864.F32.E2M1.E2M1 R8, R4, R6, R8"};
  line.executed = 0;
  EXPECT_GT(run(chip, {line}).end, 0u);
  line.executed = 1;
  try {
    run(chip, {line});
    FAIL() << "it has no row on sm_90";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel bench, offset 0x0: no row for OMMA.SF.16864.F32.E2M1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace foretrace::sm_tests
