// Every example and every kernel of the suite predicted, whole: compiled, executed, simulated. What the kernel left in memory
// is the reference's, within the tolerance that the launch file states; the counters obey their conservation laws; and no
// prediction beats the closed forms.
//
// Which launches: of every kernel the smallest; of the examples those of at most 2^16 threads and 1 MiB of buffers too.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/bounds/bounds.h"
#include "model/config/load.h"
#include "sim/engine/device.h"
#include "sim/engine/machine.h"
#include "sim/engine/sources.h"
#include "sim/frontend/load.h"
#include "sim/report/document.h"
#include "sim/report/json.h"
#include "tests/references/host_buffers.h"

namespace foretrace {
namespace {

using frontend::LaunchDescription;

constexpr std::uint64_t kThreads = 1 << 16;
constexpr std::uint64_t kBufferBytes = 1 << 20;

std::uint64_t threads_of(const LaunchDescription& launch) {
  return launch.grid.count() * launch.block.count();
}

std::uint64_t buffer_bytes_of(const LaunchDescription& launch) {
  std::uint64_t bytes = 0;
  for (const frontend::Argument& argument : launch.arguments) {
    if (argument.kind == frontend::ArgumentKind::buffer) bytes += argument.buffer_bytes();
  }
  return bytes;
}

/// Indices of the launches to predict, in the file's order.
std::vector<std::size_t> chosen(const std::vector<LaunchDescription>& launches, bool is_example) {
  const bool all = std::getenv("FORETRACE_ALL_LAUNCHES") != nullptr;
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> smallest;
  const auto size = [&](std::size_t i) {
    return std::pair(threads_of(launches[i]), buffer_bytes_of(launches[i]));
  };
  std::vector<bool> take(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto [threads, bytes] = size(i);
    take[i] = all || (is_example && threads <= kThreads && bytes <= kBufferBytes);
    const auto [found, is_first] = smallest.emplace(std::pair(launches[i].kernel, launches[i].defines), i);
    if (!is_first && size(i) < size(found->second)) found->second = i;
  }
  for (const auto& [kernel, index] : smallest) take[index] = true;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < take.size(); ++i) {
    if (take[i]) result.push_back(i);
  }
  return result;
}

/// One launch file on one chip.
struct Case {
  std::filesystem::path file;
  std::string arch;
  bool is_example = false;
};

/// Examples on every machine code, a suite file on one (they take turns): the compiler is what costs. With
/// FORETRACE_ALL_ARCHS in the environment every file on all of them, which takes minutes; with FORETRACE_ALL_LAUNCHES
/// as well every launch, which takes a quarter of an hour.
std::vector<Case> cases() {
  const bool all = std::getenv("FORETRACE_ALL_ARCHS") != nullptr;
  std::vector<Case> result;
  const std::vector<std::string> archs = {"h100", "a100", "gb203"};
  const std::vector<std::string> more = {"rtx3090", "rtx4090"};
  for (const auto& file : frontend::launch_files(FORETRACE_SOURCE_DIR "/validate/kernels")) {
    for (const std::string& arch : archs) result.push_back({file, arch, true});
    for (const std::string& arch : more) result.push_back({file, arch, true});
  }
  for (const auto& file : frontend::launch_files(FORETRACE_SOURCE_DIR "/validate/suite/gemm_tensor")) {
    for (const std::string& arch : more) result.push_back({file, arch});
  }
  // Cubins of sm_90.
  for (const auto& file : frontend::launch_files(FORETRACE_SOURCE_DIR "/validate/triton"))
    result.push_back({file, "h100"});
  std::size_t turn = 0;
  for (const auto& file : frontend::launch_files(FORETRACE_SOURCE_DIR "/validate/suite")) {
    for (std::size_t i = 0; i < archs.size(); ++i) {
      if (all || turn % archs.size() == i) result.push_back({file, archs[i]});
    }
    ++turn;
  }
  return result;
}

class KernelsPredict : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    toolchain_ = frontend::find_toolchain();
    ASSERT_TRUE(toolchain_.nvcc && toolchain_.nvdisasm)
        << "nvcc and nvdisasm are not here; ctest -LE cuda leaves this test out";
    loaded_ = config::load_gpu(GetParam().arch);
    spec_ = std::make_shared<const spec::GpuSpec>(loaded_.spec);
    machine_ = std::make_unique<engine::Machine>(spec_);
  }

  frontend::LoadedKernel load(const LaunchDescription& launch) const {
    return frontend::load_kernels(engine::load_request(launch, spec_->sm_number), toolchain_).front();
  }

  report::Prediction predict(engine::Device& device, const LaunchDescription& launch) const {
    const frontend::LoadedKernel kernel = load(launch);
    const auto program = std::make_shared<const isa::Program>(kernel.program);
    const emulate::Emulator emulator(device.bind(launch, kernel));
    const engine::Launch shape{launch, program};
    engine::EmulatedBlocks source(emulator, machine_->resident_blocks(shape), 1, nullptr);
    engine::Outcome outcome = machine_->run(shape, source, {});
    report::Prediction prediction;
    prediction.gpu = spec_;
    prediction.program = program;
    prediction.config_sha256 = loaded_.sha256;
    prediction.assumed_values = static_cast<std::uint32_t>(loaded_.assumed);
    prediction.transferred_values = static_cast<std::uint32_t>(loaded_.transferred);
    prediction.launch = launch.name;
    prediction.grid = launch.grid;
    prediction.block = launch.block;
    prediction.cluster = launch.cluster;
    prediction.dynamic_shared = launch.dynamic_shared;
    prediction.occupancy.blocks = outcome.occupancy.blocks;
    prediction.occupancy.warps = outcome.occupancy.warps;
    prediction.occupancy.shared_config = outcome.occupancy.shared_config;
    prediction.counters = std::move(outcome.counters);
    return prediction;
  }

  /// Executes what comes before a launch of a chain; nothing of it is predicted.
  void execute(engine::Device& device, const LaunchDescription& launch) const {
    const frontend::LoadedKernel kernel = load(launch);
    const emulate::Emulator emulator(device.bind(launch, kernel));
    for (std::uint64_t block = 0; block < emulator.blocks(); ++block) emulator.run_block(block, nullptr);
  }

  static void expect_results(engine::Device& device, const std::vector<LaunchDescription>& launches,
                             std::size_t index) {
    const LaunchDescription& launch = launches[index];
    ASSERT_FALSE(launch.checks.empty()) << launch.name << " checks nothing";
    frontend::HostBuffers expected(launches, index);
    expected.run_reference(launch);
    for (const frontend::Check& check : launch.checks) {
      const std::vector<std::byte> got = device.read(check.buffer);
      const auto& wanted = expected.named(check.buffer);
      ASSERT_EQ(got.size(), wanted.size());
      EXPECT_EQ(first_difference(check, expected.type_of(check.buffer),
                                 reinterpret_cast<const std::uint8_t*>(got.data()), wanted),
                "")
          << launch.name;
    }
  }

  static void expect_conservation(const stats::LaunchCounters& c, const LaunchDescription& launch) {
    const auto sum = [](const auto& list) {
      return std::accumulate(list.begin(), list.end(), std::uint64_t{0});
    };
    EXPECT_EQ(c.blocks, launch.grid.count());
    EXPECT_EQ(c.issue_active, c.inst_executed) << "one issue per warp instruction";
    EXPECT_EQ(c.scheduler_cycles, c.issue_active + sum(c.idle_reason))
        << "every scheduler cycle issues or has a reason not to";
    EXPECT_EQ(c.warp_cycles, sum(c.state)) << "every resident warp is in one state each cycle";
    EXPECT_EQ(c.sm_active, sum(c.sm_active_each));
    std::uint64_t executed = 0, threads = 0, warp_cycles = 0;
    for (const stats::InstructionCounters& instruction : c.instructions) {
      executed += instruction.executed;
      threads += instruction.thread_executed;
      warp_cycles += sum(instruction.stalled);
    }
    EXPECT_EQ(executed, c.inst_executed);
    EXPECT_EQ(threads, c.thread_inst_executed);
    EXPECT_EQ(warp_cycles, c.warp_cycles) << "states by instruction add up to the states of the launch";
    const stats::MemoryCounters& m = c.memory;
    // Of a missing sector, DRAM's whole access counts as missed: at most a line.
    const std::uint64_t asked =
        m.tex_sectors_read + m.tex_sectors_write + m.tex_sectors_atomic + m.tex_sectors_reduction;
    EXPECT_LE(m.tex_sectors_hit, asked);
    EXPECT_GE(m.tex_sectors_hit + m.tex_sectors_miss, asked);
    EXPECT_LE(m.tex_sectors_miss, (asked - m.tex_sectors_hit) * static_cast<std::uint64_t>(kSectorsPerLine));
    EXPECT_EQ(m.read_latency,
              m.segment_network + m.segment_l2 + m.segment_partition + m.segment_dram_queue + m.segment_dram);
  }

  void expect_no_faster_than_the_bounds(const stats::LaunchCounters& c) const {
    const auto bounds = bounds::lower_bounds(*spec_, bounds::work_of(c));
    EXPECT_FALSE(bounds.empty());
    for (const bounds::Bound& bound : bounds) {
      EXPECT_GE(static_cast<double>(c.elapsed), bound.cycles) << bound.name << ": " << bound.what;
    }
  }

  frontend::Toolchain toolchain_;
  config::Loaded loaded_;
  std::shared_ptr<const spec::GpuSpec> spec_;
  std::unique_ptr<engine::Machine> machine_;
};

