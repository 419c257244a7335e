// The whole machine: the same bits for any window and any number of threads, blocks where the dispatcher puts them, what-ifs with a known answer.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "model/config/load.h"
#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"
#include "model/gpu/over_time.h"
#include "model/memory/topology.h"
#include "tests/sm/bench.h"

namespace foretrace::gpu_tests {
namespace {

using sm_tests::Line;

/// Blocks that all run the same lines; each block's and warp's addresses lie apart.
class Blocks final : public work::BlockSource {
 public:
  /// All but the last line are executed `rounds` times over, once by each block's first `short_warps`; with `uneven` twice as often by
  /// odd blocks.
  Blocks(const sm::StaticProgram& program, const std::vector<Line>& lines, std::uint64_t blocks, int warps,
         std::uint32_t rounds, int short_warps = 0, bool uneven = false)
      : program_(program), lines_(lines), blocks_(blocks), warps_(warps), short_warps_(short_warps),
        rounds_(rounds), uneven_(uneven) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    if (given_ == blocks_) return nullptr;
    auto record = std::make_shared<work::BlockRecord>();
    record->block = given_;
    record->warps.resize(static_cast<std::size_t>(warps_));
    for (int w = 0; w < warps_; ++w) {
      work::WarpRecorder recorder(program_.shapes, record->warps[static_cast<std::size_t>(w)]);
      const auto body = static_cast<std::uint32_t>(lines_.size() - 1);
      const std::uint32_t rounds = uneven_ && given_ % 2 == 1 ? 2 * rounds_ : rounds_;
      const std::uint32_t steps = body * (w < short_warps_ ? 1 : rounds);
      for (std::uint32_t step = 0; step <= steps; ++step) {
        const std::uint32_t i = step == steps ? body : step % body;
        std::array<work::LaneAddresses, 1> addresses{};
        const std::uint64_t warp =
            given_ * static_cast<std::uint64_t>(warps_) + static_cast<std::uint64_t>(w);
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
          addresses[0][lane] =
              lines_[i].base + warp * 128 + static_cast<std::uint64_t>(lines_[i].stride * lane);
        }
        recorder.record(i, ~0u, ~0u, std::span(addresses.data(), program_.shapes.of[i].addresses));
      }
      recorder.finish();
    }
    ++given_;
    return record;
  }

 private:
  const sm::StaticProgram& program_;
  const std::vector<Line>& lines_;
  std::uint64_t blocks_, given_ = 0;
  int warps_, short_warps_;
  std::uint32_t rounds_;
  bool uneven_;
};

std::vector<Line> copy_lines() {
  return {{"MOV R4, 0x1", 4},
          {"LDG.E R0, desc[UR4][R2.64]", 1, 0, 7, 0, ~0u, std::uint64_t{1} << 32},
          {"FADD R0, R0, R5", 4, 7, 7, 1},
          {"STG.E desc[UR4][R6.64], R0", 1, 7, 1, 0, ~0u, std::uint64_t{1} << 34},
          {"EXIT", 5}};
}

std::vector<Line> chain_lines(int length) {
  std::vector<Line> lines(static_cast<std::size_t>(length), {"FFMA R0, R1, R0, R0", 4});
  lines.push_back({"EXIT", 5});
  return lines;
}

stats::LaunchCounters simulate(const spec::GpuSpec& chip, const std::vector<Line>& lines,
                               std::uint64_t blocks, int warps, std::uint32_t blocks_per_sm, int threads = 1,
                               Cycle window = 0, std::uint32_t rounds = 1) {
  const sm::StaticProgram program(sm_tests::program_of(lines), chip);
  gpu::Gpu gpu(chip);
  Blocks source(program, lines, blocks, warps, rounds);
  gpu::LaunchSetup setup;
  setup.blocks = blocks;
  setup.blocks_per_sm = blocks_per_sm;
  setup.warps = static_cast<std::uint32_t>(warps);
  setup.l1_bytes = chip.l1.unified_bytes - chip.l1.carveouts.front();
  setup.threads = threads;
  setup.window = window;
  return gpu.run(program, setup, source);
}

