// Metrics by hand: each expected value can be worked out from tests/report/sample.h in the head.
#include "sim/report/metrics.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "sim/report/from_outcome.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

using testing::sample_prediction;

double value(const Prediction& prediction, const std::string& name) {
  const Metric* metric = find_metric(name);
  EXPECT_NE(metric, nullptr) << name;
  if (metric == nullptr) return std::nan("");
  const Value found = metric->value(prediction);
  EXPECT_TRUE(found.has_value()) << name;
  return found.value_or(std::nan(""));
}

TEST(Metrics, EachNameIsDeclaredOnceWithADescription) {
  std::set<std::string> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.description.empty()) << metric.name;
    EXPECT_EQ(find_metric(metric.name), &metric);
  }
  EXPECT_EQ(find_metric("sm__cycles"), nullptr);
}

/// Names of metrics that have another value than in the sample.
std::size_t moved(const Prediction& changed) {
  const MetricValues before = evaluate(sample_prediction()), after = evaluate(changed);
  std::size_t count = 0;
  for (const auto& [name, value] : before.all()) count += after.get(name) != value ? 1 : 0;
  return count;
}

// A counter that no metric shows is one that nobody sees: each is in a metric or named here. What is named must not be in one.
TEST(Metrics, EveryCounterIsInOne) {
  const std::set<std::string> unseen = {
      "blocks",       "inst_global_atom", "inst_global_red",
      "inst_texture",  // ncu's sm__inst_executed_pipe_tex is both of them
      "inst_surface", "tex_requests",     "lts_sectors_read", "lts_sectors_write", "gpc_constant_misses",
      "waits_let_go"};  // its note is in the estimate
  const auto check = [&](const auto& counters, auto& of, Prediction& p) {
    for (const auto& counter : counters) {
      const auto before = of.*counter.member;
      of.*counter.member += 1 + before / 2;
      EXPECT_EQ(moved(p) == 0, unseen.contains(counter.name)) << counter.name;
      of.*counter.member = before;
    }
  };
  Prediction p = sample_prediction();
  check(stats::kLaunchCounters, p.counters, p);
  check(stats::kMemoryCounters, p.counters.memory, p);
}

TEST(Metrics, CountersOfSmsAreAdded) {
  stats::LaunchCounters one, sum;
  one.instructions.resize(1);
  sum.instructions.resize(1);
  std::uint64_t next = 1;
  for (const auto& counter : stats::kLaunchCounters) one.*counter.member = next++;
  for (const auto& counter : stats::kInstructionCounters) one.instructions[0].*counter.member = next++;
  one.idle_reason.fill(next++);
  one.state.fill(next++);
  one.pipe_inst.fill(next++);
  one.pipe_busy.fill(next++);
  one.instructions[0].stalled.fill(next++);
  stats::add(sum, one);
  stats::add(sum, one);
  for (const auto& counter : stats::kLaunchCounters)
    EXPECT_EQ(sum.*counter.member, 2 * (one.*counter.member)) << counter.name;
  for (const auto& counter : stats::kInstructionCounters)
    EXPECT_EQ(sum.instructions[0].*counter.member, 2 * (one.instructions[0].*counter.member)) << counter.name;
  const auto doubled = [](const auto& twice, const auto& once) {
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(twice[i], 2 * once[i]);
  };
  doubled(sum.idle_reason, one.idle_reason);
  doubled(sum.state, one.state);
  doubled(sum.pipe_inst, one.pipe_inst);
  doubled(sum.pipe_busy, one.pipe_busy);
  doubled(sum.instructions[0].stalled, one.instructions[0].stalled);
  EXPECT_EQ(sum.sm_active_max, one.sm_active);
  EXPECT_EQ(sum.sm_active_each, (std::vector<Cycle>{one.sm_active, one.sm_active}));
}

