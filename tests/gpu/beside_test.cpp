// Several grids on one chip: where their blocks go, what they take from each other, and that one alone is what it was.

#include <gtest/gtest.h>

#include <cstring>

#include "model/config/load.h"
#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"
#include "model/sm/joined_program.h"
#include "model/units/error.h"
#include "tests/sm/bench.h"

namespace foretrace::gpu_tests {
namespace {

using sm_tests::Line;

spec::GpuSpec h100(const std::vector<config::Override>& set = {}) {
  return config::load_gpu("h100-sxm", set).spec;
}

/// Blocks that run the lines of one kernel of a joined program `rounds` times over, and the last line once.
class Blocks final : public work::BlockSource {
 public:
  Blocks(const sm::StaticProgram& program, std::uint32_t first, const std::vector<Line>& lines,
         std::uint64_t blocks, int warps, std::uint32_t rounds)
      : program_(program), first_(first), lines_(lines), blocks_(blocks), warps_(warps), rounds_(rounds) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    if (given_ == blocks_) return nullptr;
    auto record = std::make_shared<work::BlockRecord>();
    record->block = given_;
    record->warps.resize(static_cast<std::size_t>(warps_));
    for (int warp = 0; warp < warps_; ++warp)
      write(given_ * static_cast<std::uint64_t>(warps_) + static_cast<std::uint64_t>(warp),
            record->warps[static_cast<std::size_t>(warp)]);
    ++given_;
    return record;
  }

 private:
  void write(std::uint64_t warp, work::WarpRecord& record) {
    work::WarpRecorder recorder(program_.shapes, record);
    const auto body = static_cast<std::uint32_t>(lines_.size() - 1);
    for (std::uint32_t step = 0; step <= body * rounds_; ++step) {
      const std::uint32_t i = step == body * rounds_ ? body : step % body;
      std::array<work::LaneAddresses, 1> addresses{};
      const std::uint64_t piece = warp * rounds_ + step / body;
      for (unsigned lane = 0; lane < kWarpSize; ++lane)
        addresses[0][lane] = lines_[i].base + piece * 128 + std::uint64_t{4} * lane;
      recorder.record(first_ + i, ~0u, ~0u,
                      std::span(addresses.data(), program_.shapes.of[first_ + i].addresses));
    }
    recorder.finish();
  }
  const sm::StaticProgram& program_;
  const std::uint32_t first_;
  const std::vector<Line>& lines_;
  const std::uint64_t blocks_;
  const int warps_;
  const std::uint32_t rounds_;
  std::uint64_t given_ = 0;
};

std::vector<Line> chain() { return {{"FFMA R0, R1, R0, R0", 4}, {"EXIT", 5}}; }
std::vector<Line> load(std::uint64_t base) {
  return {
      {"LDG.E R0, desc[UR4][R2.64]", 1, 0, 7, 0, ~0u, base}, {"FADD R0, R0, R5", 4, 7, 7, 1}, {"EXIT", 5}};
}

/// A grid of these tests.
struct Asked {
  std::vector<Line> lines;
  std::uint64_t blocks = 0;
  int warps = 8;
  std::uint32_t rounds = 1, per_sm = 1;
  gpu::BlockNeeds needs = {};
  Cycle begin = 0;
};

struct Ran {
  stats::LaunchCounters counters;
  std::vector<gpu::GridTime> times;
  Cycle end(std::size_t i) const { return times[i].end; }
};

Ran run(const spec::GpuSpec& chip, const std::vector<Asked>& grids, int threads = 1, Cycle window = 0) {
  std::vector<sm::StaticProgram> programs;
  std::vector<const sm::StaticProgram*> kernels;
  for (const Asked& grid : grids) programs.emplace_back(sm_tests::program_of(grid.lines), chip);
  for (const sm::StaticProgram& program : programs) kernels.push_back(&program);
  const sm::JoinedProgram joined(kernels);
  std::vector<std::unique_ptr<Blocks>> sources;
  gpu::LaunchSetup setup;
  Ran ran;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const Asked& asked = grids[i];
    sources.push_back(std::make_unique<Blocks>(joined.program, joined.first[i], asked.lines, asked.blocks,
                                               asked.warps, asked.rounds));
    const auto warps = static_cast<std::uint32_t>(asked.warps);
    if (i > 0) {
      setup.beside.push_back(
          {asked.blocks, asked.per_sm, warps, asked.needs, asked.begin, sources.back().get()});
      continue;
    }
    setup.blocks = asked.blocks;
    setup.blocks_per_sm = asked.per_sm;
    setup.warps = warps;
    setup.needs = asked.needs;
  }
  setup.l1_bytes = chip.l1.unified_bytes - chip.l1.carveouts.back();
  setup.shared_bytes = chip.l1.carveouts.back();
  setup.threads = threads;
  setup.window = window;
  setup.grid_times = &ran.times;
  ran.counters = gpu::Gpu(chip).run(joined.program, setup, *sources.front());
  return ran;
}

