// Sampled beside exact, on launches small enough for both.
#include <gtest/gtest.h>

#include <numeric>

#include "model/units/error.h"
#include "sim/engine/later_waves.h"
#include "sim/engine/run_launch.h"
#include "sim/engine/sampled_launch.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

engine::Outcome run(Launch& launch, engine::Accuracy accuracy, int threads = 1, bool complete = true) {
  engine::Machine machine(launch.chip);
  engine::LaunchRun choices;
  choices.accuracy = accuracy;
  choices.threads = threads;
  choices.complete = complete;
  choices.look_from = 200'000;
  return engine::run_launch(launch.assembled.context, launch.shape(), machine, choices);
}

TEST(RunLaunch, ProductsRunAtTheirClock) {
  constexpr std::uint32_t kBlocks = 100, kWords = kBlocks * 128;
  const auto chip =
      std::make_shared<spec::GpuSpec>(config::load_gpu("a100-sxm-40gb", {{"clock.products", "705"}}).spec);
  const std::string multiplied = std::string("HMMA.16816.F32 R12, R16, R20, R12\n") + kDouble;
  Launch plain(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kWords, 3), kWords),
      products(multiplied.c_str(), kBlocks, 128, std::vector<std::uint32_t>(kWords, 3), kWords);
  for (Launch* launch : {&plain, &products}) {
    launch->chip = chip;
    launch->set_word(4, kWords);
  }
  const engine::Outcome at_boost = run(plain, engine::Accuracy::exact),
                        lower = run(products, engine::Accuracy::exact);
  EXPECT_EQ(at_boost.chip->clock.sm, 1'410'000'000u);
  EXPECT_EQ(lower.chip->clock.sm, 705'000'000u);
  // Its load waits for L2 and DRAM, whose clocks are their own: half as many cycles.
  EXPECT_LT(lower.counters.elapsed + 200, at_boost.counters.elapsed);

  // L2 goes along from one clock to the other where launches are warm, and is empty where they are cold.
  engine::Machine machine(chip);
  engine::LaunchRun choices;
  const auto read = [&](Launch& launch, bool warm) {
    choices.warm = warm;
    return engine::run_launch(launch.assembled.context, launch.shape(), machine, choices)
        .counters.memory.dram_bytes_read;
  };
  const std::uint64_t cold = read(products, false);
  EXPECT_LT(read(plain, true), cold / 10);  // of the same addresses
  EXPECT_LT(read(products, true), cold / 10);
  EXPECT_EQ(read(plain, false), cold);
}

TEST(RunLaunch, SampledIsNearExact) {
  constexpr std::uint32_t kBlocks = 14'000,
                          kWords = kBlocks * 128;  // 14 MB: so little that L2 does not begin to write back
  Launch launch(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kWords, 3), kWords);
  launch.set_word(4, kWords);
  launch.assembled.program.registers = 128;  // 432 blocks are a wave
  const engine::Outcome exact = run(launch, engine::Accuracy::exact),
                        sampled = run(launch, engine::Accuracy::sampled);
  EXPECT_FALSE(exact.estimate.sampled);
  ASSERT_TRUE(sampled.estimate.sampled) << sampled.estimate.note;
  EXPECT_LT(sampled.estimate.simulated, 0.86);
  const auto cycles = static_cast<double>(exact.counters.elapsed);
  EXPECT_NEAR(static_cast<double>(sampled.counters.elapsed) / cycles, 1, 0.03);
  EXPECT_LT(sampled.estimate.cycles_low, sampled.estimate.cycles_high);
  EXPECT_EQ(sampled.counters.inst_executed, exact.counters.inst_executed);
  EXPECT_EQ(sampled.counters.branches, exact.counters.branches);
  EXPECT_EQ(sampled.counters.l1_sectors_global_ld, exact.counters.l1_sectors_global_ld);
  EXPECT_EQ(sampled.counters.l1_sectors_global_st, exact.counters.l1_sectors_global_st);
  EXPECT_NEAR(static_cast<double>(sampled.counters.memory.dram_bytes_read) /
                  static_cast<double>(exact.counters.memory.dram_bytes_read),
              1, 0.03);
  // The laws of a simulated launch hold for an estimated one.
  const stats::LaunchCounters& c = sampled.counters;
  EXPECT_EQ(c.scheduler_cycles,
            c.issue_active + std::accumulate(c.idle_reason.begin(), c.idle_reason.end(), std::uint64_t{0}));
  EXPECT_EQ(c.warp_cycles, std::accumulate(c.state.begin(), c.state.end(), std::uint64_t{0}));
  EXPECT_EQ(c.memory.read_latency, c.memory.segment_network + c.memory.segment_l2 +
                                       c.memory.segment_partition + c.memory.segment_dram_queue +
                                       c.memory.segment_dram);
  EXPECT_NEAR(static_cast<double>(c.sm_active) / static_cast<double>(exact.counters.sm_active), 1, 0.04);
}

