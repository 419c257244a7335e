// What limits a kernel: each answer just past its threshold, and the next answer just before it.
#include "sim/report/limiter.h"

#include <gtest/gtest.h>

#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

using testing::sample_prediction;

Limiter limiter_of(const Prediction& prediction) { return make_result(prediction).limiter; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Limiter, NothingBusyMeansTheMainStall) {
  const Limiter found = limiter_of(sample_prediction());
  EXPECT_EQ(found.name, "latency_long_scoreboard");
  EXPECT_TRUE(
      contains(found.sentence,
               "warps spend 88% of their cycles waiting for data from L1, L2 or DRAM (long_scoreboard)"))
      << found.sentence;
  EXPECT_TRUE(contains(found.sentence, "sample.cu:10")) << found.sentence;  // the load that wastes sectors
  EXPECT_TRUE(contains(found.sentence, "theoretical occupancy is 38%")) << found.sentence;
}

TEST(Limiter, WaitsForSharedMemoryNameItsConflicts) {
  for (const stats::WarpState state : {stats::WarpState::mio_throttle, stats::WarpState::short_scoreboard}) {
    Prediction p = sample_prediction();
    p.counters.state = {};
    p.counters.state[static_cast<std::size_t>(state)] = 300;
    p.counters.state[static_cast<std::size_t>(stats::WarpState::barrier)] = 299;
    p.counters.state[static_cast<std::size_t>(stats::WarpState::selected)] = 401;
    const Limiter found = limiter_of(p);
    EXPECT_EQ(found.name, std::string("latency_") + stats::name_of(state));
    EXPECT_TRUE(contains(found.sentence, "warps spend 30% of their cycles")) << found.sentence;
    EXPECT_TRUE(contains(found.sentence,
                         "50% of the shared-memory wavefronts are bank conflicts, most at sample.cu:11"))
        << found.sentence;
    p.counters.instructions[1].wavefronts = 8'000;
    EXPECT_FALSE(contains(limiter_of(p).sentence, "conflicts")) << limiter_of(p).sentence;
  }
}

TEST(Limiter, SelectedAndNotSelectedAreNoStalls) {
  Prediction p = sample_prediction();
  p.counters.state[static_cast<std::size_t>(stats::WarpState::not_selected)] = 10'000'000;
  EXPECT_EQ(limiter_of(p).name, "latency_long_scoreboard");
}

TEST(Limiter, DramCountsFrom60PercentOn) {
  Prediction p = sample_prediction();
  p.counters.memory.dram_busy = 59'900;  // of 100,000
  EXPECT_EQ(limiter_of(p).name, "latency_long_scoreboard");
  p.counters.memory.dram_busy = 60'000;
  const Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "dram");
  EXPECT_TRUE(contains(found.sentence, "60% of the time, 100 of 160 GB/s")) << found.sentence;
  EXPECT_TRUE(contains(found.sentence, "2.0 times the sectors")) << found.sentence;
}

TEST(Limiter, CoalescedTrafficIsNotToldToCoalesce) {
  Prediction p = sample_prediction();
  p.counters.memory.dram_busy = 90'000;
  p.counters.instructions[0].ideal_sectors = p.counters.instructions[0].sectors;
  EXPECT_TRUE(contains(limiter_of(p).sentence, "move fewer bytes")) << limiter_of(p).sentence;
}

TEST(Limiter, BankConflictsAreNamedWhereTheyFillTheDataStage) {
  Prediction p = sample_prediction();
  p.counters.l1_data_wavefronts = 90'000;
  Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "bank_conflicts");
  EXPECT_TRUE(contains(found.sentence, "50% of the shared-memory wavefronts")) << found.sentence;
  EXPECT_TRUE(contains(found.sentence, "sample.cu:11")) << found.sentence;
  p.counters.instructions[1].wavefronts = 8'000;
  EXPECT_EQ(limiter_of(p).name, "l1_data");
}

/// The sample with another instruction in that row.
void replace(Prediction& p, std::size_t row, const char* text) {
  auto program = std::make_shared<isa::Program>(*p.program);
  program->code[row].text = text;
  p.program = program;
}

TEST(Limiter, AtomicsOnOneWordAreNotToldToPadAnArray) {
  Prediction p = sample_prediction();
  p.counters.l1_data_wavefronts = 90'000;
  replace(p, 1, "ATOMS.CAST.SPIN R11, [R6], R10, R11");
  const Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "shared_atomics");
  EXPECT_TRUE(contains(found.sentence, "combine them within the warp")) << found.sentence;
  EXPECT_FALSE(contains(found.sentence, "pad")) << found.sentence;
}

TEST(Limiter, OneSliceOfL2AtWorkIsNoLaunch) {
  Prediction p = sample_prediction();
  p.counters.sm_active_max = 4'000;  // of 10,000: the slice goes on after the last warp's end
  const double cycles =
      10'000.0 * static_cast<double>(p.gpu->clock.l2) / static_cast<double>(p.gpu->clock.sm);
  p.counters.memory.l2_busiest_slice = static_cast<std::uint64_t>(0.599 * cycles);
  EXPECT_EQ(limiter_of(p).name, "launch");
  p.counters.memory.l2_busiest_slice = static_cast<std::uint64_t>(0.601 * cycles);
  Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "l2_slice");
  EXPECT_TRUE(contains(found.sentence, "busy 60% of the time")) << found.sentence;
  EXPECT_TRUE(contains(found.sentence, "accesses go to few lines")) << found.sentence;
  replace(p, 0, "@P0 REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5");
  found = limiter_of(p);
  EXPECT_TRUE(contains(found.sentence, "atomics go to few addresses, most at sample.cu:10"))
      << found.sentence;
  p.counters.memory.dram_busy = 90'000;
  EXPECT_EQ(limiter_of(p).name, "dram") << "what a whole kind of unit does comes first";
}

