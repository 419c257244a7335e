// Thread-block clusters and bulk copies, compiled by nvcc for sm_90 and sm_120 (conformance/cluster.cu, bulk.cu).
#include <gtest/gtest.h>

#include <numeric>

#include "model/isa/asynchronous.h"
#include "tests/emulate/loaded.h"

namespace foretrace::emulate {
namespace {

using Words = std::vector<std::uint32_t>;

class Clusters : public testing::TestWithParam<int> {
 protected:
  /// in[i] = i; `words` of out.
  Words run(const std::string& name, Dim3 grid, unsigned threads, Dim3 cluster, std::size_t words,
            Checks checks = {}) {
    Loaded launch(kernels_of("cluster.cu", GetParam()).at(name), grid, {threads, 1, 1});
    launch.context.cluster = cluster;
    launch.context.checks = checks;
    Words in(grid.count() * threads);
    std::iota(in.begin(), in.end(), 0u);
    launch.buffer(in, "in");
    launch.buffer(Words(words), "out");
    EXPECT_EQ(blocks_are_independent(*launch.context.program), name == "places")
        << "the others have barriers";
    launch.run();
    return launch.read(1, words);
  }
};

TEST_P(Clusters, ReadEachOthersSharedMemory) {
  const Words out = run("rotate", {8, 1, 1}, 64, {1, 1, 1}, 512);  // the size that it is compiled for
  for (std::uint32_t i = 0; i < 512; ++i) {
    const std::uint32_t block = i / 64, next = block / 4 * 4 + (block + 1) % 4;
    ASSERT_EQ(out[i], next * 64 + i % 64);
  }
}

TEST_P(Clusters, AddToSharedMemoryOfOthers) {
  for (const std::uint32_t size : {1u, 2u, 8u}) {
    const Words out = run("histogram", {16, 1, 1}, 32, {size, 1, 1}, 16 / size * 8);
    for (const std::uint32_t bin : out) ASSERT_EQ(bin, size * 4) << size;
  }
}

TEST_P(Clusters, KnowTheirPlaces) {
  const Words out = run("places", {4, 9, 1}, 1, {2, 3, 1}, 36 * 8);
  for (std::uint32_t y = 0; y < 9; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      const std::uint32_t* o = &out[(y * 4 + x) * 8];
      EXPECT_EQ(Words(o, o + 8), (Words{x / 2, y / 3, 2, 3, x % 2 + y % 3 * 2, 6, x % 2, y % 3}))
          << x << "," << y;
    }
  }
}

TEST_P(Clusters, SendWordsWithTheirArrival) {
  const Words out = run("sends", {2, 1, 1}, 32, {2, 1, 1}, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3 * i);
}

TEST_P(Clusters, ReadingABlockThatHasEndedIsAFault) {
  try {
    run("leaves_early", {2, 1, 1}, 32, {2, 1, 1}, 32, {.bounds = false});
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::out_of_bounds);
    EXPECT_NE(std::string(fault.what()).find("block (1,0,0)"), std::string::npos) << fault.what();
    EXPECT_NE(std::string(fault.what()).find("of the block of rank 0 (0x"), std::string::npos)
        << fault.what();
    EXPECT_NE(std::string(fault.what()).find("which has ended"), std::string::npos) << fault.what();
  }
}

TEST_P(Clusters, ABlockThatEndsAboutThenIsThereStill) {
  std::string said;
  const auto run_it = [&](bool bounds) {
    Loaded launch(kernels_of("cluster.cu", GetParam()).at("ends_about_then"), {2, 1, 1}, {32, 1, 1});
    launch.context.cluster = {2, 1, 1};
    launch.context.checks.bounds = bounds;
    launch.context.report = [&](std::string_view text) { said += text; };
    launch.buffer(Words(1), "in");
    launch.buffer(Words(1), "out");
    launch.run();
    return launch.read(1, 1)[0];
  };
  EXPECT_EQ(run_it(false), 5u);
  EXPECT_NE(said.find("warning: access of 4 bytes to shared memory of the block of rank 1 (0x"),
            std::string::npos)
      << said;
  EXPECT_THROW(run_it(true), KernelFault);
}

TEST_P(Clusters, ImpossibleShapesAreRefused) {
  const auto message = [&](const std::string& name, Dim3 grid, Dim3 cluster) -> std::string {
    try {
      run(name, grid, 32, cluster, 512);
    } catch (const InputError& error) { return error.what(); }
    return "";
  };
  EXPECT_EQ(message("rotate", {6, 1, 1}, {4, 1, 1}),
            "kernel rotate: a grid of (6,1,1) blocks is not made of whole clusters of (4,1,1)");
  EXPECT_EQ(message("rotate", {8, 1, 1}, {2, 1, 1}),
            "kernel rotate: clusters of (2,1,1) blocks asked for; it is compiled for (4,1,1)");
  EXPECT_EQ(message("histogram", {32, 1, 1}, {32, 1, 1}),
            "kernel histogram: clusters of 32 blocks; at most 16");
}