void expect_same(const stats::LaunchCounters& a, const stats::LaunchCounters& b) {
  EXPECT_EQ(a.elapsed, b.elapsed);
  EXPECT_EQ(a.sm_active_each, b.sm_active_each);
  ASSERT_EQ(a.over_time.size(), b.over_time.size());
  for (std::size_t i = 0; i < a.over_time.size(); ++i) {
    EXPECT_TRUE(a.over_time[i] == b.over_time[i]) << "instant " << i << ", cycle " << a.over_time[i].now;
    EXPECT_EQ(a.over_time[i].placed, b.over_time[i].placed) << i;
    EXPECT_EQ(a.over_time[i].state, b.over_time[i].state) << i;
    EXPECT_EQ(a.over_time[i].l2_sectors, b.over_time[i].l2_sectors) << i;
    EXPECT_EQ(a.over_time[i].dram_bytes, b.over_time[i].dram_bytes) << i;
  }
  EXPECT_EQ(a.sm_inst_each, b.sm_inst_each);
  EXPECT_EQ(a.sm_blocks_each, b.sm_blocks_each);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.idle_reason, b.idle_reason);
  EXPECT_EQ(a.pipe_busy, b.pipe_busy);
  EXPECT_EQ(std::memcmp(&a.memory, &b.memory, sizeof a.memory), 0);
  ASSERT_EQ(a.instructions.size(), b.instructions.size());
  for (std::size_t i = 0; i < a.instructions.size(); ++i) {
    EXPECT_EQ(std::memcmp(&a.instructions[i], &b.instructions[i], sizeof a.instructions[i]), 0) << i;
  }
}

spec::GpuSpec chip(const char* name, const std::vector<config::Override>& set = {}) {
  return config::load_gpu(name, set).spec;
}

TEST(Machine, AnyWindowUpToTheLookaheadGivesTheSameBits) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  const Cycle longest = gpu::Gpu(h100).lookahead();
  const auto whole = simulate(h100, copy_lines(), 3000, 8, 8);
  expect_same(whole, simulate(h100, copy_lines(), 3000, 8, 8, 1, longest / 2));
  expect_same(whole, simulate(h100, copy_lines(), 3000, 8, 8, 1, longest / 3 + 1));
}

TEST(Machine, AnyNumberOfThreadsGivesTheSameBits) {
  const spec::GpuSpec a100 = chip("h100-sxm");
  const auto one = simulate(a100, copy_lines(), 3000, 8, 8, 1);
  expect_same(one, simulate(a100, copy_lines(), 3000, 8, 8, 2));
  expect_same(one, simulate(a100, copy_lines(), 3000, 8, 8, 5));
}

TEST(Machine, TellsALaunchOverItsTime) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  const auto counters = simulate(h100, copy_lines(), 3000, 8, 8);
  const std::vector<stats::Instant>& instants = counters.over_time;
  ASSERT_GT(instants.size(), 20u);
  ASSERT_LE(instants.size(), gpu::OverTime::kMost + 1);
  for (std::size_t i = 1; i + 1 < instants.size(); ++i)
    EXPECT_EQ(instants[i].now - instants[i - 1].now, instants[0].now) << i;
  EXPECT_EQ(instants.back().now, counters.elapsed);
  EXPECT_EQ(instants.back().instructions, counters.inst_executed);
  EXPECT_EQ(instants.back().state, counters.state);
  // 132 SMs hold 8 blocks of 8 warps each: in the middle between the launch's start and its drain all of them, in every slice.
  const Cycle between = (h100.launch.start + counters.elapsed - h100.launch.drain) / 2;
  std::size_t middle = 1;
  while (instants[middle].now < between) ++middle;
  EXPECT_LE(instants[middle].placed - instants[middle].ended, 132u * 8);
  EXPECT_GT(instants[middle].placed - instants[middle].ended, 132u * 4);
  const auto warps = [&](std::size_t i) {
    return std::accumulate(instants[i].state.begin(), instants[i].state.end(), std::uint64_t{0});
  };
  const double resident = static_cast<double>(warps(middle) - warps(middle - 1)) /
                          static_cast<double>(instants[middle].now - instants[middle - 1].now);
  EXPECT_LE(resident, 132 * 64);
  EXPECT_GT(resident, 132 * 24);
  EXPECT_EQ(std::accumulate(counters.sm_blocks_each.begin(), counters.sm_blocks_each.end(), std::uint64_t{0}),
            3000u);
  EXPECT_EQ(std::accumulate(counters.sm_inst_each.begin(), counters.sm_inst_each.end(), std::uint64_t{0}),
            counters.inst_executed);
}

