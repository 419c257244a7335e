// The examples executed for each architecture: results match the references, and the numbers that an example promises are
// those of its machine code. Sectors and conflicts are counted here from the recorded addresses, by their definition and
// with nothing of model/rules. Needs nvcc and nvdisasm; where they are not, there is nothing to ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/work/warp_record.h"
#include "sim/emulate/emulator.h"
#include "sim/engine/device.h"
#include "sim/frontend/load.h"
#include "tests/references/host_buffers.h"

namespace foretrace {
namespace {

using frontend::LaunchDescription;

/// What one static memory instruction did, summed over all warps that executed it with all 32 lanes.
struct Access {
  isa::Opcode opcode{};
  std::string text;
  unsigned bytes = 4;  // a lane
  std::uint64_t requests = 0;
  std::uint64_t full_requests = 0;
  std::uint64_t sectors = 0;      // of full requests
  std::uint64_t worst_bank = 0;   // most different words that lanes of one full request asked of one bank
  std::set<std::string> buffers;  // touched
};

/// A launch, executed.
struct Execution {
  std::map<std::uint32_t, Access> accesses;  // by instruction
  std::uint64_t warps = 0;
  std::uint64_t instructions = 0;
  std::uint64_t thread_instructions = 0;

  /// The accesses of an opcode, of one buffer only if it is named.
  std::vector<Access> of(isa::Opcode opcode, const std::string& buffer = "") const {
    std::vector<Access> found;
    for (const auto& [index, access] : accesses) {
      if (access.opcode == opcode && access.requests != 0 &&
          (buffer.empty() || access.buffers.count(buffer))) {
        found.push_back(access);
      }
    }
    return found;
  }
};

unsigned access_bytes(const isa::Instruction& instruction) {
  if (instruction.has("128")) return 16;
  if (instruction.has("64")) return 8;
  return instruction.has("U8") ? 1 : 4;
}

void count_access(const emulate::GlobalMemory& memory, const work::LaneAddresses& addresses,
                  std::uint32_t executed, Access& access) {
  ++access.requests;
  if (access.opcode == isa::Opcode::LDG || access.opcode == isa::Opcode::STG) {
    const auto* allocation = memory.find(addresses[static_cast<std::size_t>(std::countr_zero(executed))]);
    if (allocation != nullptr) access.buffers.insert(allocation->name);
  }
  if (executed != 0xffffffffu) return;
  ++access.full_requests;
  std::set<std::uint64_t> sectors;
  std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
  for (const std::uint64_t address : addresses) {
    for (std::uint64_t byte = address; byte < address + access.bytes; byte += std::min(access.bytes, 4u)) {
      sectors.insert(byte / 32);
      words_of_bank[byte / 4 % 32].insert(byte / 4);
    }
  }
  access.sectors += sectors.size();
  for (const auto& [bank, words] : words_of_bank) {
    access.worst_bank = std::max<std::uint64_t>(access.worst_bank, words.size());
  }
}

void count_warp(const isa::Program& program, const work::Shapes& shapes, const work::WarpRecord& record,
                const emulate::GlobalMemory& memory, Execution& run) {
  ++run.warps;
  run.instructions += record.instructions;
  run.thread_instructions += record.thread_instructions;
  work::WarpCursor cursor(shapes, record);
  work::Step step;
  while (cursor.next(step)) {
    if (shapes.of[step.index].addresses == 0 || step.executed == 0) continue;
    const isa::Instruction& instruction = program.code[step.index];
    Access& access = run.accesses[step.index];
    access.opcode = instruction.opcode;
    access.text = instruction.text;
    access.bytes = access_bytes(instruction);
    work::LaneAddresses addresses{};
    cursor.addresses(0, addresses);
    count_access(memory, addresses, step.executed, access);
  }
}

class ExampleNumbers : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    toolchain_ = frontend::find_toolchain();
    ASSERT_TRUE(toolchain_.nvcc && toolchain_.nvdisasm)
        << "nvcc and nvdisasm are not here; ctest -LE cuda leaves this test out";
  }

  static std::vector<LaunchDescription> file(const std::string& stem) {
    return frontend::load_launch_file(FORETRACE_SOURCE_DIR "/validate/kernels/" + stem + ".toml");
  }

  frontend::LoadedKernel load(const LaunchDescription& launch) const {
    return frontend::load_kernels(engine::load_request(launch, GetParam()), toolchain_).front();
  }

  /// Executes the launch on `device` and records it.
  Execution execute(engine::Device& device, const LaunchDescription& launch) const {
    const frontend::LoadedKernel kernel = load(launch);
    const emulate::Emulator emulator(device.bind(launch, kernel));
    const work::Shapes shapes(kernel.program);
    Execution run;
    for (std::uint64_t block = 0; block < emulator.blocks(); ++block) {
      work::BlockRecord record;
      emulator.run_block(block, &record);
      for (const work::WarpRecord& warp : record.warps) {
        count_warp(kernel.program, shapes, warp, device.memory(), run);
      }
    }
    return run;
  }

