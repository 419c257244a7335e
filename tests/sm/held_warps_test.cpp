// Held warps by themselves: what products, registers and a cluster's barrier hold, and the cycle in which each lets go.

#include <gtest/gtest.h>

#include "tests/sm/parts.h"

namespace foretrace::sm {
namespace {

using stats::WarpState;

constexpr std::uint32_t kProduct = 0, kWait = 1, kBegin = 2, kGive = 3, kTake = 4, kCluster = 5,
                        kFragments = 6, kNext = 7;
constexpr Cycle kColumns = 32;  // cycles that a product of 64 columns takes

struct Held : Parts {
  explicit Held(std::uint32_t warps = 4)
      : Parts({{"HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, gsb0", 2},
               {"WARPGROUP.DEPBAR.LE gsb0, 0x0", 1},
               {"WARPGROUP.ARRIVE", 1},
               {"USETMAXREG.DEALLOC.CTAPOOL 0x18", 1},
               {"USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0x60", 1},
               {"UCGABAR_WAIT", 1},
               {"HGMMA.64x64x16.F32 R24, R4, gdesc[UR8], R24, gsb0", 2},
               {"NOP", 1}},
              sm_tests::bench_chip(), warps) {}
  void multiply(std::uint32_t warp, Cycle now) {
    held.issue_product(stand(static_cast<std::uint16_t>(warp), kProduct, {}, 0, warp), program.code[kProduct],
                       now);
  }
  /// Warp `id` of the block has issued instruction `index` at `now`, with a stall count of four.
  Warp& hold(std::uint16_t id, std::uint32_t index, Cycle now, std::uint32_t registers = 0) {
    Warp& warp = stand(id, kNext, {}, 0, id);
    warp.registers = registers;
    warp.since = now;
    held.hold(warp, id, {index, ~0u, ~0u, 0}, now + 4, now + 4, now);
    return warp;
  }
  std::uint64_t waited(WarpState state) const { return counters.state[static_cast<std::size_t>(state)]; }
};

TEST(HeldWarps, WaitForTheProductsEnd) {
  Held parts(1);
  parts.multiply(0, 100);
  const Warp& warp = parts.hold(0, kWait, 102);
  EXPECT_EQ(warp.phase, Phase::timed);
  EXPECT_EQ(warp.ready_at, 100 + kColumns + parts.chip.wgmma.latency);
  EXPECT_EQ(parts.table.cores[0].scheduler.ready[0], warp.ready_at);
  EXPECT_EQ(parts.table.next_tick[0], warp.ready_at);
  EXPECT_EQ(warp.label, WarpState::gmma);
  EXPECT_EQ(warp.attributed_to, kWait) << "what it waits for is the wait's";
  EXPECT_EQ(parts.waited(WarpState::wait), 4u) << "the stall count comes first";
}

TEST(HeldWarps, GoAtTheirStallCountWhereTheProductHasEnded) {
  Held parts(1);
  parts.multiply(0, 100);
  const Cycle end = 100 + kColumns + parts.chip.wgmma.latency;
  EXPECT_EQ(parts.hold(0, kWait, end - 4).ready_at, end);
  EXPECT_EQ(parts.hold(0, kWait, end - 5).ready_at, end) << "one cycle is the product's";
  EXPECT_EQ(parts.hold(0, kWait, end - 3).ready_at, end + 1) << "all are the stall count's";
}

TEST(HeldWarps, AProductBeginsWhenTheLastOfItsFourWarpsHasIssuedIt) {
  Held parts;
  for (std::uint32_t warp = 0; warp < 3; ++warp) parts.multiply(warp, 100);
  const Warp& first = parts.hold(0, kWait, 102);
  EXPECT_EQ(first.phase, Phase::barrier);
  EXPECT_EQ(first.label, WarpState::gmma);
  EXPECT_EQ(parts.table.next_tick[0], kNever);
  parts.multiply(3, 150);
  EXPECT_EQ(first.phase, Phase::timed);
  EXPECT_EQ(first.ready_at, 150 + kColumns + parts.chip.wgmma.latency);
}

TEST(HeldWarps, ProductsTakeTheTensorPipeAndTheDataStage) {
  Held parts(1);
  const auto busy = [&] { return parts.counters.pipe_busy[static_cast<std::size_t>(spec::Pipe::tensor)]; };
  parts.multiply(0, 100);
  EXPECT_EQ(busy() + parts.program.code[kProduct].interval, kColumns);
}

TEST(HeldWarps, ThatBeginProductsWaitWhileTooManyHaveNotBegun) {
  Held parts(1);
  const std::uint32_t queue = parts.chip.wgmma.queue;
  for (std::uint32_t i = 0; i < queue; ++i) parts.multiply(0, 100);
  EXPECT_EQ(parts.hold(0, kBegin, 102).ready_at, 106u) << "the queue is not full";
  parts.multiply(0, 100);  // waits behind the others; the first of them has begun
  EXPECT_EQ(parts.hold(0, kBegin, 90).ready_at, 100u) << "until one of the queue has begun";
  parts.multiply(0, 100);
  const Warp& warp = parts.hold(0, kBegin, 102);
  EXPECT_EQ(warp.label, WarpState::barrier);
  parts.run(100 + kColumns);
  EXPECT_EQ(warp.phase, Phase::barrier) << "the unit works on the first";
  parts.run(100 + kColumns + 1);
  EXPECT_EQ(warp.phase, Phase::timed);
  EXPECT_EQ(warp.ready_at, 100 + kColumns + 1);
}

TEST(HeldWarps, WarpgroupsTakeTurnsOfOneProduct) {
  Held parts(8);
  const auto group = [&](std::uint32_t first) {
    for (std::uint32_t warp = first; warp < first + 4; ++warp) parts.multiply(warp, 100);
  };
  for (int i = 0; i < 3; ++i) group(0);
  for (int i = 0; i < 2; ++i) group(4);
  const Warp& one = parts.hold(0, kWait, 102);
  const Warp& other = parts.hold(4, kWait, 102);
  EXPECT_EQ(one.phase, Phase::barrier);
  parts.run(kNever);  // begun: one's, the other's, one's, the other's, one's
  EXPECT_EQ(other.ready_at, 100 + 4 * kColumns + parts.chip.wgmma.latency);
  EXPECT_EQ(one.ready_at, 100 + 5 * kColumns + parts.chip.wgmma.latency);
}

TEST(HeldWarps, AProductHasTheRegistersForHalfOfItsCycles) {
  Held parts(1);
  const auto delay = [&](Cycle passes, Cycle now) { return parts.held.dispatch_delay(passes, now); };
  EXPECT_EQ(delay(1, 100), 0u);
  parts.multiply(0, 100);  // reads sums in cycles 100, 101, 104, 105, .. 128, 129
  EXPECT_EQ(delay(1, 100), 2u);
  EXPECT_EQ(delay(1, 101), 1u);
  EXPECT_EQ(delay(1, 102), 0u);
  EXPECT_EQ(delay(2, 102), 0u);
  EXPECT_EQ(delay(2, 103), 2u) << "a pass before and one behind a read";
  EXPECT_EQ(delay(4, 102), 2u);
  EXPECT_EQ(delay(4, 100), 4u);
  EXPECT_EQ(delay(1, 100 + kColumns - 3), 1u);
  EXPECT_EQ(delay(8, 100 + kColumns - 2), 0u) << "the product ends";
}

TEST(HeldWarps, AProductReadsItsFragmentsOfAFirst) {
  Held parts(1);
  parts.held.issue_product(parts.stand(0, kFragments, {}, 0, 0), parts.program.code[kFragments], 100);
  EXPECT_EQ(parts.held.dispatch_delay(1, 100), 6u) << "four registers of A, then sums in cycles 104 and 105";
  EXPECT_EQ(parts.held.dispatch_delay(1, 103), 3u);
  EXPECT_EQ(parts.held.dispatch_delay(1, 106), 0u);
}

TEST(HeldWarps, AForgottenBlocksProductsLoseTheirTurns) {
  Held parts(1);
  parts.multiply(0, 100);
  parts.multiply(0, 100);
  parts.held.forget(0);
  parts.run(kNever);
  parts.multiply(0, 300);
  EXPECT_EQ(parts.hold(0, kWait, 302).ready_at, 300 + kColumns + parts.chip.wgmma.latency);
}

TEST(HeldWarps, RegistersThatWereGivenBackAreTakenByOthers) {
  Held parts;
  const Cycle latency = parts.chip.wgmma.registers_latency;
  const Warp& takes = parts.hold(1, kTake, 100, 0x50);  // wants 16 more a thread
  EXPECT_EQ(takes.phase, Phase::barrier);
  EXPECT_EQ(takes.label, WarpState::misc);
  const Warp& little = parts.hold(0, kGive, 200, 0x18 + 15);
  EXPECT_EQ(little.ready_at, 200 + latency);
  EXPECT_EQ(takes.phase, Phase::barrier) << "one lacks";
  parts.hold(2, kGive, 300, 0x18 + 1);
  EXPECT_EQ(takes.phase, Phase::timed);
  EXPECT_EQ(takes.ready_at, 300 + latency);
  EXPECT_EQ(takes.registers, 0x60u);
  EXPECT_EQ(parts.blocks[0].pool, 0u);
}

TEST(HeldWarps, AClustersPhaseLetsThemGoInTheNextCycle) {
  Held parts;
  parts.stand(0, kNext);
  Warp& warp = parts.hold(0, kCluster, 50);
  EXPECT_EQ(warp.ready_at, 54u) << "it has not arrived: there is nothing to wait for";
  warp = parts.stand(0, kNext);
  warp.cluster_arrivals = 1;
  warp.since = 100;
  parts.held.hold(warp, 0, {kCluster, ~0u, ~0u, 0}, 101, 101, 100);
  EXPECT_EQ(warp.phase, Phase::barrier);
  parts.held.look(0, 200);
  EXPECT_EQ(warp.phase, Phase::barrier) << "the phase has not ended";
  parts.blocks[0].cluster_phase = 1;
  parts.held.look(1, 250);
  EXPECT_EQ(warp.phase, Phase::barrier) << "another block was looked at";
  parts.held.look(0, 300);
  EXPECT_EQ(warp.phase, Phase::timed);
  EXPECT_EQ(warp.ready_at, 301u);
  EXPECT_EQ(warp.hold, Hold::none);
}

TEST(HeldWarps, ThatNothingElseEndsAreLetGo) {
  Held parts;
  EXPECT_FALSE(parts.held.let_go(90));
  const Warp& takes = parts.hold(1, kTake, 100, 0x50);
  EXPECT_TRUE(parts.held.let_go(400));
  EXPECT_EQ(takes.phase, Phase::timed);
  EXPECT_EQ(takes.ready_at, 401u);
  EXPECT_FALSE(parts.held.let_go(401));
}

TEST(HeldWarps, ABlocksProductsAreForgottenWithIt) {
  Held parts(1);
  parts.multiply(0, 100);
  parts.held.forget(0);
  EXPECT_EQ(parts.hold(0, kWait, 102).ready_at, 106u);
}

}  // namespace
}  // namespace foretrace::sm