TEST_P(KernelsPredict, MatchesItsReferencesAndKeepsTheLaws) {
  const Case& test = GetParam();
  const auto launches = frontend::load_launch_file(test.file);
  report::Document document;
  document.foretrace = "0.0.0";
  document.command = {"kernels_predict_test", test.file.stem().string()};
  for (const std::size_t index : chosen(launches, test.is_example)) {
    const LaunchDescription& launch = launches[index];
    SCOPED_TRACE(launch.name);
    engine::Device device;
    for (const LaunchDescription* before : launches_before(launches, index)) execute(device, *before);
    if (launch.fault != frontend::ExpectedFault::none) {
      try {
        predict(device, launch);
        ADD_FAILURE() << "ended without the fault that was expected";
      } catch (const emulate::KernelFault& fault) {
        EXPECT_EQ(emulate::name_of(fault.kind()), frontend::fault_name(launch.fault)) << fault.what();
      }
      continue;
    }
    const report::Prediction prediction = predict(device, launch);
    expect_results(device, launches, index);
    expect_conservation(prediction.counters, launch);
    expect_no_faster_than_the_bounds(prediction.counters);
    document.predictions.push_back(report::make_result(prediction));
  }
  ASSERT_FALSE(document.predictions.empty());
  const std::filesystem::path documents = FORETRACE_BINARY_DIR "/documents";
  std::filesystem::create_directories(documents);
  report::write_file((documents / (test.file.stem().string() + "_" + test.arch + ".json")).string(),
                     report::to_json(document));
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsPredict, testing::ValuesIn(cases()), [](const auto& test) {
  return test.param.file.stem().string() + "_" + test.param.arch;
});

}  // namespace
}  // namespace foretrace