  /// Executes a launch of a file, after those that it follows, and compares its checked buffers bit for bit.
  Execution run(const std::string& stem, const std::string& name) const {
    const auto launches = file(stem);
    const auto found = std::find_if(launches.begin(), launches.end(),
                                    [&](const LaunchDescription& launch) { return launch.name == name; });
    if (found == launches.end()) {
      ADD_FAILURE() << name << " is not in " << stem;
      return {};
    }
    const auto index = static_cast<std::size_t>(found - launches.begin());
    engine::Device device;
    for (const LaunchDescription* before : launches_before(launches, index)) execute(device, *before);
    Execution result = execute(device, *found);
    frontend::HostBuffers expected(launches, index);
    expected.run_reference(*found);
    for (const frontend::Check& check : found->checks) {
      const std::vector<std::byte> got = device.read(check.buffer);
      const auto& wanted = expected.named(check.buffer);
      EXPECT_EQ(got.size(), wanted.size());
      EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size()), 0)
          << name << ": " << check.buffer << " differs from the reference";
    }
    return result;
  }

  /// Every full request of these accesses touches exactly `sectors` sectors, and there are some.
  static void expect_sectors(const std::vector<Access>& accesses, std::uint64_t sectors) {
    std::uint64_t requests = 0;
    for (const Access& access : accesses) {
      EXPECT_EQ(access.sectors, access.full_requests * sectors) << access.text;
      requests += access.full_requests;
    }
    EXPECT_GT(requests, 0u);
  }

  frontend::Toolchain toolchain_;
};

TEST_P(ExampleNumbers, RecordThreadCoords) {
  const Execution small = run("record_thread_coords", "record_thread_coords_small");
  EXPECT_EQ(small.warps, 9u);
  run("record_thread_coords", "record_thread_coords_odd_block");
}

TEST_P(ExampleNumbers, VectorAddWithItsGuard) {
  const Execution guarded = run("vector_add", "vector_add_n1000");
  EXPECT_EQ(guarded.warps, 32u);
  expect_sectors(guarded.of(isa::Opcode::LDG), 4);
  expect_sectors(guarded.of(isa::Opcode::STG), 4);
  for (const Access& access : guarded.of(isa::Opcode::LDG)) {
    EXPECT_EQ(access.requests, 32u);
    EXPECT_EQ(access.full_requests, 31u) << "the last warp has eight elements";
  }
}

TEST_P(ExampleNumbers, ImageOf200x150) {
  EXPECT_EQ(run("image_brighten", "image_brighten_200x150").warps, 1040u);
}

TEST_P(ExampleNumbers, NaiveSgemmReadsBByColumnsOrRows) {
  const Execution columns = run("sgemm_naive", "sgemm_naive_columns_64");
  expect_sectors(columns.of(isa::Opcode::LDG, "a"), 2);
  expect_sectors(columns.of(isa::Opcode::LDG, "b"), 16);
  const Execution rows = run("sgemm_naive", "sgemm_naive_rows_64");
  expect_sectors(rows.of(isa::Opcode::LDG, "a"), 2);
  expect_sectors(rows.of(isa::Opcode::LDG, "b"), 2);
  run("sgemm_naive", "sgemm_naive_columns_50");
  run("sgemm_naive", "sgemm_naive_rows_50");
}

TEST_P(ExampleNumbers, TiledSgemmHasNoBankConflicts) {
  for (const char* name : {"sgemm_tiled16_64", "sgemm_tiled32_65"}) {
    const Execution tiled = run("sgemm_tiled", name);
    const auto loads = tiled.of(isa::Opcode::LDS);
    ASSERT_FALSE(loads.empty());
    for (const Access& access : loads) EXPECT_EQ(access.worst_bank, 1u) << access.text;
    for (const Access& access : tiled.of(isa::Opcode::STS)) EXPECT_EQ(access.worst_bank, 1u) << access.text;
  }
}

TEST_P(ExampleNumbers, RegisterTiledSgemm) {
  const Execution scalar = run("sgemm_register", "sgemm_register_64");
  const Execution wide = run("sgemm_register", "sgemm_register_float4_64");
  for (const Access& access : scalar.of(isa::Opcode::LDG)) EXPECT_EQ(access.bytes, 4u);
  for (const Access& access : wide.of(isa::Opcode::LDG)) EXPECT_EQ(access.bytes, 16u);
  for (const Access& access : wide.of(isa::Opcode::LDS)) EXPECT_EQ(access.bytes, 16u);
  int narrow_stores = 0;
  for (const Access& access : wide.of(isa::Opcode::STS)) {
    if (access.bytes != 4) continue;
    ++narrow_stores;
    EXPECT_EQ(access.worst_bank, 2u) << "a's transposed store: a two-way conflict";
  }
  EXPECT_EQ(narrow_stores, 4);
  EXPECT_LT(wide.instructions, scalar.instructions);
}