class BulkCopies : public testing::TestWithParam<int> {
 protected:
  /// in[i] = i; `words` of out, which hold 1000 before.
  Words run(const std::string& name, Dim3 grid, unsigned threads, std::size_t words, Checks checks = {}) {
    Loaded launch(kernels_of("bulk.cu", GetParam(), {"-std=c++17"}).at(name), grid, {threads, 1, 1});
    Words in(1024);
    std::iota(in.begin(), in.end(), 0u);
    launch.buffer(in, "in");
    launch.buffer(Words(words, 1000), "out");
    launch.context.checks = checks;
    launch.run();
    return launch.read(1, words);
  }
};

TEST_P(BulkCopies, FillSharedMemory) {
  const Words out = run("copies_in", {1, 1, 1}, 96, 1024, {.uninitialized = true, .races = true});
  for (std::uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(out[i], 1023 - i);
}

TEST_P(BulkCopies, AreRecordedAsTheyWereAskedFor) {
  const frontend::LoadedKernel& kernel = kernels_of("bulk.cu", GetParam(), {"-std=c++17"}).at("copies_in");
  Loaded launch(kernel, {1, 1, 1}, {96, 1, 1});
  const std::uint64_t in = launch.buffer(Words(1024), "in");
  launch.buffer(Words(1024), "out");
  const Emulator emulator(launch.context);
  work::BlockRecord record;
  emulator.run_block(0, &record);
  const work::Shapes shapes(kernel.program);
  std::uint64_t bytes = 0, begun = 0, asked = 0;
  std::uint32_t barrier = 0;
  for (const work::WarpRecord& warp : record.warps) {
    work::WarpCursor cursor(shapes, warp);
    for (work::Step step; cursor.next(step);) {
      const isa::Instruction& instruction = kernel.program.code[step.index];
      if (step.executed == 0) continue;
      work::LaneAddresses lanes;
      const auto first = static_cast<unsigned>(std::countr_zero(step.executed));
      if (instruction.opcode == isa::Opcode::UBLKCP) {
        const work::Transfer& moved = cursor.transfer();
        EXPECT_EQ(moved.kind, work::TransferKind::load);
        EXPECT_EQ(moved.blocks, 1u);
        EXPECT_EQ(moved.rows, (moved.bytes + 127) / 128);
        ASSERT_EQ(moved.runs.size(), 1u);
        EXPECT_EQ(moved.runs[0], (work::CopyRun{in + bytes, moved.bytes, 1, 0}));
        bytes += moved.bytes;
        barrier = moved.barrier;
      } else if (isa::barrier_use(instruction) == isa::BarrierUse::init) {
        cursor.addresses(1, lanes);
        EXPECT_EQ(lanes[first], 96u) << "arrivals";
        ++begun;
      } else if (isa::barrier_use(instruction) == isa::BarrierUse::check) {
        cursor.addresses(1, lanes);
        EXPECT_EQ(lanes[first], work::kPhaseEnded) << "parity 0, and it had ended";
        cursor.addresses(0, lanes);
        EXPECT_EQ(lanes[first] & 0xffffff, barrier);
        ++asked;
      }
    }
  }
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(begun, 1u);
  EXPECT_EQ(asked, 3u) << "each warp once";
}

TEST_P(BulkCopies, EmptySharedMemory) {
  const Words out = run("copies_out", {1, 1, 1}, 64, 300);
  for (std::uint32_t i = 0; i < 300; ++i) {
    ASSERT_EQ(out[i], i < 128 ? 4 * i : i < 256 ? 2 * i : 1000) << i;
  }
}

TEST_P(BulkCopies, GoToAllBlocksOfACluster) {
  if (GetParam() == 120) {  // there ptxas calls a function of the driver
    try {
      run("multicasts", {8, 1, 1}, 64, 512);
      FAIL() << "no fault";
    } catch (const KernelFault& fault) {
      EXPECT_EQ(fault.kind(), FaultKind::unsupported);
      EXPECT_NE(std::string(fault.what()).find("__cuda_syscall_cp_async_bulk_multicast"), std::string::npos)
          << fault.what();
    }
    return;
  }
  const Words out = run("multicasts", {8, 1, 1}, 64, 512);
  for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(out[i], i % 64 + i / 64);
}

TEST_P(BulkCopies, MustFit) {
  try {
    run("runs_over", {1, 1, 1}, 32, 60);
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::out_of_bounds);
    EXPECT_NE(std::string(fault.what()).find("0 bytes after the end of buffer out"), std::string::npos)
        << fault.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, BulkCopies, testing::Values(90, 120));
INSTANTIATE_TEST_SUITE_P(Architectures, Clusters, testing::Values(90, 120));

}  // namespace
}  // namespace foretrace::emulate
