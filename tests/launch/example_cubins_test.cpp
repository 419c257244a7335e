// Every example compiles for every architecture, and its launches suit its kernels. Needs nvcc and nvdisasm; where they
// are not, there is nothing to ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/launch/parameters.h"
#include "sim/frontend/names.h"

namespace foretrace::frontend {
namespace {

class ExampleCubins : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    toolchain_ = find_toolchain();
    ASSERT_TRUE(toolchain_.nvcc && toolchain_.nvdisasm)
        << "nvcc and nvdisasm are not here; ctest -LE cuda leaves this test out";
  }

  const Cubin& cubin(const LaunchDescription& launch) {
    const bool is_instance = launch.kernel.find('<') != std::string::npos;
    std::string key = launch.source.string() + (is_instance ? launch.kernel : "");
    for (const std::string& define : launch.defines) key += " -D" + define;
    const auto known = cubins_.find(key);
    if (known != cubins_.end()) return known->second;
    const Compiled compiled = compile({launch.source.string(), GetParam(), launch.defines,
                                       split_options(launch.nvcc), is_instance ? launch.kernel : ""},
                                      toolchain_);
    return cubins_.emplace(key, read_cubin(compiled.cubin, launch.source.string(), GetParam())).first->second;
  }

  const isa::Program& program(const LaunchDescription& launch) {
    const Cubin& made = cubin(launch);
    std::vector<std::string> symbols;
    for (const KernelImage& kernel : made.kernels) symbols.push_back(kernel.program.mangled);
    return made.kernels[match_kernels(symbols, launch.kernel, false, launch.name).front()].program;
  }

  Toolchain toolchain_;
  std::map<std::string, Cubin> cubins_;
};

TEST_P(ExampleCubins, LaunchesSuitTheirKernels) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/validate/kernels")) {
    if (entry.path().extension() != ".toml") continue;
    for (const LaunchDescription& launch : load_launch_file(entry.path())) {
      EXPECT_NO_THROW(check_parameters(launch, program(launch))) << launch.name;
      ++checked;
    }
  }
  EXPECT_GE(checked, 100);
}

TEST_P(ExampleCubins, AWrongArgumentIsRefused) {
  auto launches = load_launch_file(FORETRACE_SOURCE_DIR "/validate/kernels/vector_add.toml");
  launches[0].arguments.back() = parse_argument("val:f32:1000", 3);
  try {
    check_parameters(launches[0], program(launches[0]));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "kernel 'vector_add': argument 4 'val:f32:1000': the parameter is 'int', expected val:i32:V");
  }
}

TEST_P(ExampleCubins, SharedMemoryIsAsTheSourcesSay) {
  const auto shared = [&](const std::string& file, const std::string& kernel) {
    for (const LaunchDescription& launch :
         load_launch_file(std::string(FORETRACE_SOURCE_DIR "/validate/kernels/") + file)) {
      if (launch.kernel == kernel) return program(launch).static_shared;
    }
    return 0u;
  };
  EXPECT_EQ(shared("transpose.toml", "transpose_tile<32>"), 32u * 32 * 4);
  EXPECT_EQ(shared("transpose.toml", "transpose_tile<33>"), 32u * 33 * 4);
  EXPECT_EQ(shared("sgemm_tiled.toml", "sgemm_tiled"), 2u * 16 * 16 * 4);
  EXPECT_EQ(shared("sgemm_register.toml", "sgemm_register_float4"), (16u * 68 + 16 * 64) * 4);
}

INSTANTIATE_TEST_SUITE_P(Architectures, ExampleCubins, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace::frontend
