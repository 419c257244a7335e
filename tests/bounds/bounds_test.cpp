// Each bound against a figure worked out by hand, and the memory system against the bounds.

#include "model/bounds/bounds.h"

#include <gtest/gtest.h>

#include "model/memory/memory_system.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::bounds {
namespace {

using memory_tests::large_chip;
using memory_tests::small_chip;
using spec::Pipe;

spec::GpuSpec chip() {
  spec::GpuSpec spec = small_chip();  // 8 SMs, 4 GPCs, 8 slices of 64 B, 4 channels of 16 B, clocks alike
  spec.pipe[static_cast<std::size_t>(Pipe::fmaheavy)].interval = 2;
  spec.pipe[static_cast<std::size_t>(Pipe::fmalite)].interval = 2;
  spec.pipe[static_cast<std::size_t>(Pipe::fp64)].interval = 16;
  spec.l1.fill_bytes = 64;
  spec.l1.miss_latency = 30;
  spec.l1.sectors_in_flight = 128;
  spec.launch.start = 1000;
  spec.launch.block_interval = 2;
  spec.launch.sm_block_interval = 20;
  spec.launch.block_start = 100;
  spec.launch.block_end = 50;
  spec.launch.drain = 200;
  return spec;
}

double cycles_of(const spec::GpuSpec& spec, const Work& work, const std::string& name) {
  for (const Bound& bound : lower_bounds(spec, work)) {
    if (bound.name == name) return bound.cycles;
  }
  return -1;
}

TEST(Bounds, WorkIsSpreadOverTheSmsThatHaveABlock) {
  Work work;
  work.warp_instructions = 32'000;
  work.blocks = 100;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "issue"), 32'000 / (8 * 4.0));
  work.blocks = 2;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "issue"), 32'000 / (2 * 4.0));
}

TEST(Bounds, EachResourceByItsOwnRate) {
  Work work;
  work.blocks = 100;
  work.pipe_cycles[static_cast<std::size_t>(Pipe::fmaheavy)] = 6400;
  work.l1_tag_cycles = 800;
  work.l1_data_wavefronts = 1600;
  work.shared_wavefronts = 400;
  work.l2_read_sectors = 16'000;
  work.l2_write_sectors = 4'000;
  work.partition_sectors = 8'000;
  work.dram_read_bytes = 640'000;
  const spec::GpuSpec spec = chip();
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "pipe_fmaheavy"), 200);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l1_tags"), 100);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l1_data"), 200);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "shared"), 50);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l1_fill"), 16'000 * 32 / (8 * 64.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "network_gpc"), 16'000 * 32 / (4 * 128.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "network_request"), 4'000 * 32 / (8 * 64.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l2"), 16'000 * 32 / (8 * 64.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "partition"), 8'000 * 32 / (2 * 256.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "dram"), 640'000 / (4 * 16.0));
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "outstanding"), 16'000.0 * 180 / (8 * 128));
  EXPECT_EQ(cycles_of(spec, work, "pipe_fp64"), -1);  // no such work, no such bound
  EXPECT_EQ(tightest(lower_bounds(spec, work)).name, "dram");
}

TEST(Bounds, WritesThatMayStillBeQueuedDoNotCount) {
  Work work;
  work.blocks = 1;
  constexpr std::uint64_t kQueues = 4 * 32 * 128;
  work.dram_write_bytes = kQueues;
  EXPECT_EQ(cycles_of(chip(), work, "dram"), -1);
  work.dram_write_bytes = kQueues + 6400;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "dram"), 100);
}

TEST(Bounds, ClocksScaleTheirOwnDomains) {
  spec::GpuSpec spec = chip();
  Work work;
  work.blocks = 100;
  work.l2_read_sectors = 16'000;
  work.dram_read_bytes = 640'000;
  const double l2 = cycles_of(spec, work, "l2"), dram = cycles_of(spec, work, "dram"),
               fill = cycles_of(spec, work, "l1_fill");
  spec.clock.sm *= 2;
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l2"), 2 * l2);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "dram"), 2 * dram);
  EXPECT_DOUBLE_EQ(cycles_of(spec, work, "l1_fill"), fill);
}