TEST(OverTime, LetsEverySecondInstantGoWhereALaunchTakesLonger) {
  gpu::OverTime over_time(true);
  stats::LaunchCounters whole;
  whole.elapsed = 1'000'000;
  while (over_time.next() < whole.elapsed) {
    stats::Instant instant;
    instant.now = over_time.next();
    over_time.add(instant);
  }
  const auto instants = over_time.closed(whole, 0);
  const Cycle step = instants[0].now;
  ASSERT_GE(instants.size(), gpu::OverTime::kMost / 2);
  for (std::size_t i = 0; i + 1 < instants.size(); ++i) EXPECT_EQ(instants[i].now, (i + 1) * step);
  EXPECT_EQ(instants.back().now, whole.elapsed);
  EXPECT_TRUE(gpu::OverTime(false).closed(whole, 0).empty());
}

TEST(Machine, CountsWhatTheRecordsSay) {
  const auto counters = simulate(chip("h100-sxm"), copy_lines(), 1000, 4, 8);
  EXPECT_EQ(counters.inst_executed, 1000u * 4 * 5);
  EXPECT_EQ(counters.blocks, 1000u);
  EXPECT_EQ(counters.l1_sectors_global_ld, 1000u * 4 * 4);
  EXPECT_EQ(counters.memory.tex_sectors_read, 1000u * 4 * 4);
  EXPECT_EQ(counters.memory.tex_sectors_write, 1000u * 4 * 4);
}

TEST(WhatIf, TwiceTheSmsHalveAComputeBoundGridOfManyWaves) {
  const std::vector<Line> lines = chain_lines(64);
  const auto time = [&](const char* count) {
    return static_cast<double>(
        simulate(chip("h100-sxm", {{"sm.count", count}}), lines, 512, 8, 2, 1, 0, 40).elapsed);
  };
  EXPECT_NEAR(time("16") / time("32"), 2.0, 0.1);  // sixteen waves, or eight
}

TEST(WhatIf, DramBandwidthDoesNotMoveAChain) {
  const auto time = [&](const char* bytes) {
    return static_cast<double>(
        simulate(chip("h100-sxm", {{"dram.channel_bytes", bytes}}), chain_lines(400), 400, 8, 8).elapsed);
  };
  EXPECT_NEAR(time("16") / time("32"), 1.0, 0.01);
}

gpu::LaunchSetup grid(std::uint64_t blocks, std::uint32_t blocks_per_sm, std::uint32_t warps) {
  gpu::LaunchSetup setup;
  setup.blocks = blocks;
  setup.blocks_per_sm = blocks_per_sm;
  setup.warps = warps;
  return setup;
}

void end_block(gpu::Dispatcher& dispatcher, std::uint32_t sm, Cycle time, std::uint32_t warps = 8) {
  for (std::uint32_t warp = 0; warp < warps; ++warp) dispatcher.ended(sm, time, warp + 1 == warps);
}

TEST(Dispatcher, GivesEachSmItsShareOfAGrid) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  gpu::Dispatcher dispatcher(h100, grid(2 * h100.sm.count, 4, 8));
  std::vector<int> blocks(h100.sm.count);
  gpu::Dispatcher::Placement placement;
  while (dispatcher.next(kNever, placement)) ++blocks[placement.sm];
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), 2), h100.sm.count);
}