/// Blocks that fill an SM: its shared memory.
Asked filling(std::uint64_t blocks) {
  Asked grid{chain(), blocks, 8, 1000};
  grid.needs.shared = 200 * 1024;
  return grid;
}

TEST(Beside, OneGridAloneIsWhatItWas) {
  const Ran alone = run(h100(), {filling(200)});
  ASSERT_EQ(alone.times.size(), 1u);
  EXPECT_EQ(alone.end(0), alone.counters.elapsed);
  EXPECT_EQ(alone.times[0].blocks, 200u);
}

TEST(Beside, AnyWindowAndAnyNumberOfThreadsGiveTheSameBits) {
  Asked first{load(std::uint64_t{1} << 36), 300, 8, 8, 4}, second{load(std::uint64_t{1} << 37), 200, 4, 8, 8};
  second.begin = 500;
  const Ran one = run(h100(), {first, second});
  for (const Ran& other : {run(h100(), {first, second}, 3), run(h100(), {first, second}, 1, 37)}) {
    EXPECT_EQ(one.counters.elapsed, other.counters.elapsed);
    EXPECT_EQ(one.counters.state, other.counters.state);
    EXPECT_EQ(one.counters.sm_active_each, other.counters.sm_active_each);
    EXPECT_EQ(std::memcmp(&one.counters.memory, &other.counters.memory, sizeof one.counters.memory), 0);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(one.end(i), other.end(i)) << i;
  }
}

/// What an H100 did with blocks that fill an SM and take as long as each other (validate/host/h100-sxm-calls.tsv, beside_*): ends in
/// blocks' times.
TEST(Beside, BlocksTakeWhatTheLastWaveLeaves) {
  struct Row {
    std::uint64_t first, second;
    double first_ends, second_ends;
  };
  const auto alone = [](std::uint64_t blocks) {
    return static_cast<double>(run(h100(), {filling(blocks)}).counters.elapsed);
  };
  const double block = alone(264) - alone(132), launch = alone(132) - block;
  for (const Row& row :
       {Row{66, 33, 1, 1}, {66, 66, 1, 1}, {198, 66, 2, 2}, {198, 132, 2, 3}, {264, 198, 2, 4}}) {
    const Ran ran = run(h100(), {filling(row.first), filling(row.second)});
    EXPECT_NEAR((static_cast<double>(ran.end(0)) - launch) / block, row.first_ends, 0.05)
        << row.first << " " << row.second;
    EXPECT_NEAR((static_cast<double>(ran.end(1)) - launch) / block, row.second_ends, 0.05)
        << row.first << " " << row.second;
  }
}

TEST(Beside, ComputeOnSmsOfItsOwnIsNotSlowed) {
  const Cycle alone = run(h100(), {filling(60)}).counters.elapsed;
  const Ran both = run(h100(), {filling(60), filling(60)});
  EXPECT_NEAR(static_cast<double>(both.end(1)), static_cast<double>(alone),
              0.01 * static_cast<double>(alone));
  for (const std::uint64_t blocks : both.counters.sm_blocks_each) EXPECT_LE(blocks, 1u);
}

TEST(Beside, GridsThatFillTheDramSlowEachOther) {
  const spec::GpuSpec slow = h100({{"dram.channel_bytes", "4"}});
  const auto reader = [](std::uint64_t base) { return Asked{load(base), 132, 32, 8, 1}; };
  const Asked first = reader(std::uint64_t{1} << 36), second = reader(std::uint64_t{1} << 37);
  const auto alone = static_cast<double>(run(slow, {first}).counters.elapsed);
  const Ran both = run(slow, {first, second});
  EXPECT_EQ(both.counters.memory.tex_sectors_read, 2u * 132 * 32 * 8 * 4);
  EXPECT_GT(static_cast<double>(both.end(0)), 1.5 * alone);  // it shares the DRAM all of its time
  EXPECT_GT(static_cast<double>(both.counters.elapsed), 1.55 * alone);
  EXPECT_LT(static_cast<double>(both.counters.elapsed), 2.05 * alone);
}