TEST(Bounds, EmptyKernelTakesItsFixedCosts) {
  Work work;
  work.blocks = 1;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "latency"), 1000 + 100 + 50 + 200);
  work.reads_memory = true;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "latency"), 1000 + 100 + 50 + 200 + 30 + 180);
  EXPECT_DOUBLE_EQ(l2_latency(chip()), 210);
}

TEST(Bounds, DispatchIsBoundChipWideAndByTheFullestSm) {
  Work work;
  work.blocks = 8;
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "dispatch"), 1000 + 7 * 2);
  work.blocks = 17;  // one SM gets three
  EXPECT_DOUBLE_EQ(cycles_of(chip(), work, "dispatch"), 1000 + 2 * 20);
}

TEST(Bounds, CeilingsAndRoofline) {
  const Ceilings top = ceilings(chip());
  EXPECT_DOUBLE_EQ(top.warp_instructions, 32);
  EXPECT_DOUBLE_EQ(top.fp32_operations, 8 * 128 * 2);
  EXPECT_DOUBLE_EQ(top.fp64_operations, 8 * 4 * 2 * 2);
  EXPECT_DOUBLE_EQ(top.l2_bytes, 512);
  EXPECT_DOUBLE_EQ(top.dram_bytes, 64);
  EXPECT_DOUBLE_EQ(roofline(top, top.fp32_operations, 1), 64);
  EXPECT_DOUBLE_EQ(roofline(top, top.fp32_operations, 32), 2048);
  EXPECT_DOUBLE_EQ(roofline(top, top.fp32_operations, 64), 2048);
  // 80 channels of 16 B at 2619 MHz: the 3352 GB/s of an H100.
  EXPECT_NEAR(ceilings(large_chip()).dram_bytes * 1.98, 3352, 1);
}

TEST(Bounds, WorkComesFromTheCounters) {
  stats::LaunchCounters counters;
  counters.inst_executed = 7;
  counters.blocks = 3;
  counters.shared_wavefronts_ld = 5;
  counters.shared_wavefronts_st = 6;
  counters.memory.tex_sectors_read = 10;
  counters.memory.tex_sectors_reduction = 11;
  counters.memory.dram_bytes_read = 12;
  const Work work = work_of(counters);
  EXPECT_EQ(work.warp_instructions, 7u);
  EXPECT_EQ(work.blocks, 3u);
  EXPECT_EQ(work.shared_wavefronts, 11u);
  EXPECT_EQ(work.l2_read_sectors, 10u);
  EXPECT_EQ(work.l2_write_sectors, 11u);
  EXPECT_EQ(work.dram_read_bytes, 12u);
  EXPECT_TRUE(work.reads_memory);
  EXPECT_FALSE(work_of(stats::LaunchCounters{}).reads_memory);
}

TEST(Bounds, MemorySystemComesCloseAndNeverBelow) {
  for (spec::GpuSpec spec : {chip(), large_chip()}) {
    spec.l1.fill_bytes = 64;
    memory::MemorySystem memory(spec);
    std::vector<memory::Request> requests;
    const std::uint64_t lines = 4096 * spec.dram.channels;
    for (std::uint64_t line = 0; line < lines; ++line) {
      const auto sm = static_cast<std::uint32_t>(line % spec.sm.count);
      requests.push_back(memory_tests::read_request(line / spec.sm.count * 8, sm, line, 0b1111));
    }
    stats::LaunchCounters counters;
    counters.elapsed = memory_tests::play(memory, requests).back().time;
    counters.blocks = spec.sm.count;
    counters.memory = memory.counters();
    const Bound bound = tightest(lower_bounds(spec, work_of(counters)));
    EXPECT_EQ(bound.name, "dram");
    EXPECT_GE(static_cast<double>(counters.elapsed), bound.cycles);
    EXPECT_LE(static_cast<double>(counters.elapsed), bound.cycles * 1.12);
  }
}

}  // namespace
}  // namespace foretrace::bounds