TEST(Metrics, TimeComesFromTheSmClock) {
  Prediction p = sample_prediction();
  EXPECT_DOUBLE_EQ(value(p, "gpc__cycles_elapsed.max"), 10'000);
  EXPECT_DOUBLE_EQ(value(p, "gpu__time_duration.sum"), 10'000);  // 1 GHz: a cycle is a nanosecond
  EXPECT_DOUBLE_EQ(value(p, "sm__cycles_active.avg"), 8'000);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__launch_cycles.avg"), 2'000);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__launch_cycles.min"), 1'000);
}

TEST(Metrics, OccupancyIsResidentWarpsOverSlots) {
  Prediction p = sample_prediction();
  EXPECT_DOUBLE_EQ(value(p, "sm__maximum_warps_per_active_cycle_pct"), 37.5);  // 24 of 64
  EXPECT_DOUBLE_EQ(value(p, "sm__warps_active.avg.pct_of_peak_sustained_active"),
                   25);  // 16 of 64 while active
  EXPECT_DOUBLE_EQ(value(p, "launch__waves_per_multiprocessor"), 40.0 / 30);
}

TEST(Metrics, RegistersHaveAFloorOf16) {
  Prediction p = sample_prediction();
  auto program = std::make_shared<isa::Program>(*p.program);
  p.program = program;
  program->registers = 16;
  EXPECT_DOUBLE_EQ(value(p, "launch__registers_per_thread"), 16);
  program->registers = 17;
  EXPECT_DOUBLE_EQ(value(p, "launch__registers_per_thread"), 17);
  program->registers = 15;
  EXPECT_DOUBLE_EQ(value(p, "launch__registers_per_thread"), 16);
}

TEST(Metrics, ThroughputIsTheBusiestUnit) {
  Prediction p = sample_prediction();
  // The memory unit takes 16,000 instructions for 2 of 100,000 SM-cycles each; FMA heavy is busy 20,000 of
  // 400,000.
  EXPECT_DOUBLE_EQ(value(p, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 32);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__pipe_fmaheavy.pct"), 5);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__pipe_fma.pct"), 4);
  p.counters.pipe_busy[static_cast<std::size_t>(spec::Pipe::tensor)] = 360'000;
  EXPECT_DOUBLE_EQ(value(p, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 90);
  // 48,000 sectors of 32 bytes in 5,000 L2 cycles over 10 ports of 64 bytes.
  EXPECT_DOUBLE_EQ(value(p, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"), 48);
  p.counters.memory.dram_busy = 80'000;  // of 5 channels x 20,000 DRAM cycles
  EXPECT_DOUBLE_EQ(value(p, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"), 80);
  EXPECT_DOUBLE_EQ(value(p, "dram__throughput.avg.pct_of_peak_sustained_elapsed"), 80);
}

TEST(Metrics, PipesThatAChipDoesNotHaveAreNull) {
  Prediction p = sample_prediction();
  EXPECT_DOUBLE_EQ(value(p, "sm__inst_executed_pipe_fma.sum"), 16'000);
  EXPECT_DOUBLE_EQ(value(p, "sm__inst_executed_pipe_fmaheavy.sum"), 10'000);
  EXPECT_FALSE(find_metric("foretrace__pipe_fp16.pct")->value(p).has_value());
  auto gpu = std::make_shared<spec::GpuSpec>(*p.gpu);
  gpu->pipe[static_cast<std::size_t>(spec::Pipe::fmalite)].interval = 0;
  gpu->pipe[static_cast<std::size_t>(spec::Pipe::tensor)].interval = 0;
  p.gpu = gpu;
  EXPECT_FALSE(find_metric("sm__inst_executed_pipe_fmaheavy.sum")->value(p).has_value());
  EXPECT_FALSE(find_metric("sm__inst_executed_pipe_tensor.sum")->value(p).has_value());
  EXPECT_TRUE(find_metric("sm__inst_executed_pipe_fma.sum")->value(p).has_value());
}

TEST(Metrics, StallRatiosSumToTheWarpLatency) {
  const Prediction p = sample_prediction();
  double sum = 0;
  int states = 0;
  for (const Metric& metric : metrics()) {
    if (!metric.name.starts_with("smsp__average_warps_issue_stalled_")) continue;
    sum += metric.value(p).value();
    ++states;
  }
  EXPECT_EQ(states, stats::kWarpStates);
  EXPECT_DOUBLE_EQ(sum, value(p, "foretrace__warp_latency_per_issue.ratio"));
  EXPECT_DOUBLE_EQ(sum, 40);
  EXPECT_DOUBLE_EQ(value(p, "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"), 1);
  EXPECT_DOUBLE_EQ(value(p, "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"), 35);
}

TEST(Metrics, ConflictsByTheRuleAndContentionSumToTheCounter) {
  Prediction p = sample_prediction();
  EXPECT_DOUBLE_EQ(value(p, "foretrace__bank_conflicts_by_rule_op_ld.sum"), 8'000);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__shared_wavefronts_contention_op_ld.sum"), 500);
  EXPECT_DOUBLE_EQ(value(p, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 8'500);
  EXPECT_DOUBLE_EQ(value(p, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 16'500);
  p.counters.shared_wavefronts_ld =
      7'999;  // merged below the floor: no conflict, not a negative number of them
  EXPECT_DOUBLE_EQ(value(p, "foretrace__bank_conflicts_by_rule_op_ld.sum"), 0);
}

TEST(Metrics, SharesOfNothingAreNullAndNeverNan) {
  Prediction p = sample_prediction();
  p.counters = {};
  p.counters.instructions.resize(3);
  for (const Metric& metric : metrics()) {
    const Value found = metric.value(p);
    EXPECT_TRUE(!found || std::isfinite(*found)) << metric.name;
  }
  EXPECT_FALSE(find_metric("l1tex__t_sector_hit_rate.pct")->value(p).has_value());
  EXPECT_FALSE(find_metric("lts__t_sector_hit_rate.pct")->value(p).has_value());
  EXPECT_FALSE(
      find_metric("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio")->value(p).has_value());
  EXPECT_DOUBLE_EQ(value(p, "dram__bytes_read.sum"), 0);  // a count of nothing is a number
}

TEST(Metrics, HitRatesCountWhatTheirNameSays) {
  const Prediction p = sample_prediction();
  EXPECT_DOUBLE_EQ(value(p, "l1tex__t_sector_hit_rate.pct"), 25);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__l2_hit_rate_srcunit_tex.pct"), 40);
  EXPECT_DOUBLE_EQ(value(p, "lts__t_sector_hit_rate.pct"), 40);
  EXPECT_DOUBLE_EQ(value(p, "lts__t_sectors_srcunit_tex.sum"), 50'000);
  EXPECT_DOUBLE_EQ(value(p, "foretrace__dram_row_hit_rate.pct"), 75);
}

TEST(Metrics, SumsHoldEachOfTheirParts) {
  Prediction p = sample_prediction();
  auto& c = p.counters;
  std::uint64_t next = 1, hits = 0, sectors = 0;
  for (auto part : {&c.l1_hits_global_ld, &c.l1_hits_global_st, &c.l1_hits_local_ld, &c.l1_hits_local_st,
                    &c.l1_hits_texture})
    hits += * part = next *= 2;
  for (auto part :
       {&c.l1_sectors_global_ld, &c.l1_sectors_global_st, &c.l1_sectors_local_ld, &c.l1_sectors_local_st,
        &c.l1_sectors_global_atom, &c.l1_sectors_global_red, &c.l1_sectors_texture})
    sectors += * part = next *= 2;
  EXPECT_DOUBLE_EQ(value(p, "l1tex__t_sector_hit_rate.pct"),
                   100 * static_cast<double>(hits) / static_cast<double>(sectors));
  c.state[static_cast<std::size_t>(stats::WarpState::not_selected)] = 16'000;
  EXPECT_DOUBLE_EQ(value(p, "smsp__warps_eligible.avg.per_cycle_active"), 48'000.0 / 320'000);
  c.pipe_inst[static_cast<std::size_t>(spec::Pipe::adu)] = 5;
  c.constant_l1_replays = 3;
  EXPECT_DOUBLE_EQ(value(p, "sm__inst_executed_pipe_adu.sum"), 8);
}

TEST(Metrics, TheFabricJoinsPartsOfL2) {
  Prediction p = sample_prediction();
  auto gpu = std::make_shared<spec::GpuSpec>(*p.gpu);
  gpu->l2.partitions = 2;
  gpu->network.partition_bytes = 64;
  p.gpu = gpu;
  p.counters.memory.partition_sectors = 4'000;  // 128,000 bytes; 2 x 64 in each of 5,000 cycles of L2
  EXPECT_DOUBLE_EQ(value(p, "foretrace__l2_fabric.pct"), 20);
  gpu = std::make_shared<spec::GpuSpec>(*gpu);
  gpu->l2.partitions = 1;
  p.gpu = gpu;
  EXPECT_DOUBLE_EQ(value(p, "foretrace__l2_fabric.pct"), 0);
}

TEST(Metrics, ThreadsOfTheGrid) {
  EXPECT_DOUBLE_EQ(value(sample_prediction(), "launch__grid_size"), 40);
  EXPECT_DOUBLE_EQ(value(sample_prediction(), "launch__block_size"), 256);
  EXPECT_DOUBLE_EQ(value(sample_prediction(), "launch__thread_count"), 40 * 256);
  Prediction p = sample_prediction();
  for (const auto& [threads, warps] :
       {std::pair(32u, 1), std::pair(33u, 2), std::pair(64u, 2), std::pair(65u, 3)}) {
    p.block = {threads, 1, 1};
    EXPECT_DOUBLE_EQ(value(p, "foretrace__warps_per_block"), warps);
  }
}

/// Whether a program of this one instruction depends on time.
bool depends_on_time(isa::Opcode opcode, const char* text) {
  auto program = std::make_shared<isa::Program>();
  isa::Instruction instruction;
  instruction.opcode = opcode;
  instruction.text = text;
  program->code.push_back(instruction);
  return prediction_of({}, {}, program, {}, {}).time_dependent;
}

TEST(Metrics, CodeThatReadsAClockOrWaitsDependsOnTime) {
  EXPECT_TRUE(depends_on_time(isa::Opcode::YIELD, "YIELD"));
  EXPECT_TRUE(depends_on_time(isa::Opcode::NANOSLEEP, "NANOSLEEP 0x64"));
  EXPECT_TRUE(depends_on_time(isa::Opcode::CS2R, "CS2R R2, SR_CLOCKLO"));
  EXPECT_TRUE(depends_on_time(isa::Opcode::S2R, "S2R R0, SR_GLOBALTIMERLO"));
  EXPECT_TRUE(depends_on_time(isa::Opcode::S2UR, "S2UR UR4, SR_CLOCKLO"));
  EXPECT_FALSE(depends_on_time(isa::Opcode::CS2R, "CS2R R2, SRZ"));
  EXPECT_FALSE(depends_on_time(isa::Opcode::S2R, "S2R R0, SR_TID.X"));
  EXPECT_FALSE(depends_on_time(isa::Opcode::S2UR, "S2UR UR4, SR_CTAID.X"));
  EXPECT_FALSE(depends_on_time(isa::Opcode::FFMA, "FFMA R0, R0, R1, R5"));
}

TEST(Metrics, ARequestsSegmentsSumToItsLatency) {
  const Prediction p = sample_prediction();
  double sum = 0;
  for (const char* segment : {"network", "l2", "partition", "dram_queue", "dram"}) {
    sum += value(p, std::string("foretrace__read_latency_") + segment + ".avg");
  }
  EXPECT_DOUBLE_EQ(sum, value(p, "foretrace__read_latency.avg"));
  EXPECT_DOUBLE_EQ(sum, 500);
}

}  // namespace
}  // namespace foretrace::report