// H200, block_places.
TEST(Dispatcher, FillsTheChipInRunsOfWhichTheFirstGroupGetsEverySeventh) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  using Runs =
      std::vector<std::pair<int, int>>;  // GPC or kFirst, and how many blocks it gets one after the other
  constexpr int kFirst = -1;
  const auto runs = [&](std::uint64_t blocks, std::uint32_t limit) {
    const std::vector<std::uint32_t> first = gpu::order_of_first_blocks(h100, h100.launch.first_group);
    Runs found;
    for (const std::uint32_t sm : gpu::order_of_filling(h100, blocks, limit)) {
      const bool is_first = std::find(first.begin(), first.begin() + h100.launch.first_group, sm) <
                            first.begin() + h100.launch.first_group;
      const int group = is_first ? kFirst : static_cast<int>(memory::gpc_of_sm(h100.sm, sm));
      if (found.empty() || found.back().first != group) found.emplace_back(group, 0);
      ++found.back().second;
    }
    return found;
  };
  const Runs one{{kFirst, 8}, {0, 10}, {1, 18}, {2, 16}, {3, 16}, {4, 16}, {5, 16}, {6, 16}, {7, 16}};
  EXPECT_EQ(runs(132, 4), one);
  EXPECT_EQ(runs(500, 1), one) << "no room for more";
  EXPECT_EQ(runs(264, 2), (Runs{{kFirst, 8},
                                {0, 10},
                                {1, 18},
                                {2, 16},
                                {3, 16},
                                {4, 16},
                                {kFirst, 8},
                                {5, 16},
                                {6, 16},
                                {7, 16},
                                {0, 10},
                                {1, 18},
                                {2, 16},
                                {3, 16},
                                {4, 16},
                                {5, 16},
                                {6, 16},
                                {7, 16}}))
      << "after five GPCs";
  std::vector<std::size_t> turns;
  const Runs four = runs(528, 4);
  for (std::size_t i = 0; i < four.size(); ++i) {
    if (four[i].first == kFirst) turns.push_back(i);
  }
  EXPECT_EQ(turns, (std::vector<std::size_t>{0, 6, 13, 20})) << "then after six";
  Runs more = one;
  const Runs rest{{kFirst, 8}, {0, 5}, {1, 8}, {2, 8}, {3, 8}, {4, 8}, {5, 8}, {6, 8}, {7, 7}};
  more.insert(more.end(), rest.begin(), rest.end());
  EXPECT_EQ(runs(200, 4), more) << "what is left is shared out by TPCs, of which GPC 0 has five others";
}

// The dispatcher goes on while an SM starts the block before.
TEST(Dispatcher, ABlockStartsWhenTheWarpsOfTheOneBeforeHave) {
  spec::GpuSpec h100 = chip("h100-sxm");
  h100.launch.fill_interval = 1;
  h100.launch.sm_block_interval = 1000;
  gpu::Dispatcher dispatcher(h100, grid(2 * h100.sm.count, 2, 8));
  std::vector<Cycle> starts(h100.sm.count), again(h100.sm.count);
  gpu::Dispatcher::Placement placement;
  Cycle others = 0;
  while (dispatcher.next(kNever, placement)) {
    Cycle& of_sm = starts[placement.sm] == 0 ? starts[placement.sm] : again[placement.sm];
    of_sm = placement.start;
    if (again[placement.sm] == 0) others = std::max(others, of_sm);
  }
  for (std::uint32_t sm = 0; sm < h100.sm.count; ++sm) EXPECT_EQ(again[sm], starts[sm] + 1000);
  EXPECT_EQ(others, starts[0] + 131 + 8) << "eight second blocks before the last first one";
}