/// validate/beside: of kernels that could each take all issue slots, the one that was launched first goes on as if alone.
TEST(Beside, WarpsOfTheFirstGridGoFirst) {
  Asked first{chain(), 132, 16, 2000, 1}, second = first;
  second.begin = 500;
  const auto alone = static_cast<double>(run(h100(), {first}).counters.elapsed);
  const Ran both = run(h100(), {first, second});
  for (const std::uint64_t blocks : both.counters.sm_blocks_each) EXPECT_EQ(blocks, 2u);
  EXPECT_NEAR(static_cast<double>(both.end(0)), alone, 0.03 * alone);
  EXPECT_GT(static_cast<double>(both.end(1)), 1.5 * alone);
}

TEST(Beside, AGridBeginsWhenItIsLaunchedAndNotBefore) {
  const spec::GpuSpec chip = h100();
  Asked second = filling(10);
  second.begin = 5000;
  const Ran both = run(chip, {filling(10), second});
  EXPECT_EQ(both.times[1].begin, 5000u);
  EXPECT_EQ(both.times[0].first, chip.launch.start + chip.launch.block_start);
  EXPECT_EQ(both.times[1].first, 5000 + chip.launch.start + chip.launch.block_start);
  const Ran one = run(chip, {filling(10)});
  EXPECT_EQ(both.end(0), one.end(0));
  EXPECT_EQ(both.times[1].end, both.counters.elapsed);
}

/// A dispatcher of one SM: a block of the first grid, and one of the second that needs `needs`.
bool fits(const gpu::BlockNeeds& needs, std::uint32_t warps) {
  spec::GpuSpec one = h100();
  one.sm.count = 1;
  gpu::LaunchSetup setup;
  setup.blocks = 1;
  setup.blocks_per_sm = 4;
  setup.warps = 16;
  setup.needs = {16384, 1024, 1};
  setup.shared_bytes = 8192;
  setup.beside.push_back({1, 1, warps, needs, 0, nullptr});
  gpu::Dispatcher dispatcher(one, setup);
  gpu::Dispatcher::Placement placement;
  EXPECT_TRUE(dispatcher.next(kNever, placement));
  EXPECT_EQ(placement.grid, 0u);
  const bool both = dispatcher.next(kNever, placement);
  if (both) return placement.grid == 1;
  for (int warp = 0; warp < 16; ++warp) dispatcher.ended(0, 50000, warp == 15, 0);
  EXPECT_TRUE(dispatcher.next(kNever, placement));  // it has the SM for itself now
  EXPECT_EQ(placement.start, 50000 + one.launch.block_end + one.launch.block_start);
  return false;
}

TEST(Beside, ABlockNeedsRoomOfEveryKind) {
  const std::uint32_t barriers = h100().limits.barriers - 1;
  EXPECT_TRUE(fits({49152, 7168, barriers}, 48));
  EXPECT_FALSE(fits({49153, 7168, barriers}, 48));
  EXPECT_FALSE(fits({49152, 7169, barriers}, 48));
  EXPECT_FALSE(fits({49152, 7168, barriers + 1}, 48));
  EXPECT_FALSE(fits({49152, 7168, barriers}, 49));
}

/// validate/beside, 75% of a kernel without shared memory and then one of 48 KiB per block: the second begins when the first has ended.
TEST(Beside, ACarveOutStaysUntilTheSmIsEmpty) {
  Asked first{chain(), 132, 8, 2000, 1}, second = filling(132);
  first.needs.shared = 1024;
  first.needs.carve_out = 8 * 1024;
  second.needs.carve_out = 228 * 1024;
  const Ran waits = run(h100(), {first, second});
  EXPECT_GT(waits.times[1].first, 3 * waits.times[0].first);
  EXPECT_GT(waits.times[1].first + 3000, waits.end(0));
  first.needs.carve_out = second.needs.carve_out;
  EXPECT_LT(run(h100(), {first, second}).times[1].first, 2 * waits.times[0].first);
}

TEST(JoinedProgram, KeepsEachKernelsShapesAndRefusesThoseThatWait) {
  const spec::GpuSpec chip = h100();
  const sm::StaticProgram first(sm_tests::program_of(load(1)), chip),
      second(sm_tests::program_of(load(1)), chip);
  const sm::JoinedProgram joined({&first, &second});
  ASSERT_EQ(joined.first, (std::vector<std::uint32_t>{0, static_cast<std::uint32_t>(first.code.size())}));
  EXPECT_EQ(joined.program.code.size(), 2 * first.code.size());
  EXPECT_EQ(joined.program.shapes.slots, 2 * first.shapes.slots);
  EXPECT_EQ(joined.program.shapes.of[joined.first[1]].slot, first.shapes.slots);
  EXPECT_EQ(joined.program.classes.size(), first.classes.size());
  sm::StaticProgram waits = second;
  waits.shapes.loops.emplace_back();
  EXPECT_THROW(sm::JoinedProgram({&first, &waits}), InputError);
}

}  // namespace
}  // namespace foretrace::gpu_tests
