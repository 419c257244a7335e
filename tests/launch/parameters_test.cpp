// A wrong number, size or type of argument is refused with a line that says which parameter it was.
#include "sim/frontend/launch/parameters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

isa::Program program_of(const std::string& mangled, const std::vector<std::uint32_t>& sizes) {
  isa::Program program;
  program.kernel = "k";
  program.mangled = mangled;
  for (const std::uint32_t size : sizes) program.parameters.push_back({program.parameter_bytes, size});
  return program;
}

std::string refusal(const isa::Program& program, const std::vector<std::string>& texts,
                    Dim3 block = {32, 1, 1}) {
  LaunchDescription launch;
  launch.block = block;
  for (const std::string& text : texts)
    launch.arguments.push_back(parse_argument(text, launch.arguments.size()));
  try {
    check_parameters(launch, program);
  } catch (const InputError& error) { return error.what(); }
  return "accepted";
}

// k(float const*, float const*, float*, int)
const isa::Program kSgemm = program_of("_Z1kPKfS0_Pfi", {8, 8, 8, 4});

TEST(Parameters, TheRightOnesAreAccepted) {
  EXPECT_EQ(refusal(kSgemm, {"buf:f32:4:uniform", "null", "buf:f32:4:name=c", "val:i32:2"}), "accepted");
  EXPECT_EQ(refusal(kSgemm, {"buf:f32:4:name=a", "ref:a", "ref:a+4", "val:u32:2"}), "accepted");
  EXPECT_EQ(refusal(kSgemm, {"bytes:0000000000000000", "null", "null", "bytes:01000000"}), "accepted");
}

TEST(Parameters, TheirNumberIsChecked) {
  EXPECT_EQ(refusal(kSgemm, {"null", "null", "null"}),
            "kernel 'k': 3 arguments are given, expected 4 (float const*, float const*, float*, int)");
  EXPECT_EQ(refusal(kSgemm, {"null"}),
            "kernel 'k': 1 argument is given, expected 4 (float const*, float const*, float*, int)");
  EXPECT_EQ(
      refusal(kSgemm, {}),
      "kernel 'k': 0 arguments are given, expected 4 (float const*, float const*, float*, int), such as "
      "buf:f32:1024 or val:i32:1024 (docs/launch_files.md)");
  EXPECT_EQ(refusal(program_of("_Z1kv", {}), {"null"}), "kernel 'k': 1 argument is given, expected 0");
  EXPECT_EQ(refusal(program_of("_Z1kv", {}), {}), "accepted");
  EXPECT_EQ(refusal(program_of("not_mangled", {8, 4}), {"null"}),
            "kernel 'k': 1 argument is given, expected 2");
}

TEST(Parameters, NumbersAndPointersAreToldApart) {
  EXPECT_EQ(refusal(kSgemm, {"null", "null", "null", "null"}),
            "kernel 'k': argument 4 'null': the parameter is 'int', expected val:i32:V");
  EXPECT_EQ(refusal(kSgemm, {"null", "null", "null", "val:f32:2"}),
            "kernel 'k': argument 4 'val:f32:2': the parameter is 'int', expected val:i32:V");
  EXPECT_EQ(refusal(kSgemm, {"null", "null", "null", "val:i64:2"}),
            "kernel 'k': argument 4 'val:i64:2': the parameter is 'int', expected val:i32:V");
  EXPECT_EQ(refusal(kSgemm, {"val:u64:0", "null", "null", "val:i32:2"}),
            "kernel 'k': argument 1 'val:u64:0': the parameter is 'float const*', expected buf, ref or null");
}

TEST(Parameters, ElementsAreCheckedWhereThePointerTellsThem) {
  EXPECT_EQ(refusal(kSgemm, {"buf:i32:4", "null", "null", "val:i32:2"}),
            "kernel 'k': argument 1 'buf:i32:4': the parameter is 'float const*', expected a buffer of f32");
  EXPECT_EQ(refusal(kSgemm, {"null", "null", "buf:f64:4", "val:i32:2"}),
            "kernel 'k': argument 3 'buf:f64:4': the parameter is 'float*', expected a buffer of f32");
  // k(unsigned int*): signed or not is all one. k(void*), k(unsigned char*), k(float4*): anything may lie there.
  EXPECT_EQ(refusal(program_of("_Z1kPj", {8}), {"buf:i32:4"}), "accepted");
  EXPECT_EQ(refusal(program_of("_Z1kPv", {8}), {"buf:f64:4"}), "accepted");
  EXPECT_EQ(refusal(program_of("_Z1kPh", {8}), {"buf:f32:4"}), "accepted");
  EXPECT_EQ(refusal(program_of("_Z1kP6float4", {8}), {"buf:f32:4"}), "accepted");
  // k(__half*) and k(__nv_bfloat16*) are of one size and yet not one kind.
  EXPECT_EQ(refusal(program_of("_Z1kP6__half", {8}), {"buf:f16:4"}), "accepted");
  EXPECT_NE(refusal(program_of("_Z1kP6__half", {8}), {"buf:bf16:4"}).find("a buffer of f16"),
            std::string::npos);
}

TEST(Parameters, StructsAndUnknownNamesAreCheckedBySize) {
  const isa::Program with_struct = program_of("_Z1k4PairPi", {12, 8});
  EXPECT_EQ(refusal(with_struct, {"bytes:000000000000000000000000", "null"}), "accepted");
  EXPECT_EQ(
      refusal(with_struct, {"bytes:0000000000000000", "null"}),
      "kernel 'k': argument 1 'bytes:0000000000000000': the parameter 'Pair' has 12 bytes, the argument 8");
  const isa::Program plain = program_of("k", {8, 4});
  EXPECT_EQ(refusal(plain, {"buf:i8:1", "val:f32:1"}), "accepted");
  EXPECT_EQ(refusal(plain, {"buf:i8:1", "val:f64:1"}),
            "kernel 'k': argument 2 'val:f64:1': the parameter has 4 bytes, the argument 8");
}

TEST(Parameters, CommasInsideTemplateArgumentsSeparateNothing) {
  // void k<Pair<int, float> >(Pair<int, float>, int)
  const isa::Program program = program_of("_Z1kI4PairIifEEvT_i", {8, 4});
  EXPECT_EQ(refusal(program, {"bytes:0000000000000000", "val:i32:1"}), "accepted");
  EXPECT_EQ(refusal(program, {"bytes:0000000000000000", "val:f32:1"}),
            "kernel 'k': argument 2 'val:f32:1': the parameter is 'int', expected val:i32:V");
  // k(int (*)(float, int), int): a comma in a function's parameter list
  EXPECT_EQ(refusal(program_of("_Z1kPFifiEi", {8, 4}), {"null", "val:i32:1"}), "accepted");
}

TEST(Parameters, LimitsOfTheKernelsSource) {
  isa::Program program = program_of("_Z1kv", {});
  program.max_threads = 256;
  EXPECT_EQ(refusal(program, {}, {256, 1, 1}), "accepted");
  EXPECT_EQ(refusal(program, {}, {257, 1, 1}),
            "kernel 'k': a block of 257 threads, its __launch_bounds__ allow 256");
  program.required_threads[0] = 16;
  program.required_threads[1] = 16;
  program.required_threads[2] = 1;
  EXPECT_EQ(refusal(program, {}, {16, 16, 1}), "accepted");
  EXPECT_EQ(refusal(program, {}, {256, 1, 1}), "kernel 'k': a block of 256,1,1, it was compiled for 16,16,1");
}

}  // namespace
}  // namespace foretrace::frontend