TEST(Dispatcher, SharesFirstBlocksOutOverTheGpcsInRuns) {
  spec::GpuSpec gpu = chip("h100-sxm");  // SMs 0, 1, 16, 17, 32, 33 ... are of GPC 0
  const auto first = [&](std::uint64_t blocks) {
    std::vector<std::uint32_t> order = gpu::order_of_first_blocks(gpu, blocks);
    EXPECT_EQ(order.size(), gpu.sm.count);
    order.resize(blocks);
    return order;
  };
  using Sms = std::vector<std::uint32_t>;
  EXPECT_EQ(first(4), (Sms{0, 16, 32, 48}));  // a TPC each, all of the first group
  EXPECT_EQ(first(6), (Sms{0, 1, 16, 17, 32, 48}));
  EXPECT_EQ(first(8), (Sms{0, 1, 16, 17, 32, 33, 48, 49}));
  EXPECT_EQ(first(12), (Sms{0, 1, 16, 17, 32, 33, 48, 49, 64, 2, 4, 6}));
  const Sms two = first(24);  // two for every GPC, on TPCs of their own
  EXPECT_EQ(Sms(two.begin() + 8, two.begin() + 14), (Sms{64, 80, 2, 18, 4, 20}));
  gpu.launch.by_gpc = 0;
  EXPECT_EQ(first(5), (Sms{0, 1, 2, 3, 4}));
}

TEST(Dispatcher, FillsTheChipFastAndTakesInEndsOneAfterTheOther) {
  spec::GpuSpec fast = chip("h100-sxm");
  fast.launch.fill_interval = 0.25;
  fast.launch.block_interval = 3;
  gpu::Dispatcher dispatcher(fast, grid(fast.sm.count + 2, 1, 8));
  gpu::Dispatcher::Placement first, placement;
  ASSERT_TRUE(dispatcher.next(kNever, first));
  for (std::uint32_t i = 1; i < fast.sm.count; ++i) ASSERT_TRUE(dispatcher.next(kNever, placement));
  EXPECT_EQ(placement.start - first.start, (fast.sm.count - 1) / 4);
  end_block(dispatcher, 5, 50000);
  end_block(dispatcher, 9, 50000);
  end_block(dispatcher, 9, 50020);
  ASSERT_TRUE(dispatcher.next(kNever, placement));
  EXPECT_EQ(placement.sm, 5u);
  const Cycle given = placement.start;
  ASSERT_TRUE(dispatcher.next(kNever, placement));
  EXPECT_EQ(placement.sm, 9u);
  EXPECT_EQ(placement.start, given + 3);
  EXPECT_EQ(dispatcher.settled(), 50020 + fast.launch.block_end);
  end_block(dispatcher, 7, 50021);
  EXPECT_EQ(dispatcher.settled(), 50020 + fast.launch.block_end + 3);
}

TEST(Dispatcher, WhatABlockAnnouncesTakesATurnOfTheEnds) {
  spec::GpuSpec fast = chip("h100-sxm");
  fast.launch.block_interval = 3;
  gpu::Dispatcher dispatcher(fast, grid(fast.sm.count, 1, 8));
  gpu::Dispatcher::Placement placement;
  for (std::uint32_t i = 0; i < fast.sm.count; ++i) ASSERT_TRUE(dispatcher.next(kNever, placement));
  dispatcher.announced(50000);
  dispatcher.announced(50000);
  EXPECT_EQ(dispatcher.settled(), 50000 + fast.launch.block_end + 3);
  end_block(dispatcher, 5, 50000);
  EXPECT_EQ(dispatcher.settled(), 50000 + fast.launch.block_end + 6);
}

TEST(Dispatcher, RefillsAnSmWhenItsBlockHasEndedAndNotBefore) {
  spec::GpuSpec one = chip("h100-sxm");
  one.sm.count = 1;
  gpu::Dispatcher dispatcher(one, grid(2, 1, 8));
  gpu::Dispatcher::Placement placement;
  ASSERT_TRUE(dispatcher.next(kNever, placement));
  EXPECT_FALSE(dispatcher.next(kNever, placement));
  end_block(dispatcher, 0, 50000);
  EXPECT_FALSE(dispatcher.next(50000 + one.launch.block_end, placement));
  ASSERT_TRUE(dispatcher.next(50000 + one.launch.block_end + 1, placement));
  EXPECT_EQ(placement.start, 50000 + one.launch.block_end + one.launch.block_start);
}