TEST_P(ExampleNumbers, TransposeConflictsAndTheirCure) {
  const Execution naive = run("transpose", "transpose_naive_256x256");
  expect_sectors(naive.of(isa::Opcode::LDG), 4);
  expect_sectors(naive.of(isa::Opcode::STG), 32);
  const Execution conflicts = run("transpose", "transpose_tile32_256x256");
  const Execution none = run("transpose", "transpose_tile33_256x256");
  for (const Execution* tiled : {&conflicts, &none}) {
    expect_sectors(tiled->of(isa::Opcode::LDG), 4);
    expect_sectors(tiled->of(isa::Opcode::STG), 4);
    EXPECT_EQ(tiled->of(isa::Opcode::LDS).size(), 4u);
    for (const Access& access : tiled->of(isa::Opcode::STS)) EXPECT_EQ(access.worst_bank, 1u) << access.text;
  }
  for (const Access& access : conflicts.of(isa::Opcode::LDS))
    EXPECT_EQ(access.worst_bank, 32u) << "31 conflicts";
  for (const Access& access : none.of(isa::Opcode::LDS)) EXPECT_EQ(access.worst_bank, 1u) << "no conflict";
  for (const char* name : {"transpose_naive_70x50", "transpose_tile32_70x50", "transpose_tile33_70x50"}) {
    run("transpose", name);
  }
}

TEST_P(ExampleNumbers, ReluFusedAndAsTwoKernels) {
  run("relu", "relu_add_n2_16");
  run("relu", "add_one_n2_16");
  run("relu", "relu_n2_16");
}

TEST_P(ExampleNumbers, CopiesMoveTheSameSectorsInAQuarterOfTheRequests) {
  const Execution narrow = run("copy", "copy_float_n2_16");
  const Execution wide = run("copy", "copy_float4_n2_16");
  expect_sectors(narrow.of(isa::Opcode::LDG), 4);
  expect_sectors(wide.of(isa::Opcode::LDG), 16);
  EXPECT_EQ(narrow.of(isa::Opcode::LDG).front().requests, 4 * wide.of(isa::Opcode::LDG).front().requests);
}

TEST_P(ExampleNumbers, StridesTouchMoreSectorsUpToOneALane) {
  for (const int stride : {1, 2, 3, 7, 8, 9, 32}) {
    // The launch files' 2^19 elements are for measuring; the numbers of a request do not depend on how many.
    auto launches = file("copy_stride");
    LaunchDescription launch = launches[static_cast<std::size_t>(stride) - 1];
    launch.grid = {4, 1, 1};
    launch.arguments[2] = frontend::parse_argument("val:i32:1024", 2);
    engine::Device device;
    const Execution strided = execute(device, launch);
    expect_sectors(strided.of(isa::Opcode::LDG), static_cast<std::uint64_t>(std::min(4 * stride, 32)));
    expect_sectors(strided.of(isa::Opcode::STG), 4);
  }
}

TEST_P(ExampleNumbers, DivergenceByLanesExecutesTwiceTheInstructions) {
  const Execution lanes = run("divergence", "divergence_lanes_medium");
  const Execution warps = run("divergence", "divergence_warps_medium");
  const double ratio = static_cast<double>(lanes.instructions) / static_cast<double>(warps.instructions);
  EXPECT_GT(ratio, 1.8);
  EXPECT_LT(ratio, 2.0);
  // The same loops in the same threads: only what goes round them differs by a few instructions per thread.
  const double threads =
      static_cast<double>(lanes.thread_instructions) / static_cast<double>(warps.thread_instructions);
  EXPECT_NEAR(threads, 1.0, 0.02);
}

TEST_P(ExampleNumbers, TheClassicMistakeIsReportedAndItsLegalRelativeRuns) {
  const auto launches = file("barrier_divergent");
  engine::Device device;
  try {
    execute(device, launches[0]);
    FAIL() << "a barrier in one branch ran to some end";
  } catch (const emulate::KernelFault& fault) {
    EXPECT_EQ(fault.kind(), emulate::FaultKind::divergent_barrier) << fault.what();
    EXPECT_EQ(emulate::name_of(fault.kind()), frontend::fault_name(launches[0].fault));
    EXPECT_NE(std::string(fault.what()).find("barrier_divergent.cu:"), std::string::npos) << fault.what();
  }
  run("barrier_divergent", "barrier_early_return_n100");
  run("barrier_divergent", "barrier_early_return_n1000");
}

TEST_P(ExampleNumbers, FfmaChain) {
  const Execution chain = run("ffma_chain", "ffma_chain_one_warp");
  EXPECT_EQ(chain.warps, 1u);
  EXPECT_GE(chain.instructions, 4096u);
  EXPECT_LT(chain.instructions, 4096u * 5 / 4) << "little beside the chain";
}

INSTANTIATE_TEST_SUITE_P(Architectures, ExampleNumbers, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace
