// The harness's reader of the flat table: what foretrace writes, and every way a table can be wrong.
#include "validate/harness/launch_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace foretrace::harness {
namespace {

const std::string kHead = "foretrace-launches 1\n";

std::string temporary(const std::string& text) {
  const auto name = std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".table";
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path.string();
}

/// The message of the error that a table ends in; empty when it is read.
std::string error_of(const std::string& text) {
  try {
    read_launch_table(temporary(text));
  } catch (const std::runtime_error& e) { return e.what(); }
  return {};
}

TEST(LaunchTable, ReadsEveryField) {
  const auto launches = read_launch_table(temporary(kHead + "launch first\n"
                                                            "source folder/a b.cu\n"
                                                            "define TILE=16\n"
                                                            "define TEXT=a b\n"
                                                            "nvcc -use_fast_math -O1\n"
                                                            "cubin cubins/a b.cubin\n"
                                                            "kernel _Z1aPfi\n"
                                                            "grid 8 2 1\n"
                                                            "block 128 1 3\n"
                                                            "shared 4096\n"
                                                            "cluster 2 1 1\n"
                                                            "arg buf f32 1000 range 3f800000 40000000 7 c\n"
                                                            "arg buf i32 4 file 0 0 1 - data/some file.bin\n"
                                                            "arg val i32 e8030000\n"
                                                            "arg ref c 16\n"
                                                            "arg null\n"
                                                            "arg bytes 0011aabb\n"
                                                            "symbol scale val f32 00000040\n"
                                                            "reference copy\n"
                                                            "check c 0.5 1e-06\n"
                                                            "end\n"
                                                            "launch second\n"
                                                            "after first\n"
                                                            "fault divergent_barrier\n"
                                                            "end\n"));
  ASSERT_EQ(launches.size(), 2u);
  const Launch& l = launches[0];
  EXPECT_EQ(l.name, "first");
  EXPECT_EQ(l.source, "folder/a b.cu");
  EXPECT_EQ(l.defines, (std::vector<std::string>{"TILE=16", "TEXT=a b"}));
  EXPECT_EQ(l.nvcc, "-use_fast_math -O1");
  EXPECT_EQ(l.cubin, "cubins/a b.cubin");
  EXPECT_EQ(l.mangled, "_Z1aPfi");
  EXPECT_EQ(l.grid[0], 8u);
  EXPECT_EQ(l.grid[1], 2u);
  EXPECT_EQ(l.block[2], 3u);
  EXPECT_EQ(l.shared, 4096u);
  EXPECT_EQ(l.cluster[0], 2u);
  ASSERT_EQ(l.arguments.size(), 6u);
  EXPECT_EQ(l.arguments[0].kind, ArgumentKind::buffer);
  EXPECT_EQ(l.arguments[0].type, frontend::ElementType::f32);
  EXPECT_EQ(l.arguments[0].generator.kind, frontend::GeneratorKind::range);
  EXPECT_EQ(l.arguments[0].generator.low_bits, 0x3f800000u);
  EXPECT_EQ(l.arguments[0].generator.high_bits, 0x40000000u);
  EXPECT_EQ(l.arguments[0].generator.seed, 7u);
  EXPECT_EQ(l.arguments[0].name, "c");
  EXPECT_EQ(l.arguments[0].size(), 4000u);
  EXPECT_EQ(l.arguments[1].name, "");
  EXPECT_EQ(l.arguments[1].path, "data/some file.bin");
  EXPECT_EQ(l.arguments[2].bytes, (std::vector<unsigned char>{0xe8, 0x03, 0, 0}));
  EXPECT_EQ(l.arguments[3].kind, ArgumentKind::reference);
  EXPECT_EQ(l.arguments[3].offset, 16u);
  EXPECT_EQ(l.arguments[4].kind, ArgumentKind::null);
  EXPECT_EQ(l.arguments[5].bytes, (std::vector<unsigned char>{0x00, 0x11, 0xaa, 0xbb}));
  ASSERT_EQ(l.symbols.size(), 1u);
  EXPECT_EQ(l.symbols[0].name, "scale");
  EXPECT_EQ(l.symbols[0].contents.bytes.size(), 4u);
  EXPECT_EQ(l.reference, "copy");
  ASSERT_EQ(l.checks.size(), 1u);
  EXPECT_EQ(l.checks[0].relative, 0.5);
  EXPECT_EQ(l.checks[0].absolute, 1e-6);
  EXPECT_EQ(launches[1].after, "first");
  EXPECT_EQ(launches[1].fault, "divergent_barrier");
}

TEST(LaunchTable, ReadsTheMeasuredTable) {
  const auto launches =
      read_launch_table(std::string(FORETRACE_SOURCE_DIR) + "/validate/measurements/h100-sxm/launches.txt");
  EXPECT_EQ(launches.size(), 515u);
  for (const Launch& l : launches) {
    EXPECT_FALSE(l.mangled.empty()) << l.name;
    EXPECT_FALSE(l.cubin.empty()) << l.name;
    EXPECT_GE(l.arguments.size(), 1u) << l.name;
    EXPECT_TRUE(!l.checks.empty() || !l.fault.empty()) << l.name << " is not checked";
  }
}

TEST(LaunchTable, NamesTheLineThatIsWrong) {
  EXPECT_NE(error_of("foretrace-launches 2\n").find(":1: expected"), std::string::npos);
  EXPECT_NE(error_of(kHead + "grid 1 1 1\n").find(":2: expected launch"), std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\ngird 1 1 1\nend\n").find(":3: expected a key"), std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\ngrid 1 1\nend\n").find(":3: expected three numbers"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\narg buf f33 1 zero 0 0 1 -\nend\n").find("an element type"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\narg val i32 e80300\x30g\nend\n").find("hexadecimal"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\nlaunch b\nend\n").find(":3: expected end"), std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\n\nend\n").find(":3: expected a key"), std::string::npos);
  EXPECT_NE(error_of(kHead + "launch a\n").find("expected end"), std::string::npos);
  EXPECT_EQ(error_of(kHead + "launch a\nend\n"), "");
}

}  // namespace
}  // namespace foretrace::harness
