// The launch files beside the kernels: they load, their names are unique, their references exist and run on their
// arguments, and the sizes of the course's examples are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/references/host_buffers.h"

namespace foretrace::frontend {
namespace {

using File = std::vector<LaunchDescription>;

const std::vector<File>& examples() {
  static const std::vector<File> files = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/validate/kernels")) {
      if (entry.path().extension() == ".toml") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<File> loaded;
    for (const auto& path : paths) loaded.push_back(load_launch_file(path));
    return loaded;
  }();
  return files;
}

const LaunchDescription& example(const std::string& name) {
  for (const File& file : examples()) {
    for (const LaunchDescription& launch : file) {
      if (launch.name == name) return launch;
    }
  }
  throw std::out_of_range(name);
}

TEST(Examples, EveryKernelFileHasALaunchFile) {
  int sources = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/validate/kernels")) {
    if (entry.path().extension() != ".cu") continue;
    ++sources;
    auto launches = entry.path();
    EXPECT_TRUE(std::filesystem::exists(launches.replace_extension(".toml"))) << launches;
  }
  EXPECT_GE(sources, 13);
  EXPECT_EQ(examples().size(), static_cast<std::size_t>(sources));
}

TEST(Examples, NamesAreUniqueInTheProject) {
  std::map<std::string, int> names;
  for (const File& file : examples()) {
    for (const LaunchDescription& launch : file) ++names[launch.name];
  }
  for (const auto& [name, times] : names) EXPECT_EQ(times, 1) << name;
  EXPECT_GE(names.size(), 100u);
}

TEST(Examples, EveryLaunchIsCheckedOrExpectedToFault) {
  for (const File& file : examples()) {
    for (const LaunchDescription& launch : file) {
      if (launch.fault != ExpectedFault::none) continue;
      EXPECT_NE(references::find_reference(launch.reference), nullptr) << launch.name;
      EXPECT_FALSE(launch.checks.empty()) << launch.name;
    }
  }
}

TEST(Examples, ReferencesRunOnTheirLaunchesAndFillEveryCheckedBuffer) {
  constexpr std::uint64_t kLargest = 1u << 20;  // bytes of one buffer: the larger sizes are the same code
  int ran = 0;
  for (const File& file : examples()) {
    for (std::size_t i = 0; i < file.size(); ++i) {
      const LaunchDescription& launch = file[i];
      std::uint64_t largest = 0;
      for (const Argument& argument : launch.arguments) largest = std::max(largest, argument.buffer_bytes());
      if (launch.fault != ExpectedFault::none || largest > kLargest) continue;
      HostBuffers buffers(file, i);
      for (const Check& check : launch.checks) {
        auto& bytes = buffers.named(check.buffer);
        std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xc5});
      }
      buffers.run_reference(launch);
      for (const Check& check : launch.checks) {
        // No result here is made of these bytes: every element must have been written.
        const auto& bytes = buffers.named(check.buffer);
        const bool is_byte_image = bytes.size() > 0 && launch.kernel == "image_brighten";
        std::size_t untouched = 0;
        for (std::size_t at = 0; !is_byte_image && at + 4 <= bytes.size(); at += 4) {
          untouched +=
              bytes[at] == 0xc5 && bytes[at + 1] == 0xc5 && bytes[at + 2] == 0xc5 && bytes[at + 3] == 0xc5;
        }
        EXPECT_EQ(untouched, 0u) << launch.name << " " << check.buffer;
      }
      ++ran;
    }
  }
  EXPECT_GE(ran, 25);
}

TEST(Examples, GridsCoverTheirProblems) {
  for (const File& file : examples()) {
    for (const LaunchDescription& launch : file) {
      if (launch.checks.empty()) continue;
      const auto& checked =
          *std::find_if(launch.arguments.begin(), launch.arguments.end(), [&](const Argument& a) {
            return a.kind == ArgumentKind::buffer && a.name == launch.checks[0].buffer;
          });
      // Elements of the result a thread makes: 4 floats in the float4 copy, 4 rows in the transposes, 4x4 in
      // the register-tiled products.
      std::uint64_t each = 1;
      if (launch.kernel == "copy_float4" || launch.kernel.rfind("transpose", 0) == 0) each = 4;
      if (launch.kernel.rfind("sgemm_register", 0) == 0) each = 16;
      EXPECT_GE(launch.grid.count() * launch.block.count() * each, checked.count) << launch.name;
    }
  }
}

TEST(Examples, TheCoursesSizes) {
  EXPECT_EQ(example("vector_add_n1000").grid.count(), 8u);
  EXPECT_EQ(example("vector_add_n1000").block.count(), 128u);
  const LaunchDescription& image = example("image_brighten_200x150");
  EXPECT_EQ(image.grid.count(), 130u);
  EXPECT_EQ(image.grid.count() * image.block.count() / 32, 1040u);
  EXPECT_EQ(example("sgemm_tiled32_65").grid, (Dim3{3, 3, 1}));
  EXPECT_EQ(example("sgemm_tiled32_65").block, (Dim3{32, 32, 1}));
  EXPECT_EQ(example("sgemm_tiled16_512").grid, (Dim3{32, 32, 1}));
  EXPECT_EQ(example("transpose_tile33_1024x1024").kernel, "transpose_tile<33>");
  EXPECT_EQ(example("barrier_divergent").fault, ExpectedFault::divergent_barrier);
  for (const char* block : {"256", "512", "1024"}) {
    const LaunchDescription& launch = example(std::string("vector_add_n2_24_block") + block);
    EXPECT_EQ(launch.block.count(), std::stoul(block));
    EXPECT_EQ(launch.grid.count() * launch.block.count(), 1u << 24);
  }
  for (int stride = 1; stride <= 32; ++stride) {
    const std::string name = std::string("copy_stride_") + (stride < 10 ? "0" : "") + std::to_string(stride);
    EXPECT_EQ(example(name).arguments[3].bytes[0], stride) << name;
  }
}

TEST(Examples, AChainFindsWhatTheLaunchBeforeLeft) {
  for (const File& file : examples()) {
    for (std::size_t i = 0; i < file.size(); ++i) {
      if (file[i].name != "relu_n2_16") continue;
      HostBuffers chained(file, i);
      chained.run_reference(file[i]);
      // The fused launch of the same size, on the same x.
      const auto fused = std::find_if(file.begin(), file.end(),
                                      [](const LaunchDescription& l) { return l.name == "relu_add_n2_16"; });
      HostBuffers once(file, static_cast<std::size_t>(fused - file.begin()));
      once.run_reference(*fused);
      EXPECT_EQ(chained.named("y"), once.named("y"));
      return;
    }
  }
  FAIL() << "relu_n2_16 is not there";
}

}  // namespace
}  // namespace foretrace::frontend
