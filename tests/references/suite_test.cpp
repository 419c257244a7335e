// The launch files of the suite: each kernel file has one and is in a class, names are the project's own, every launch is
// checked, and its reference runs on its arguments and writes what is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/references/host_buffers.h"

namespace foretrace::frontend {
namespace {

const std::filesystem::path kSuite = FORETRACE_SOURCE_DIR "/validate/suite";

struct File {
  std::filesystem::path path;
  std::vector<LaunchDescription> launches;
};

const std::vector<File>& suite() {
  static const std::vector<File> files = [] {
    std::vector<File> loaded;
    for (const auto& path : launch_files(kSuite)) loaded.push_back({path, load_launch_file(path)});
    return loaded;
  }();
  return files;
}

TEST(Suite, AClassHoldsKernelsTheirLaunchesAndTheirReferences) {
  std::size_t sources = 0;
  std::set<std::string> classes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSuite)) {
    if (entry.path().extension() != ".cu") continue;
    ++sources;
    EXPECT_EQ(entry.path().parent_path().parent_path(), kSuite) << entry.path() << ": <class>/<name>.cu";
    auto beside = entry.path();
    EXPECT_TRUE(std::filesystem::exists(beside.replace_extension(".toml"))) << beside;
    EXPECT_TRUE(std::filesystem::exists(entry.path().parent_path() / "references.cpp")) << entry.path();
    classes.insert(entry.path().parent_path().filename().string());
  }
  EXPECT_EQ(sources, suite().size()) << "a launch file without its kernels";
  EXPECT_GE(sources, 44u);
  EXPECT_GE(classes.size(), 30u);
}

TEST(Suite, TheTableOfKernelsIsWhole) {
  std::ifstream file(kSuite / "README.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const File& one : suite()) {
    const std::string row = "\n| " + one.path.parent_path().filename().string() + " | ";
    const std::size_t at = text.find(row);
    ASSERT_NE(at, std::string::npos) << row << "is missing in validate/suite/README.md";
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    const std::regex name("[ `]" + one.path.stem().string() + "(?![a-z0-9_])");  // not the begin of another's
    EXPECT_TRUE(std::regex_search(line, name)) << one.path.stem() << " is missing in: " << line;
  }
}

TEST(Suite, NamesAreUniqueInTheProject) {
  std::map<std::string, int> launches;
  std::map<std::string, int> stems;
  for (const char* place : {"/validate/kernels", "/validate/suite"}) {
    for (const auto& path : launch_files(std::string(FORETRACE_SOURCE_DIR) + place)) {
      ++stems[path.stem().string()];
      for (const LaunchDescription& launch : load_launch_file(path)) ++launches[launch.name];
    }
  }
  for (const auto& [name, times] : launches) EXPECT_EQ(times, 1) << name;
  for (const auto& [name, times] : stems) EXPECT_EQ(times, 1) << name;
  const std::vector<std::string> names = references::reference_names();
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end())
      << *std::adjacent_find(names.begin(), names.end()) << " is registered twice";
}

TEST(Suite, EveryLaunchIsChecked) {
  for (const File& file : suite()) {
    for (const LaunchDescription& launch : file.launches) {
      EXPECT_NE(references::find_reference(launch.reference), nullptr)
          << launch.name << ": " << launch.reference;
      EXPECT_FALSE(launch.checks.empty()) << launch.name;
      EXPECT_EQ(launch.fault, ExpectedFault::none) << launch.name;
      for (const Check& check : launch.checks) {
        EXPECT_LE(check.relative, 0.01) << launch.name << " " << check.buffer << ": no check worth its name";
      }
    }
  }
}

TEST(Suite, EveryReferenceIsUsed) {
  std::set<std::string> used;
  for (const char* place :
       {"/validate/kernels", "/validate/suite", "/validate/triton", "/validate/triton_second"}) {
    for (const auto& path : launch_files(std::string(FORETRACE_SOURCE_DIR) + place)) {
      for (const LaunchDescription& launch : load_launch_file(path)) used.insert(launch.reference);
    }
  }
  for (const std::string& name : references::reference_names()) EXPECT_TRUE(used.count(name)) << name;
}

TEST(Suite, ReferencesChangeWhatIsChecked) {
  constexpr std::uint64_t kLargest = 1u << 21;  // bytes of a launch: the larger sizes are the same code
  for (const File& file : suite()) {
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
      const LaunchDescription& launch = file.launches[i];
      std::uint64_t bytes = 0;
      for (const Argument& argument : launch.arguments) bytes += argument.buffer_bytes();
      if (bytes > kLargest) continue;
      HostBuffers buffers(file.launches, i);
      std::map<std::string, std::vector<std::uint8_t>> before;
      for (const Check& check : launch.checks) before[check.buffer] = buffers.named(check.buffer);
      ASSERT_NO_THROW(buffers.run_reference(launch)) << launch.name;
      const bool changed = std::any_of(launch.checks.begin(), launch.checks.end(), [&](const Check& check) {
        return buffers.named(check.buffer) != before[check.buffer];
      });
      EXPECT_TRUE(changed) << launch.name << ": a kernel that did nothing would pass";
      for (const Check& check : launch.checks) {
        const ElementType type = buffers.type_of(check.buffer);
        if (!type_info(type).is_float) continue;
        const auto& values = buffers.named(check.buffer);
        for (std::size_t at = 0; at < values.size(); at += element_bytes(type)) {
          ASSERT_TRUE(std::isfinite(number_of(type, &values[at])))
              << launch.name << " " << check.buffer << "[" << at / element_bytes(type) << "]";
        }
      }
    }
  }
}

TEST(FirstDifference, TellsWhatIsOutsideTheTolerance) {
  Check check{"a", 0.5, 0.25};
  const std::vector<std::uint8_t> wanted = {4, 0, 0, 0, 8, 0, 0, 0};
  const std::vector<std::uint8_t> inside = {6, 0, 0, 0, 4, 0, 0, 0};
  const std::vector<std::uint8_t> outside = {6, 0, 0, 0, 3, 0, 0, 0};
  EXPECT_EQ(first_difference(check, ElementType::i32, inside.data(), wanted), "");
  EXPECT_NE(first_difference(check, ElementType::i32, outside.data(), wanted).find("a[1] is 3"),
            std::string::npos);
  check.relative = check.absolute = 0;
  EXPECT_NE(first_difference(check, ElementType::i32, inside.data(), wanted), "");
  EXPECT_EQ(first_difference(check, ElementType::i32, wanted.data(), wanted), "");
}

}  // namespace
}  // namespace foretrace::frontend
