// Fences: what each kind waits for, and how fast stores' registers are read on their way to what they wait for.

#include <gtest/gtest.h>

#include <vector>

#include "model/sm/store_fences.h"
#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

Line sts(std::string width, std::uint8_t read = 7) {
  const std::int64_t bytes = width == ".128" ? 16 : width == ".64" ? 8 : 4;
  return {"STS" + width + " [R2], R4", 4, 7, read, 0, ~0u, 0, bytes};
}
Line stg(std::string width, std::uint64_t base, std::uint8_t read = 7) {
  const std::int64_t bytes = width == ".128" ? 16 : 4;
  return {"STG.E" + width + " desc[UR4][R2.64], R4", 4, 7, read, 0, ~0u, base, bytes};
}
const Line kBlock{"MEMBAR.ALL.CTA", 1, 7, 1}, kDevice{"MEMBAR.ALL.GPU", 1},
    kView{"FENCE.VIEW.ASYNC.S", 1, 1, 7, 2};
const Line kWaits{"NOP", 1, 7, 7, 2}, kAfter{"NOP", 1};

/// The end of a run, which a NOP behind `lines` waits for.
Cycle end(const spec::GpuSpec& chip, std::vector<Line> lines, const Line& last, Cycle memory_latency = 300) {
  lines.push_back(last);
  return run(chip, lines, 1, memory_latency).end;
}

TEST(StoreSources, ARegisterTakesTwoCyclesAndTheAddressAsMany) {
  const spec::GpuSpec chip = bench_chip();
  const auto per_store = [&](const auto& store) {
    const auto of = [&](std::size_t count) {
      std::vector<Line> lines(count, store(7));
      lines.back() = store(1);
      for (Line& line : lines) line.stall = 2;
      return end(chip, lines, kWaits);
    };
    return (of(9) - of(5)) / 4;
  };
  EXPECT_EQ(per_store([](std::uint8_t read) { return sts("", read); }), 4u);
  EXPECT_EQ(per_store([](std::uint8_t read) { return sts(".64", read); }), 6u);
  EXPECT_EQ(per_store([](std::uint8_t read) { return sts(".128", read); }), 10u);
  EXPECT_EQ(per_store([](std::uint8_t read) { return stg("", 1 << 20, read); }), 6u)
      << "an address of two registers";
}

TEST(StoreSources, ThoseOfAShortAddressAreReadTwoCyclesSooner) {
  const spec::GpuSpec chip = bench_chip();
  const auto read = [&](Line access) {
    return end(chip, {access}, kWaits) - end(chip, {access}, kAfter) + access.stall;
  };
  EXPECT_EQ(read(stg("", 1 << 20, 1)), chip.lsu.store_source_latency);
  EXPECT_EQ(read(sts(".64", 1)), chip.lsu.store_source_latency - 2 + chip.lsu.store_width_latency);
  EXPECT_EQ(read(sts(".128", 1)), chip.lsu.store_source_latency - 2 + 3 * chip.lsu.store_width_latency);
}

TEST(BlockFence, WaitsForItsCyclesOrForTheWarpsStores) {
  const spec::GpuSpec chip = bench_chip();
  EXPECT_EQ(end(chip, {kBlock}, kWaits) - end(chip, {kBlock}, kAfter), chip.barrier.membar_block - 2u);
  const auto behind = [&](const Line& store) {
    return end(chip, {store, kBlock}, kWaits) - end(chip, {store, kBlock}, kAfter);
  };
  // Eight bytes per lane leave the data stage 14 cycles after the store's issue; the registers of 16 are read until the 17th.
  EXPECT_EQ(behind(sts(".64")), 14u + 1u - 4u - 1u);
  EXPECT_EQ(end(chip, {sts(".128"), kBlock}, kWaits) - end(chip, {sts(".64"), kBlock}, kWaits), 3u);
}

TEST(BlockFence, WithoutAScoreboardHoldsItsWarpForItsCycles) {
  const spec::GpuSpec chip = bench_chip();
  const Line fence{"MEMBAR.SC.CTA", 1};
  EXPECT_EQ(end(chip, {fence}, kAfter) - end(chip, {kAfter}, kAfter), chip.barrier.membar_block - 1u);
  EXPECT_EQ(end(chip, {stg("", 1 << 20), fence}, kAfter, 5000),
            end(chip, {stg("", 1 << 20), fence}, kAfter, 300))
      << "no acknowledgement is waited for";
}

TEST(Invalidation, LoadsBehindItAskL2Again) {
  const spec::GpuSpec chip = bench_chip();
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096}, waits{"NOP", 1, 7, 7, 1};
  const auto hits = [&](const Line& between) {
    return run(chip, {load, waits, between, load, waits}).counters.l1_hits_global_ld;
  };
  EXPECT_EQ(hits({"CCTL.IVALL", 1}), 0u);
  EXPECT_EQ(hits({"CCTL.IVALL", 1, 7, 7, 0, 0}), 4u) << "no lane executes it";
  EXPECT_EQ(hits({"CCTL.E.PF2", 1}), 4u);
}