/// Three SMs of four blocks of eight warps each; of every block of SMs 0 and 1 the first `early` warps end at 10000.
class WarpsThatEndEarly : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kWarps = 8, kBlocks = 4, kSms = 3;
  void SetUp() override {
    spec_ = chip("h100-sxm");
    spec_.sm.count = kSms;
    spec_.launch.spare_warps = 11;
    setup_ = grid(1000, kBlocks, kWarps);
    setup_.most_warps = kBlocks * kWarps;
    setup_.most_blocks = 32;
  }
  void fill(std::uint32_t early) {
    dispatcher_ = std::make_unique<gpu::Dispatcher>(spec_, setup_);
    gpu::Dispatcher::Placement placement;
    for (std::uint32_t i = 0; i < kSms * kBlocks; ++i) ASSERT_TRUE(dispatcher_->next(kNever, placement));
    for (std::uint32_t sm = 0; sm < 2; ++sm) {
      for (std::uint32_t i = 0; i < kBlocks * early; ++i) dispatcher_->ended(sm, 10000, false);
    }
    EXPECT_FALSE(dispatcher_->next(kNever, placement));  // no block has ended
  }
  /// Blocks that each SM gets when what is left of one on SM 0 ends.
  std::vector<int> refill(std::uint32_t left) {
    end_block(*dispatcher_, 0, 20000, left);
    std::vector<int> blocks(kSms);
    gpu::Dispatcher::Placement placement;
    while (dispatcher_->next(kNever, placement)) ++blocks[placement.sm];
    return blocks;
  }
  spec::GpuSpec spec_;
  gpu::LaunchSetup setup_;
  std::unique_ptr<gpu::Dispatcher> dispatcher_;
};

TEST_F(WarpsThatEndEarly, LeaveTheirSlotsToNewBlocksOfTheTpcWhenABlockEnds) {
  fill(4);  // sixteen slots per SM, twenty on that of the block
  EXPECT_EQ(refill(4), (std::vector<int>{2, 1, 0}));
}

TEST_F(WarpsThatEndEarly, AreNotEnoughWhereTooFewSlotsAreLeft) {
  fill(2);                                            // eight slots per SM: fewer than spare_warps
  EXPECT_EQ(refill(6), (std::vector<int>{1, 0, 0}));  // of fourteen its own place takes eight
}

TEST_F(WarpsThatEndEarly, SpareWarpsAreTheLeast) {
  spec_.launch.spare_warps = 8;
  fill(2);
  EXPECT_EQ(refill(6), (std::vector<int>{1, 1, 0}));
}

TEST_F(WarpsThatEndEarly, DoNotGiveAwayTheirBlocksSlots) {
  setup_.most_blocks = kBlocks;
  fill(4);
  EXPECT_EQ(refill(4), (std::vector<int>{1, 0, 0}));
}

TEST_F(WarpsThatEndEarly, LeaveNothingOnAChipThatGivesBlocksAwayWhole) {
  spec_.launch.spare_warps = 0;
  fill(4);
  EXPECT_EQ(refill(4), (std::vector<int>{1, 0, 0}));
}

TEST(WhatIf, BlocksStartBesideHalvesOfBlocks) {
  const auto elapsed = [](const char* spare) {
    const spec::GpuSpec h100 = chip("h100-sxm", {{"launch.spare_warps", spare}, {"sm.count", "16"}});
    std::vector<Line> lines = chain_lines(100);
    for (Line& line : lines) line.stall = 8;  // longer warps do not fill the schedulers
    const sm::StaticProgram program(sm_tests::program_of(lines), h100);
    gpu::Gpu gpu(h100);
    Blocks source(program, lines, 256, 8, 20, 4, true);
    gpu::LaunchSetup setup = grid(256, 4, 8);
    setup.most_warps = 32;
    setup.most_blocks = 32;
    setup.l1_bytes = h100.l1.unified_bytes - h100.l1.carveouts.front();
    return static_cast<double>(gpu.run(program, setup, source).elapsed);
  };
  EXPECT_LT(elapsed("11"), elapsed("0"));
}

}  // namespace
}  // namespace foretrace::gpu_tests