TEST(Limiter, TheBusiestPipeIsNamed) {
  Prediction p = sample_prediction();
  p.counters.pipe_busy[static_cast<std::size_t>(spec::Pipe::fp64)] = 320'000;
  const Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "pipe_fp64");
  EXPECT_TRUE(contains(found.sentence, "80%")) << found.sentence;
}

TEST(Limiter, ALaunchThatIsMostlyLaunch) {
  Prediction p = sample_prediction();
  p.counters.sm_active_max = 6'001;
  EXPECT_NE(limiter_of(p).name, "launch");
  p.counters.sm_active_max = 6'000;
  EXPECT_EQ(limiter_of(p).name, "launch");
}

TEST(Limiter, AGridSmallerThanTheChip) {
  Prediction p = sample_prediction();
  p.grid = {10, 1, 1};
  EXPECT_NE(limiter_of(p).name, "small_grid");
  p.grid = {9, 1, 1};
  const Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "small_grid");
  EXPECT_TRUE(contains(found.sentence, "9 blocks for 10 SMs")) << found.sentence;
}

TEST(Limiter, TheSentenceEndsWithWhatItsAdviceSavesWhenSimulated) {
  Prediction p = sample_prediction();
  p.counters.l1_data_wavefronts = 90'000;
  const std::string without = limiter_of(p).sentence;
  EXPECT_FALSE(contains(without, "Simulated again")) << without;
  p.gains = {{engine::Ideal::dram, 9'000}, {engine::Ideal::bank_conflicts, 7'500}};  // of 10,000
  EXPECT_EQ(limiter_of(p).sentence,
            without + " Simulated again, it saves 2,500 of 10,000 cycles, 25%, without bank conflicts.");
  p.gains[1].cycles = 9'951;  // less than moved addresses alone may bring
  EXPECT_EQ(limiter_of(p).sentence, without + " Simulated again, it saves nothing, without bank conflicts.");
  p.gains[1].cycles = 9'950;
  EXPECT_TRUE(contains(limiter_of(p).sentence, "50 of 10,000 cycles, 0.5%")) << limiter_of(p).sentence;
}

TEST(Limiter, TheGainIsOfTheLimitAndOfTheAdvice) {
  Prediction p = sample_prediction();  // waits for memory, with wasted sectors and at a low occupancy
  p.gains = {{engine::Ideal::coalescing, 8'000},
             {engine::Ideal::memory_latency, 6'000},
             {engine::Ideal::residency, 9'000},
             {engine::Ideal::launch, 5'000}};
  const std::string sentence = limiter_of(p).sentence;
  EXPECT_TRUE(contains(sentence,
                       "it saves 4,000 of 10,000 cycles, 40%, if L2, DRAM and the way to them had no "
                       "latency; 2,000 of 10,000 cycles, 20%, if every global access were coalesced; "
                       "1,000 of 10,000 cycles, 10%, if registers"))
      << sentence;
  EXPECT_FALSE(contains(sentence, "5,000 of")) << sentence;
}

TEST(Limiter, WhatNoSimulationIsWithoutIsSaid) {
  Prediction p = sample_prediction();
  p.grid = {9, 1, 1};
  p.gains = {{engine::Ideal::dram, 9'000}, {engine::Ideal::code, 8'000}};
  const Limiter found = limiter_of(p);
  EXPECT_EQ(found.name, "small_grid");
  EXPECT_TRUE(contains(found.sentence, "No simulation without this limit was made")) << found.sentence;
  EXPECT_TRUE(contains(found.sentence, "the most is saved (2,000 of 10,000 cycles, 20%) if code"))
      << found.sentence;
}

TEST(Limiter, AtomicsOnFewAddressesGainWhatWordsOfTheirOwnBring) {
  Prediction p = sample_prediction();
  p.counters.sm_active_max = 4'000;
  p.counters.memory.l2_busiest_slice = static_cast<std::uint64_t>(
      0.9 * 10'000.0 * static_cast<double>(p.gpu->clock.l2) / static_cast<double>(p.gpu->clock.sm));
  p.gains = {{engine::Ideal::l2, 5'000}, {engine::Ideal::atomics, 7'000}};
  EXPECT_TRUE(contains(limiter_of(p).sentence, "it saves 5,000 of 10,000 cycles, 50%"))
      << limiter_of(p).sentence;
  replace(p, 0, "@P0 REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5");
  EXPECT_TRUE(contains(limiter_of(p).sentence, "it saves 3,000 of 10,000 cycles, 30%, if every atomic"))
      << limiter_of(p).sentence;
}

TEST(Limiter, ALongTail) {
  Prediction p = sample_prediction();
  p.counters.sm_active = 67'600;  // mean 6,760 of at most 9,000: 24.9% less
  EXPECT_NE(limiter_of(p).name, "tail");
  p.counters.sm_active = 67'500;
  EXPECT_EQ(limiter_of(p).name, "tail");
}

}  // namespace
}  // namespace foretrace::report
