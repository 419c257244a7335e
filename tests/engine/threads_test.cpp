// Any number of host threads: the same result, and the same fault. Small enough for the thread sanitizer.
#include <gtest/gtest.h>

#include "sim/emulate/fault.h"
#include "sim/engine/run_launch.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

constexpr std::uint32_t kBlocks = 800;

/// kDouble on a chip of eight SMs, of which the last `lacking` blocks have no room for their results.
struct SmallChip : Launch {
  explicit SmallChip(std::uint32_t lacking)
      : Launch(kDouble, kBlocks, 128, std::vector<std::uint32_t>(kBlocks * 128), (kBlocks - lacking) * 128) {
    chip = std::make_shared<spec::GpuSpec>(config::load_gpu("a100-sxm-40gb", {{"sm.count", "8"}}).spec);
    set_word(4, kBlocks * 128);
  }
};

engine::Outcome run(Launch& launch, engine::Accuracy accuracy, int threads) {
  engine::Machine machine(launch.chip);
  engine::LaunchRun choices;
  choices.accuracy = accuracy;
  choices.threads = threads;
  return engine::run_launch(launch.assembled.context, launch.shape(), machine, choices);
}

class Threads : public testing::TestWithParam<engine::Accuracy> {};

TEST_P(Threads, GiveTheSameResult) {
  SmallChip launch(0);
  const engine::Outcome one = run(launch, GetParam(), 1);
  for (const int threads : {2, 5}) {
    const engine::Outcome more = run(launch, GetParam(), threads);
    EXPECT_EQ(more.counters.elapsed, one.counters.elapsed);
    EXPECT_EQ(more.counters.warp_cycles, one.counters.warp_cycles);
    EXPECT_EQ(more.counters.memory.dram_bytes_read, one.counters.memory.dram_bytes_read);
  }
}

TEST_P(Threads, GiveTheSameFault) {
  SmallChip launch(100);
  const auto fault = [&](int threads) -> std::string {
    try {
      run(launch, GetParam(), threads);
    } catch (const emulate::KernelFault& thrown) {
      EXPECT_EQ(thrown.kind(), emulate::FaultKind::out_of_bounds);
      return thrown.what();
    }
    return "no fault";
  };
  const std::string one = fault(1);
  EXPECT_NE(one.find("out-of-bounds global access"), std::string::npos) << one;
  EXPECT_EQ(fault(2), one);
  EXPECT_EQ(fault(5), one);
}

INSTANTIATE_TEST_SUITE_P(InBothModes, Threads,
                         testing::Values(engine::Accuracy::exact, engine::Accuracy::sampled));

}  // namespace
}  // namespace foretrace::engine_tests
