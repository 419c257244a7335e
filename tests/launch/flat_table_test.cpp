// The flat table is read by a program that has no library, so its text is a contract: docs/launch_files.md.
#include <gtest/gtest.h>

#include <string>

#include "sim/frontend/launch/launch.h"

namespace foretrace::frontend {
namespace {

TEST(FlatTable, WritesEveryKeyInOrder) {
  LaunchDescription launch;
  launch.name = "vector_add_n1000";
  launch.source = "kernels/vector_add.cu";
  launch.kernel = "vector_add";
  launch.defines = {"TILE=16", "TEXT=a b"};
  launch.nvcc = "-use_fast_math";
  launch.grid = {8, 1, 1};
  launch.block = {128, 2, 1};
  launch.dynamic_shared = 64;
  for (const char* text : {"buf:f32:1000:uniform:name=a", "buf:f32:1000:range=-1..1:seed=9", "val:i32:1000",
                           "ref:a+16", "null", "bytes:0011AABB", "buf:u16:4:value=65535:name=c"}) {
    launch.arguments.push_back(parse_argument(text, launch.arguments.size()));
  }
  launch.symbols.push_back(parse_symbol("scale=val:f32:2", 0));
  launch.after = "other_launch";
  launch.reference = "vector_add";
  launch.checks = {{"c", 1e-6, 0}};
  EXPECT_EQ(flat_table({{&launch, "cubins/sm_90/vector_add.cubin", "_Z10vector_addPKfS0_Pfi"}}),
            "foretrace-launches 1\n"
            "launch vector_add_n1000\n"
            "source kernels/vector_add.cu\n"
            "define TILE=16\n"
            "define TEXT=a b\n"
            "nvcc -use_fast_math\n"
            "cubin cubins/sm_90/vector_add.cubin\n"
            "kernel _Z10vector_addPKfS0_Pfi\n"
            "grid 8 1 1\n"
            "block 128 2 1\n"
            "shared 64\n"
            "cluster 1 1 1\n"
            "arg buf f32 1000 uniform 0 0 1 a\n"
            "arg buf f32 1000 range bf800000 3f800000 9 -\n"
            "arg val i32 e8030000\n"
            "arg ref a 16\n"
            "arg null\n"
            "arg bytes 0011aabb\n"
            "arg buf u16 4 value ffff 0 7 c\n"
            "symbol scale val f32 00000040\n"
            "after other_launch\n"
            "reference vector_add\n"
            "check c 1e-06 0\n"
            "end\n");
}

TEST(FlatTable, LeavesOutWhatIsNotGivenAndMakesPathsRelative) {
  LaunchDescription launch;
  launch.name = "stops";
  launch.source = "/some/where/kernels/stops.cu";
  launch.kernel = "stops";
  launch.fault = ExpectedFault::divergent_barrier;
  Argument file;
  file.kind = ArgumentKind::buffer;
  file.type = ElementType::u8;
  file.count = 3;
  file.generator.kind = GeneratorKind::file;
  file.file = "/some/where/data/with space.bin";
  launch.arguments = {file, parse_argument("tmap:f16:of=a+256:dims=64x8:box=64x8", 1)};
  EXPECT_EQ(flat_table({{&launch, "/some/where/cubins/stops.cubin", ""}}, "/some/where"),
            "foretrace-launches 1\n"
            "launch stops\n"
            "source kernels/stops.cu\n"
            "cubin cubins/stops.cubin\n"
            "kernel stops\n"
            "grid 1 1 1\n"
            "block 1 1 1\n"
            "shared 0\n"
            "cluster 1 1 1\n"
            "arg buf u8 3 file 0 0 0 - data/with space.bin\n"
            "arg tmap f16:of=a+256:dims=64x8:box=64x8\n"
            "fault divergent_barrier\n"
            "end\n");
}

TEST(FaultNames, AreTheLaunchFilesOwn) {
  EXPECT_EQ(fault_name(ExpectedFault::none), "none");
  EXPECT_EQ(fault_name(ExpectedFault::divergent_barrier), "divergent_barrier");
  EXPECT_EQ(fault_name(ExpectedFault::never_ends), "never_ends");
  EXPECT_EQ(fault_name(ExpectedFault::illegal_instruction), "illegal_instruction");
}

TEST(FlatTable, ALaunchThatIsNotCompiledHasNoCubinAndItsNameAsWritten) {
  LaunchDescription launch;
  launch.kernel = "transpose_tile<33>";
  const std::string text = flat_table({{&launch, "", ""}});
  EXPECT_NE(text.find("\ncubin -\nkernel transpose_tile<33>\n"), std::string::npos);
}

TEST(FlatTable, TolerancesComeBackAsTheSameDouble) {
  LaunchDescription launch;
  launch.checks = {{"c", 0.1, 1.0 / 3.0}};
  const std::string text = flat_table({{&launch, "", ""}});
  const std::size_t at = text.find("check c ") + 8;
  const std::size_t space = text.find(' ', at);
  EXPECT_EQ(std::stod(text.substr(at, space - at)), 0.1);
  EXPECT_EQ(std::stod(text.substr(space + 1)), 1.0 / 3.0);
}

}  // namespace
}  // namespace foretrace::frontend