TEST(RunLaunch, ALaunchThatFillsL2HasNotSettledBefore) {
  // 30 MB of 40: L2 begins to write back, which DRAM's readers feel, and is not full when the launch ends.
  constexpr std::uint32_t kBlocks = 30'000, kWords = kBlocks * 128;
  Launch launch(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kWords, 3), kWords);
  launch.set_word(4, kWords);
  launch.assembled.program.registers = 128;  // 432 blocks are a wave
  const engine::Outcome sampled = run(launch, engine::Accuracy::sampled, 1, false);
  EXPECT_FALSE(sampled.estimate.sampled);
  EXPECT_NE(sampled.estimate.note.find("did not settle"), std::string::npos) << sampled.estimate.note;
}

TEST(RunLaunch, SampledLeavesMemoryComplete) {
  constexpr std::uint32_t kBlocks = 12'000, kWords = kBlocks * 128;
  std::vector<std::uint32_t> ones(kWords, 0x3f800000);
  Launch launch(kDouble, kBlocks, 128, ones, kWords);
  launch.set_word(4, kWords);
  launch.assembled.program.registers = 128;  // 432 blocks are a wave
  const engine::Outcome sampled = run(launch, engine::Accuracy::sampled, 2);
  ASSERT_TRUE(sampled.estimate.sampled) << sampled.estimate.note;
  EXPECT_EQ(launch.assembled.read(launch.out, kWords), std::vector<std::uint32_t>(kWords, 0x40000000));
}

TEST(RunLaunch, SampledDoesNotDependOnThreads) {
  constexpr std::uint32_t kBlocks = 12'000, kWords = kBlocks * 128;
  Launch launch(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kWords), kWords);
  launch.set_word(4, kWords);
  launch.assembled.program.registers = 128;  // 432 blocks are a wave
  const engine::Outcome one = run(launch, engine::Accuracy::sampled, 1, false),
                        three = run(launch, engine::Accuracy::sampled, 3, false);
  ASSERT_TRUE(one.estimate.sampled);
  EXPECT_EQ(one.counters.elapsed, three.counters.elapsed);
  EXPECT_EQ(one.estimate.cycles_high, three.estimate.cycles_high);
  EXPECT_EQ(one.counters.state, three.counters.state);
}

TEST(RunLaunch, ASmallLaunchIsExactAndAWaitingOneToo) {
  Launch small(kCountDown, 50, 32, std::vector<std::uint32_t>(50, 10), 50);
  const engine::Outcome automatic = run(small, engine::Accuracy::automatic);
  EXPECT_FALSE(automatic.estimate.sampled);
  EXPECT_TRUE(automatic.estimate.note.empty());
  const engine::Outcome asked = run(small, engine::Accuracy::sampled);
  EXPECT_FALSE(asked.estimate.sampled);
  EXPECT_NE(asked.estimate.note.find("simulated exactly"), std::string::npos);
  EXPECT_EQ(asked.counters.elapsed, automatic.counters.elapsed);
  EXPECT_EQ(asked.estimate.cycles_low, static_cast<double>(asked.counters.elapsed));
}

TEST(RunLaunch, FewerThanSixWavesAreSimulatedToTheEnd) {
  const auto note_with = [](std::uint32_t blocks) {
    Launch launch(kCountDown, blocks, 1024, std::vector<std::uint32_t>(blocks, 10), blocks);
    return run(launch, engine::Accuracy::sampled).estimate.note;
  };
  Launch one(kCountDown, 1, 1024, std::vector<std::uint32_t>(1, 10), 1);
  const auto wave = static_cast<std::uint32_t>(engine::Machine(one.chip).resident_blocks(one.shape()));
  ASSERT_GE(wave, 2u);
  EXPECT_NE(note_with(6 * wave - 1).find("6.0 waves of blocks are too few"), std::string::npos)
      << note_with(6 * wave - 1);
  EXPECT_EQ(note_with(6 * wave).find("too few"), std::string::npos);
}

