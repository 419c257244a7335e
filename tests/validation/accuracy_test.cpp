// Each row of the acceptance criteria: met at its tolerance, not met beyond it.
#include "sim/validate/accuracy.h"

#include <gtest/gtest.h>

#include "sim/validate/stall_states.h"
#include "tests/validation/validation_sample.h"

namespace foretrace::validate {
namespace {

using testing::cycles;
using testing::launch;
using testing::Numbers;

Row row_of(const std::vector<ValidatedLaunch>& launches, const std::string& name) {
  Launches pointers;
  for (const auto& each : launches) pointers.push_back(&each);
  for (const Row& row : accuracy_rows(pointers)) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

/// One launch with one metric.
Row row_of(const std::string& name, const Numbers& numbers) {
  return row_of({launch("x", "kernels/x.toml", numbers)}, name);
}

TEST(Cycles, AreAskedOfLongLaunchesOnly) {
  const std::string name = "cycles elapsed (20,000 and more)";
  const Row row =
      row_of({cycles("a", "kernels/a.toml", 39'999, 19'999), cycles("b", "kernels/b.toml", 21'600, 20'000),
              cycles("c", "kernels/c.toml", 108'000, 100'000)},
             name);
  EXPECT_EQ(row.n, 2u);
  EXPECT_EQ(row.figures.at(0).second, 8);  // mean
  EXPECT_TRUE(row.pass.value());
  EXPECT_FALSE(
      row_of({cycles("b", "kernels/b.toml", 21'621, 20'000), cycles("c", "kernels/c.toml", 108'000, 100'000)},
             name)
          .pass.value());
  EXPECT_FALSE(
      row_of({cycles("a", "kernels/a.toml", 100, 100)}, name).pass.has_value());  // nothing to ask it of
}

TEST(Cycles, ActiveOnesFromTwoThousandAndTheLaunchIsTheDifference) {
  const std::vector<ValidatedLaunch> two = {
      launch("a", "kernels/a.toml", {{kElapsed, {8'000, 7'000}}, {kActive, {1'999, 1'999}}}),
      launch("b", "kernels/b.toml", {{kElapsed, {9'000, 7'000}}, {kActive, {2'000, 2'000}}})};
  EXPECT_EQ(row_of(two, "cycles active (2,000 and more)").n, 1u);
  const Row launches = row_of(two, "launch and drain (elapsed - active)");
  EXPECT_EQ(launches.n, 2u);
  EXPECT_EQ(launches.figures.back(), (std::pair<std::string, double>("mean_abs_cycles", 1'500)));
  EXPECT_FALSE(launches.pass.has_value());
}

TEST(Equal, IsAskedWhereTheDeviceAgreesWithItself) {
  ValidatedLaunch good = launch("good", "kernels/a.toml", {{"smsp__inst_executed.sum", {100, 100}}});
  ValidatedLaunch spins = launch("spins", "kernels/a.toml", {{"smsp__inst_executed.sum", {100, 90}}});
  spins.measured.metrics["smsp__inst_executed.sum"] = {90, 91};
  Row row = row_of({good, spins}, "warp and thread instructions");
  EXPECT_EQ(row.n, 1u);
  EXPECT_TRUE(row.pass.value());
  EXPECT_EQ(row.not_asked, std::vector<std::string>{"spins"});
  good.predicted.metrics = {};
  good.predicted.metrics.set("smsp__inst_executed.sum", 101);
  row = row_of({good, spins}, "warp and thread instructions");
  EXPECT_FALSE(row.pass.value());
  EXPECT_EQ(row.outside.at(0).first, "good");
}

TEST(Equal, AQuotientRoundsToWhatWasPrinted) {
  EXPECT_TRUE(row_of("launch limits", {{"launch__waves_per_multiprocessor", {0.0047, 0}}}).pass.value());
  EXPECT_FALSE(row_of("launch limits", {{"launch__waves_per_multiprocessor", {0.0053, 0}}}).pass.value());
  EXPECT_FALSE(row_of("launch limits", {{"launch__registers_per_thread", {16, 16.004}}}).pass.value());
}

TEST(Counts, RelativeToleranceAndLaunchesWithoutAny) {
  const std::string stores = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
  EXPECT_TRUE(row_of("store sectors", {{stores, {1'005, 1'000}}}).pass.value());
  EXPECT_FALSE(row_of("store sectors", {{stores, {1'006, 1'000}}}).pass.value());
  EXPECT_EQ(row_of("store sectors", {{stores, {0, 0}}}).n, 0u);
  EXPECT_FALSE(row_of("store sectors", {{stores, {1, 0}}}).pass.value());
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
  std::vector<ValidatedLaunch> many(9, launch("a", "kernels/a.toml", {{wavefronts, {1'010, 1'000}}}));
  many.push_back(launch("b", "kernels/b.toml", {{wavefronts, {1'050, 1'000}}}));
  EXPECT_TRUE(row_of(many, "wavefronts, shared loads").pass.value());  // 9 in 10, worst 5%
  many.back() = launch("b", "kernels/b.toml", {{wavefronts, {1'051, 1'000}}});
  EXPECT_FALSE(row_of(many, "wavefronts, shared loads").pass.value());
}

TEST(BankConflicts, ByInstructionAndByMeasured) {
  const auto met = [](double predicted) {
    return row_of("bank conflicts, shared stores",
                  {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", {predicted, 500}},
                   {"smsp__inst_executed_op_shared_st.sum", {100, 100}}})
        .pass.value();
  };
  EXPECT_TRUE(met(515));  // 0.05 * 100 + 0.02 * 500
  EXPECT_FALSE(met(516));
}

TEST(HitRates, InPointsFromAThousandSectors) {
  const auto row = [](double hits, double sectors) {
    return row_of("L2 hit rate of SM traffic",
                  {{"lts__t_sectors_srcunit_tex_lookup_hit.sum", {hits, sectors / 2}},
                   {"lts__t_sectors_srcunit_tex.sum", {sectors, sectors}}});
  };
  EXPECT_TRUE(row(529, 1'000).pass.value());
  EXPECT_FALSE(row(531, 1'000).pass.value());
  EXPECT_EQ(row(0, 999).n, 0u);
}

TEST(Dram, TheLargerOfFivePercentAndOneMebibyte) {
  const auto met = [](double predicted, double measured) {
    return row_of("DRAM bytes written", {{"dram__bytes_write.sum", {predicted, measured}}}).pass.value();
  };
  EXPECT_TRUE(met(1'048'575, 0));
  EXPECT_FALSE(met(1'048'576, 0));
  EXPECT_TRUE(met(104.9e6, 100e6));
  EXPECT_FALSE(met(105.1e6, 100e6));
}

TEST(Occupancy, WithinThreePoints) {
  const auto met = [](double predicted) {
    return row_of("achieved occupancy",
                  {{"sm__warps_active.avg.pct_of_peak_sustained_active", {predicted, 50}}})
        .pass.value();
  };
  EXPECT_TRUE(met(53));
  EXPECT_FALSE(met(53.1));
}

std::string state(const char* name) {
  return std::string("smsp__average_warps_issue_stalled_") + name + "_per_issue_active.ratio";
}

TEST(StallStates, DistanceAndTheLargest) {
  // Measured: 60% long_scoreboard, 40% wait. Predicted: 40% and 60%, whatever the sums.
  const Numbers swapped = {{state("long_scoreboard"), {8, 3}}, {state("wait"), {12, 2}}};
  const Row near = row_of("stall states: distance", swapped);
  EXPECT_TRUE(near.pass.value());
  EXPECT_NEAR(near.figures.at(1).second, 0.20, 1e-12);
  EXPECT_FALSE(row_of("stall states: largest, where it leads by a fifth", swapped).pass.value());
  const Row trivial = row_of("  always long_scoreboard: distance", swapped);
  EXPECT_NEAR(trivial.figures.at(1).second, 0.40, 1e-12);
  EXPECT_FALSE(trivial.pass.has_value());
  EXPECT_EQ(row_of("  always long_scoreboard: largest", swapped).figures.at(0).second, 100);
  // 54 against 46 is no lead of a fifth.
  EXPECT_EQ(row_of("stall states: largest, where it leads by a fifth",
                   {{state("wait"), {1, 54}}, {state("barrier"), {1, 46}}})
                .n,
            0u);
  EXPECT_FALSE(row_of("stall states: distance", {{state("wait"), {79, 100}}, {state("barrier"), {21, 0}}})
                   .pass.value());
}

}  // namespace
}  // namespace foretrace::validate