TEST(ViewFence, TakesItsLatencyFromWhenTheDataStageIsFree) {
  const spec::GpuSpec chip = bench_chip();
  const Line view{"FENCE.VIEW.ASYNC.S", 1, 1};
  const auto alone = [&](Cycle latency) {
    spec::GpuSpec other = chip;
    other.barrier.fence_latency = static_cast<std::uint32_t>(latency);
    return end(other, {view}, kWaits) - end(other, {view}, kAfter) + 1;
  };
  EXPECT_EQ(alone(22), 22u);
  EXPECT_EQ(alone(40), 40u);
  // Accesses that go again for conflicts hold the stage: 32 passes each.
  const auto conflicts = [&](std::int64_t stride) {
    return end(chip, {{"LDS R0, [R2]", 2, 0, 7, 0, ~0u, 0, stride}, view}, kWaits);
  };
  EXPECT_EQ(conflicts(128) - conflicts(64), 16u);
  EXPECT_GT(state(run(chip, {view, kWaits}), stats::WarpState::long_scoreboard), 0u);
}

TEST(DeviceFence, WaitsForTheAcknowledgementsOfWhatHasLeft) {
  const spec::GpuSpec chip = bench_chip();
  const auto takes = [&](std::vector<Line> lines, Cycle memory_latency) {
    const Cycle without = end(chip, lines, kAfter, memory_latency);
    lines.push_back(kDevice);
    return end(chip, lines, kAfter, memory_latency) - without;
  };
  EXPECT_EQ(takes({}, 300), chip.barrier.membar_gpu);
  EXPECT_EQ(takes({stg("", 1 << 20)}, 100), chip.barrier.membar_gpu) << "acknowledged long before";
  const Cycle far = 2000;
  EXPECT_EQ(takes({stg("", 1 << 20)}, far + 100) - takes({stg("", 1 << 20)}, far), 100u);
  spec::GpuSpec other = chip;
  other.barrier.membar_return += 50;
  EXPECT_EQ(end(other, {stg("", 1 << 20), kDevice}, kAfter, far) -
                end(chip, {stg("", 1 << 20), kDevice}, kAfter, far),
            50u);
  EXPECT_EQ(end(other, {kDevice}, kAfter, far), end(chip, {kDevice}, kAfter, far)) << "nothing to wait for";
}

TEST(DeviceFence, WaitsForOtherWarpsStoresToo) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle far = 2000;
  const auto membar = [&](std::uint32_t stores) {
    Line store = stg("", 1 << 20);
    store.executed = stores;

    std::vector<Line> writes{store, kDevice}, fences{store, kDevice};
    fences[0].executed = 0;
    for (Line& line : writes) line.stall = 15;
    for (Line& line : fences) line.stall = 15;
    return state(run_warps(chip, {writes, fences}, far), stats::WarpState::membar);
  };
  EXPECT_GT(membar(~0u >> 1), 2 * far) << "both warps wait for the one store";
  EXPECT_LT(membar(0), far);
}

}  // namespace
}  // namespace foretrace::sm_tests

namespace foretrace::sm {
namespace {

TEST(StoreFences, AFenceIsOverWhenWhatLeftBeforeItIsAcknowledgedInAnyOrder) {
  StoreFences fences;
  EXPECT_TRUE(fences.over(fences.fence())) << "nothing has left";
  const std::uint32_t first = fences.left(), second = fences.left();
  const std::uint64_t fence = fences.fence();
  const std::uint32_t later = fences.left();
  EXPECT_NE(later, first);
  fences.acknowledged(second);
  EXPECT_FALSE(fences.over(fence));
  fences.acknowledged(first);
  EXPECT_TRUE(fences.over(fence)) << "not for what left later";
  fences.acknowledged(later);
  EXPECT_TRUE(fences.over(fences.fence()));
}

TEST(StoreFences, AFenceBehindAnotherWaitsForWhatHasLeftWhenThatIsOver) {
  StoreFences fences;
  const std::uint32_t first = fences.left();
  const std::uint64_t one = fences.fence(), two = fences.fence();
  EXPECT_NE(one, two);
  EXPECT_EQ(fences.fence(), two) << "they wait together";
  const std::uint32_t later = fences.left();
  fences.acknowledged(first);
  EXPECT_TRUE(fences.over(one));
  EXPECT_FALSE(fences.over(two));
  const std::uint32_t last = fences.left();
  fences.acknowledged(later);
  EXPECT_TRUE(fences.over(two)) << "not for what left after it had begun";
  fences.acknowledged(last);
  const std::uint32_t again = fences.left();
  const std::uint64_t three = fences.fence();
  EXPECT_FALSE(fences.over(three));
  fences.acknowledged(again);
  EXPECT_TRUE(fences.over(three));
}

}  // namespace
}  // namespace foretrace::sm
