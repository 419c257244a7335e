// The traces in tests/data, recorded from real kernels: they read back whole and say what the kernels must have done.
#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "model/isa/operands.h"
#include "model/work/warp_record.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::trace {
namespace {

struct Expected {
  const char* kernel;
  const char* file;
  std::uint64_t blocks, warps;
  bool is_product;
  std::uint64_t loaded, stored;  // lanes of global loads and stores: elements that the kernel touches
};

// sgemm_tiled: 64x64 in 16x16 tiles; each of 4 steps loads two elements per thread. transpose: 70x50 in tiles of 32.
// vector_add: 1000 elements, two loads each.
constexpr Expected kExpected[] = {
    {"sgemm_tiled", "sgemm_tiled", 16, 16 * 8, true, 2 * 4 * 64 * 64, 64 * 64},
    {"transpose_tile<32>", "transpose_tile_32", 6, 6 * 8, false, 70 * 50, 70 * 50},
    {"vector_add", "vector_add", 8, 8 * 4, false, 2 * 1000, 1000},
};

class RecordedTrace : public ::testing::TestWithParam<std::tuple<Expected, int>> {
 protected:
  static std::string path() {
    const auto& [expected, sm] = GetParam();
    return std::string(FORETRACE_SOURCE_DIR "/tests/data/") + expected.file + "_sm_" + std::to_string(sm) +
           ".trace";
  }
};

TEST_P(RecordedTrace, HoldsWhatTheKernelDid) {
  const auto& [expected, sm] = GetParam();
  TraceReader reader(path());
  const isa::Program& program = *reader.program();
  EXPECT_EQ(program.sm, sm);
  EXPECT_EQ(program.kernel, expected.kernel);
  const work::Shapes shapes(program);
  std::uint64_t instructions = 0, threads = 0, loaded = 0, stored = 0;
  for (work::BlockRecord block; reader.next(block);) {
    for (const work::WarpRecord& warp : block.warps) {
      work::WarpCursor cursor(shapes, warp);
      for (work::Step step; cursor.next(step); ++instructions) {
        threads += static_cast<std::uint64_t>(std::popcount(step.active));
        isa::MemoryForm form;
        if (!isa::memory_form(program.code[step.index], form) || form.space != isa::Space::global) continue;
        const auto lanes = static_cast<std::uint64_t>(std::popcount(step.executed));
        (form.access == isa::Access::load ? loaded : stored) += lanes;
      }
    }
  }
  EXPECT_EQ(reader.totals().blocks, expected.blocks);
  EXPECT_EQ(reader.totals().warps, expected.warps);
  EXPECT_EQ(reader.totals().instructions, instructions);
  EXPECT_EQ(reader.totals().thread_instructions, threads);
  EXPECT_EQ(loaded, expected.loaded);
  EXPECT_EQ(stored, expected.stored);
  if (expected.is_product) {
    EXPECT_LE(std::filesystem::file_size(path()), instructions) << "at most a byte per warp instruction";
  }
}

INSTANTIATE_TEST_SUITE_P(TestsData, RecordedTrace,
                         ::testing::Combine(::testing::ValuesIn(kExpected), ::testing::Values(80, 90, 120)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).file) + "_sm_" +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace foretrace::trace
