// Counters of a simulation that was stopped part way become those of the whole launch, one by one.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "sim/sampling/extrapolate.h"
#include "sim/sampling/sums.h"
#include "tests/engine/launches.h"

namespace foretrace::sampling_tests {
namespace {

using stats::WarpState;

// Lines of the program below, of which the first four access memory.
constexpr std::size_t kLoad = 0, kLocalStore = 3, kEither = 4;
constexpr auto index(WarpState state) { return static_cast<std::size_t>(state); }
constexpr auto index(spec::Pipe pipe) { return static_cast<std::size_t>(pipe); }

/// A quarter of 400 warp instructions was simulated, and the steady state was measured over 100 of them: what is left is three times that.
class Extrapolate : public testing::Test {
 protected:
  Extrapolate() {
    for (auto* counters : {&survey_.sums, &simulated_}) counters->instructions.resize(program_.code.size());
    survey_.sums.inst_executed = 400;
    simulated_.inst_executed = 100;
    rate_.from.instructions = 20;
    rate_.to.instructions = 120;
  }
  stats::LaunchCounters all(double dirty_sectors = 0, Cycle elapsed = 0, Cycle idle_at_end = 0) const {
    return sampling::extrapolate(simulated_, survey_, rate_, program_, dirty_sectors, elapsed, idle_at_end);
  }
  static sm::StaticProgram assembled() {
    engine_tests::Launch launch(R"(
  LDG.E R6, [R2.64]
  STG.E [R2.64], R6
  LDL R7, [R1]
  STL [R1], R7
  FFMA R8, R8, R8, R8
  IADD3 R9, R9, 0x1, RZ
  EXIT
)",
                                1, 32, {0}, 1);
    launch.assembled.program.sm = 90;  // where FP32 has two pipes
    return {std::make_shared<isa::Program>(launch.assembled.program), config::load_gpu("h100").spec};
  }