TEST(RunLaunch, BlocksWhoseWorkDependsOnWhatOthersDidAreSimulatedToTheEnd) {
  // Each block takes a value back from an atomic, and blocks differ in their work.
  const char* const text = R"(
  S2R R0, SR_TID.X
  MOV R1, 0x1
  MOV R2, c[0x0][0x160]
  MOV R3, c[0x0][0x164]
  ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R1
  S2R R5, SR_CTAID.X
  LOP3.LUT R5, R5, 0x3f, RZ, 0xc0, !PT
  IADD3 R5, R5, 0x1, RZ
  L:
  IADD3 R5, R5, -0x1, RZ
  ISETP.GT.AND P0, PT, R5, RZ, PT
  @P0 BRA `(L)
  EXIT
)";
  constexpr std::uint32_t kBlocks = 30'000;
  Launch launch(text, kBlocks, 32, {0}, 1);
  const engine::Outcome sampled = run(launch, engine::Accuracy::sampled, 1, false);
  EXPECT_FALSE(sampled.estimate.sampled);
  EXPECT_NE(sampled.estimate.note.find("depends on what others did"), std::string::npos)
      << sampled.estimate.note;
}

TEST(RunLaunch, BlocksThatAllRunAtOnceAreSampledWhereTheyAreAlike) {
  const auto sampled = [](std::uint32_t even, std::uint32_t odd) {
    constexpr std::uint32_t kBlocks = 256;
    std::vector<std::uint32_t> rounds(kBlocks, even);
    for (std::uint32_t i = 1; i < kBlocks; i += 2) rounds[i] = odd;
    Launch launch(kCountDown, kBlocks, 128, rounds, kBlocks);
    engine::Machine machine(launch.chip);
    return engine::suitability(launch.assembled.context, launch.shape(), machine, true).sampled;
  };
  EXPECT_TRUE(sampled(12'000, 12'000));
  EXPECT_FALSE(sampled(2'000, 22'000)) << "half of them end early: no rate lasts";
}

TEST(RunLaunch, AccuracyIsOneOfThreeWordsAndAnOldOne) {
  EXPECT_EQ(engine::parse_accuracy("sampled", "--accuracy"), engine::Accuracy::sampled);
  EXPECT_EQ(engine::parse_accuracy("fast", "--accuracy"), engine::Accuracy::sampled);
  EXPECT_THROW(engine::parse_accuracy("quick", "--accuracy"), InputError);
}

TEST(RunLaunch, SharedMemoryIsGivenOutInTheChipsUnits) {
  // A word at byte 100 of a block that asks for 68 bytes: its own in units of 128 bytes, nobody's in units of 4.
  const auto run_with = [](const char* unit) {
    Launch launch("MOV R1, 0x64\nLDS R2, [R1]\nEXIT\n", 1, 32, {0}, 1);
    launch.chip = std::make_shared<spec::GpuSpec>(
        config::load_gpu("a100-sxm-40gb", {{"limits.shared_unit", unit}}).spec);
    launch.assembled.context.dynamic_shared = 68;
    launch.assembled.context.checks.bounds = false;
    launch.assembled.context.report = [](std::string_view) {};
    run(launch, engine::Accuracy::exact);
  };
  EXPECT_NO_THROW(run_with("128"));
  EXPECT_THROW(run_with("4"), emulate::KernelFault);
}

TEST(LaterWaves, AreSimulatedWhereOneIsTooLong) {
  // 432 blocks of four warps are a wave; three instructions per round: 104 million warp instructions per wave.
  constexpr std::uint32_t kRounds = 20'000;
  const auto later = [](std::uint32_t blocks, std::uint32_t rounds) {
    Launch launch(kCountDown, blocks, 128, std::vector<std::uint32_t>(blocks, rounds), blocks);
    launch.assembled.program.registers = 128;
    engine::Machine machine(launch.chip);
    const engine::Launch shape = launch.shape();
    const engine::Suitability suits = engine::suitability(launch.assembled.context, shape, machine, true);
    auto result = engine::later_waves(launch.assembled.context, shape, machine, 2, suits.survey);
    EXPECT_EQ(launch.assembled.read(launch.out, 1)[0], 0u);  // nothing is written
    return result;
  };
  const std::optional<engine::LaterWaves> found = later(3 * 432, kRounds);
  ASSERT_TRUE(found);
  EXPECT_GT(found->counters.inst_executed, 1'000'000u);
  EXPECT_LT(found->counters.inst_executed, 30'000'000u);
  EXPECT_GT(found->rate.instructions, 0);
  EXPECT_FALSE(later(432 + 431, kRounds)) << "there is no second wave";
  EXPECT_FALSE(later(3 * 432, kRounds / 2)) << "a wave is short enough to be simulated";
}

}  // namespace
}  // namespace foretrace::engine_tests
