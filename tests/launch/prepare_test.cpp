// Every lesson compiles for every architecture, its launches suit its kernels, and the harness's table is whole. Needs
// nvcc and nvdisasm; where they are not, there is nothing to ask.
#include "sim/frontend/launch/prepare.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

std::vector<LaunchDescription> lessons() {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/validate/kernels")) {
    if (entry.path().extension() == ".toml") files.insert(entry.path());
  }
  std::vector<LaunchDescription> launches;
  for (const auto& file : files) {
    for (LaunchDescription& launch : load_launch_file(file)) launches.push_back(std::move(launch));
  }
  return launches;
}

class Prepare : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    toolchain_ = find_toolchain();
    if (!toolchain_.nvcc || !toolchain_.nvdisasm) GTEST_SKIP() << "nvcc and nvdisasm are not here";
    folder_ = std::filesystem::path(FORETRACE_BINARY_DIR) / ("prepare_test_sm_" + std::to_string(GetParam()));
    std::filesystem::remove_all(folder_);
  }

  Toolchain toolchain_;
  std::filesystem::path folder_;
};

TEST_P(Prepare, AllLessonsAreReadyForTheHarness) {
  const auto launches = lessons();
  ASSERT_GE(launches.size(), 100u);
  prepare_launches(launches, GetParam(), toolchain_, folder_);
  std::ifstream table(folder_ / "launches.txt");
  std::string line;
  ASSERT_TRUE(std::getline(table, line));
  EXPECT_EQ(line, "foretrace-launches 1");
  std::size_t begun = 0;
  std::size_t ended = 0;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    words >> key >> value;
    begun += key == "launch";
    ended += key == "end";
    if (key == "cubin") {
      EXPECT_TRUE(std::filesystem::exists(folder_ / value)) << value;
    }
    if (key == "kernel") {
      EXPECT_EQ(value.substr(0, 2), "_Z") << "every lesson's kernel is mangled";
    }
    if (key == "launch") {
      EXPECT_NE(value, "barrier_divergent") << "a launch that faults is not for a real GPU";
    }
  }
  EXPECT_EQ(begun, launches.size() - 1);
  EXPECT_EQ(ended, begun);
}

TEST_P(Prepare, AWrongArgumentIsRefused) {
  auto launches = load_launch_file(FORETRACE_SOURCE_DIR "/validate/kernels/vector_add.toml");
  launches.resize(1);
  launches[0].arguments.pop_back();
  EXPECT_THROW(prepare_launches(launches, GetParam(), toolchain_, folder_), InputError);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Prepare, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace::frontend