  const sm::StaticProgram program_ = assembled();
  stats::LaunchCounters simulated_;
  sampling::Survey survey_;
  sampling::SteadyRate rate_;
};

TEST_F(Extrapolate, HitsOfL1AreAsOftenAsTheSimulatedOnes) {
  const std::uint64_t hits[] = {6, 4, 2, 1};
  for (std::size_t i = kLoad; i <= kLocalStore; ++i) {
    survey_.sums.instructions[i].sectors = 80;
    simulated_.instructions[i].sectors = 20;
    simulated_.instructions[i].l1_hit_sectors = hits[i];
  }
  const stats::LaunchCounters whole = all();
  EXPECT_EQ(whole.instructions[kLoad].l1_hit_sectors, 24u);
  EXPECT_EQ(whole.l1_hits_global_ld, 24u);
  EXPECT_EQ(whole.l1_hits_global_st, 16u);
  EXPECT_EQ(whole.l1_hits_local_ld, 8u);
  EXPECT_EQ(whole.l1_hits_local_st, 4u);
  EXPECT_EQ(whole.l1_hits_texture, 0u);
}

TEST_F(Extrapolate, AnInstructionThatWasNotSimulatedHasNoHits) {
  survey_.sums.instructions[kLoad].sectors = 80;
  EXPECT_EQ(all().l1_hits_global_ld, 0u);
}

TEST_F(Extrapolate, SmsThatWorkedGoOnUntilTheyAreIdleAtTheEnd) {
  simulated_.sms = 3;
  simulated_.elapsed = 1000;
  simulated_.sm_active_each = {900, 700, 0};
  simulated_.sm_active = 1600;
  simulated_.scheduler_cycles = 6400;
  simulated_.idle_reason = {10, 20, 30, 40};
  const stats::LaunchCounters whole = all(0, 5000, 500);
  EXPECT_EQ(whole.elapsed, 5000u);
  EXPECT_EQ(whole.sms, 3u);
  EXPECT_EQ(whole.sm_active_each, (std::vector<Cycle>{4400, 4200, 0}));
  EXPECT_EQ(whole.sm_active, 8600u);
  EXPECT_EQ(whole.sm_active_max, 4400u);
  EXPECT_EQ(whole.issue_active, 400u);
  // Four schedulers per SM: what they do not issue is shared out as it was seen.
  EXPECT_EQ(whole.idle_reason, (std::array<std::uint64_t, 4>{3400, 6800, 10200, 13600}));
  EXPECT_EQ(whole.scheduler_cycles, 4 * whole.sm_active);
}

TEST_F(Extrapolate, ASimulationThatWentToTheEndAddsNoTime) {
  simulated_.elapsed = 1000;
  simulated_.sm_active_each = {900};
  EXPECT_EQ(all(0, 1000, 0).sm_active, 900u);
  EXPECT_EQ(all(0, 1000, 100).sm_active, 900u);
  EXPECT_EQ(all(0, 1001, 0).sm_active, 901u);
}

TEST_F(Extrapolate, WarpsAreAsManyAsWereResidentAndWaitAsTheyDid) {
  simulated_.elapsed = 1000;
  simulated_.sm_active_each = {1000};
  simulated_.sm_active = 1000;
  simulated_.warp_cycles = 8000;
  for (const auto& [i, waits] : {std::pair(kLoad, 300u), std::pair(kEither, 100u)}) {
    survey_.sums.instructions[i].executed = 200;
    simulated_.instructions[i].executed = 50;
    simulated_.instructions[i].stalled[index(WarpState::long_scoreboard)] = waits;
    simulated_.instructions[i].stalled[index(WarpState::selected)] = 50;
  }
  const stats::LaunchCounters whole = all(0, 4000);
  // 8 warps for 4000 cycles, of which 400 issue.
  EXPECT_EQ(whole.warp_cycles, 32000u);
  EXPECT_EQ(whole.state[index(WarpState::selected)], 400u);
  EXPECT_EQ(whole.state[index(WarpState::long_scoreboard)], 31600u);
  EXPECT_EQ(whole.instructions[kLoad].stalled[index(WarpState::long_scoreboard)], 23700u);
  EXPECT_EQ(whole.instructions[kEither].stalled[index(WarpState::long_scoreboard)], 7900u);
  EXPECT_EQ(whole.instructions[kEither].stalled[index(WarpState::selected)], 200u);
}

TEST_F(Extrapolate, PipesOfAChoiceAreTakenAsTheyWere) {
  const sm::IssueClass& either = program_.classes[program_.code[kEither].issue_class];
  ASSERT_NE(either.second, spec::Pipe::none);
  survey_.sums.instructions[kEither].executed = 300;
  simulated_.instructions[kEither].executed = 100;
  survey_.sums.instructions[kLoad].executed = 50;
  simulated_.instructions[kLoad].executed = 10;
  const spec::Pipe loads = program_.code[kLoad].counted;
  simulated_.pipe_inst[index(either.first)] = 60;
  simulated_.pipe_inst[index(either.second)] = 40;
  simulated_.pipe_inst[index(loads)] = 10;
  simulated_.pipe_busy[index(either.first)] = 120;
  simulated_.pipe_busy[index(loads)] = 30;
  const stats::LaunchCounters whole = all();
  EXPECT_EQ(whole.pipe_inst[index(either.first)], 180u);
  EXPECT_EQ(whole.pipe_inst[index(either.second)], 120u);
  EXPECT_EQ(whole.pipe_inst[index(loads)], 50u);
  EXPECT_EQ(whole.pipe_busy[index(either.first)], 360u);
  EXPECT_EQ(whole.pipe_busy[index(loads)], 150u);
}

TEST_F(Extrapolate, EachSumGrowsInItsWay) {
  for (const auto& counter : stats::kLaunchCounters) {
    if (counter.growth == stats::Growth::work) survey_.sums.*counter.member = 400;
    if (counter.growth != stats::Growth::time) simulated_.*counter.member = 100;
  }
  rate_.from.shared_contention_ld = 3;
  rate_.to.shared_contention_ld = 10;
  rate_.to.shared_contention_st = 2;
  const stats::LaunchCounters whole = all();
  for (const auto& counter : stats::kLaunchCounters) {
    const std::uint64_t found = whole.*counter.member;
    switch (counter.growth) {
      case stats::Growth::work:
      case stats::Growth::with_work: EXPECT_EQ(found, 400u) << counter.name; break;
      case stats::Growth::first_touch: EXPECT_EQ(found, 100u) << counter.name; break;
      case stats::Growth::hits: EXPECT_EQ(found, 0u) << counter.name; break;
      case stats::Growth::steady:
      case stats::Growth::time: break;  // here, and in tests of their own
    }
  }
  EXPECT_EQ(whole.shared_contention_ld, 100u + 3 * 7);
  EXPECT_EQ(whole.shared_contention_st, 100u + 3 * 2);
}

TEST_F(Extrapolate, MemoryGoesOnAsInTheSteadyState) {
  using stats::MemoryCounters;
  std::uint64_t number = 0;
  for (const auto& counter : stats::kMemoryCounters) {
    ++number;
    simulated_.memory.*counter.member = 1000;
    rate_.from.memory.*counter.member = 200;
    rate_.to.memory.*counter.member = 200 + number;
  }
  rate_.from.memory.dirty_sectors_left = rate_.to.memory.dirty_sectors_left = 0;
  const stats::MemoryCounters whole = all().memory;
  number = 0;
  for (const auto& counter : stats::kMemoryCounters) {
    ++number;
    const std::uint64_t more = counter.growth == stats::Growth::steady ? 3 * number : 0;
    if (counter.growth == stats::Growth::time) continue;  // below
    EXPECT_EQ(whole.*counter.member, 1000 + more) << counter.name;
  }
  EXPECT_EQ(whole.read_latency, whole.segment_network + whole.segment_l2 + whole.segment_partition +
                                    whole.segment_dram_queue + whole.segment_dram);
}

TEST_F(Extrapolate, WhatIsWrittenStaysInL2UntilItIsFull) {
  simulated_.memory.dirty_sectors_left = 100;
  rate_.from.memory.dirty_sectors_left = 50;
  rate_.to.memory.dirty_sectors_left = 90;  // 120 more by the end
  EXPECT_EQ(all(1000).memory.dirty_sectors_left, 220u);
  EXPECT_EQ(all(1000).memory.dram_bytes_write, 0u);
  EXPECT_EQ(all(150).memory.dirty_sectors_left, 150u);
  EXPECT_EQ(all(150).memory.dram_bytes_write, 70u * 32);
  EXPECT_EQ(all(80).memory.dirty_sectors_left, 100u);  // none is taken back
  EXPECT_EQ(all(80).memory.dram_bytes_write, 120u * 32);
}

TEST_F(Extrapolate, StoresThatWereNotSimulatedAreWrittenAsTheSurveySays) {
  survey_.sums.l1_sectors_global_st = 300;
  survey_.sums.l1_sectors_local_st = 100;
  const stats::MemoryCounters unseen = all().memory;
  for (const auto member :
       {&stats::MemoryCounters::tex_sectors_write, &stats::MemoryCounters::tex_sectors_hit,
        &stats::MemoryCounters::lts_sectors, &stats::MemoryCounters::lts_sectors_hit,
        &stats::MemoryCounters::lts_sectors_write})
    EXPECT_EQ(unseen.*member, 400u);
  EXPECT_EQ(unseen.dram_bytes_write, 400u * 32);
  // Half of what was stored reached L2: so will half of what is left.
  simulated_.l1_sectors_global_st = 80;
  simulated_.l1_sectors_local_st = 20;
  simulated_.memory.tex_sectors_write = 50;
  EXPECT_EQ(all().memory.tex_sectors_write, 200u);
  rate_.to.memory.tex_sectors_write = 50;  // the steady state has them all
  EXPECT_EQ(all().memory.tex_sectors_write, 200u);
  EXPECT_EQ(all().memory.lts_sectors, 0u);
}

TEST(AddSums, WeighsWhatTheCodeDecidesAndNothingElse) {
  stats::LaunchCounters from, into;
  from.instructions.resize(2);
  into.instructions.resize(2);
  for (const auto& counter : stats::kLaunchCounters) from.*counter.member = 3;
  for (auto& row : from.instructions)
    for (const auto& counter : stats::kInstructionCounters) row.*counter.member = 5;
  sampling::add_sums(into, from, 1);
  sampling::add_sums(into, from, 2.5);
  for (const auto& counter : stats::kLaunchCounters)
    EXPECT_EQ(into.*counter.member, counter.growth == stats::Growth::work ? 3u + 8u : 0u) << counter.name;
  for (const auto& row : into.instructions)
    for (const auto& counter : stats::kInstructionCounters)
      EXPECT_EQ(row.*counter.member, counter.growth == stats::Growth::work ? 5u + 13u : 0u) << counter.name;
}

}  // namespace
}  // namespace foretrace::sampling_tests
