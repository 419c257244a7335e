// From nvdisasm's text and the cubin's bytes to a Program, without any CUDA tool.
#include "sim/frontend/disassembly.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/isa/operands.h"
#include "model/units/error.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

isa::Program decoded(int sm, const std::string& name) {
  return decode_kernel(kernel_named(corpus_cubin(sm), name), corpus_disassembly(sm), "corpus.sass");
}

/// The error of decoding kernel halves of sm_90 from a text in which `from` became `to` behind the kernel's label.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = corpus_disassembly(90);
  const auto start = text.find(".text._Z6halvesP7__half2PKS_:");
  const auto at = text.find(from, start);
  if (start == std::string::npos || at == std::string::npos) return "the corpus lacks '" + from + "'";
  text.replace(at, from.size(), to);
  return message_of<InputError>(
      [&] { decode_kernel(kernel_named(corpus_cubin(90), "halves"), text, "corpus.sass"); });
}

std::size_t count(const isa::Program& program, isa::Opcode opcode) {
  return static_cast<std::size_t>(
      std::count_if(program.code.begin(), program.code.end(),
                    [&](const isa::Instruction& in) { return in.opcode == opcode; }));
}

class Decode : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, Decode, testing::ValuesIn(kArchitectures),
                         [](const auto& parameter) { return "sm_" + std::to_string(parameter.param); });

TEST_P(Decode, EveryInstructionOfTheCorpus) {
  const Cubin cubin = corpus_cubin(GetParam());
  const std::string text = corpus_disassembly(GetParam());
  int kept = 0;
  for (const KernelImage& kernel : cubin.kernels) {
    const isa::Program program = decode_kernel(kernel, text, "corpus.sass");
    ASSERT_EQ(program.code.size() * kInstructionBytes, kernel.text.size());
    for (std::size_t i = 0; i < program.code.size(); ++i) {
      const isa::Instruction& in = program.code[i];
      EXPECT_EQ(in.offset, i * kInstructionBytes);
      // The register-file cache bits of the encoding name the same slots as the printed ".reuse".
      const isa::RegisterUse use = isa::register_use(in, GetParam());
      int reuse = 0;
      for (std::size_t slot = 0; slot < use.reuse.size(); ++slot) reuse |= use.reuse[slot] ? 1 << slot : 0;
      EXPECT_EQ(reuse, in.control.reuse) << in.text;
      kept += reuse != 0;
    }
  }
  EXPECT_GT(kept, 0) << "no instruction of the corpus keeps an operand";
}

TEST_P(Decode, TransposeHasItsLoadsStoresAndBarrier) {
  const isa::Program program = decoded(GetParam(), "transpose_tile<33>");
  EXPECT_EQ(count(program, isa::Opcode::LDG), 1u);
  EXPECT_EQ(count(program, isa::Opcode::STG), 1u);
  EXPECT_EQ(count(program, isa::Opcode::STS), 1u);
  EXPECT_EQ(count(program, isa::Opcode::LDS), 1u);
  EXPECT_EQ(count(program, isa::Opcode::BAR), 1u);
  EXPECT_EQ(count(program, isa::Opcode::FMUL), 1u);
}

TEST_P(Decode, SourceLines) {
  const isa::Program program = decoded(GetParam(), "halves");
  ASSERT_FALSE(program.files.empty());
  const auto store = std::find_if(program.code.begin(), program.code.end(),
                                  [](const isa::Instruction& in) { return in.opcode == isa::Opcode::STG; });
  ASSERT_NE(store, program.code.end());
  ASSERT_NE(store->file, 0u);
  EXPECT_NE(program.files[store->file - 1].find("corpus.cu"), std::string::npos);
  EXPECT_EQ(store->line, 46u)
      << "out[threadIdx.x] = __hfma2(...), though the store itself stands in cuda_fp16.hpp";
}

TEST_P(Decode, HalfImmediatesAndNestedFunctions) {
  const isa::Program halves = decoded(GetParam(), "halves");
  const auto fma = std::find_if(halves.code.begin(), halves.code.end(), [](const isa::Instruction& in) {
    // Not the constant loads, which multiply RZ.
    return in.opcode == isa::Opcode::HFMA2 && in.operands[1].index != isa::kRz;
  });
  ASSERT_NE(fma, halves.code.end());
  const auto pair = std::find_if(fma->operands.begin(), fma->operands.end(),
                                 [](const isa::Operand& o) { return o.is_float; });
  ASSERT_NE(pair, fma->operands.end());
  EXPECT_EQ(pair->value, 0xc0003e00u) << "-2 high, 1.5 low";

  // branches holds its callees: every call leads to an instruction of the section, and returns are relative to it.
  const isa::Program branches = decoded(GetParam(), "branches");
  std::size_t calls = 0;
  for (const isa::Instruction& in : branches.code) {
    for (const isa::Operand& operand : in.operands) {
      if (operand.kind != isa::OperandKind::label) continue;
      EXPECT_LE(operand.value, branches.code.size() * kInstructionBytes) << in.text;
      EXPECT_EQ(operand.value % kInstructionBytes, 0u) << in.text;
      if (in.opcode == isa::Opcode::CALL) ++calls;
      if (in.opcode == isa::Opcode::RET) { EXPECT_EQ(operand.value, 0u); }
    }
  }
  EXPECT_GE(calls, 1u);
  EXPECT_GE(count(branches, isa::Opcode::RET), 1u);
  EXPECT_GE(count(branches, isa::Opcode::BRX) + count(branches, isa::Opcode::BRXU), 1u) << "the switch";
}

TEST(Decode, RefusesTheTextOfAnotherCubin) {
  const std::string error = message_of<InputError>(
      [] { decode_kernel(kernel_named(corpus_cubin(80), "halves"), corpus_disassembly(90), "corpus.sass"); });
  EXPECT_EQ(error, "corpus.sass: kernel halves, offset 0x0: the disassembly is of another cubin");
}

/// The one instruction of the kernel that is not understood after a change of its text.
isa::Instruction opaque_after(const std::string& from, const std::string& to) {
  std::string text = corpus_disassembly(90);
  const auto at = text.find(from, text.find(".text._Z6halvesP7__half2PKS_:"));
  text.replace(at, from.size(), to);
  isa::Instruction found;
  for (const isa::Instruction& in :
       decode_kernel(kernel_named(corpus_cubin(90), "halves"), text, "corpus.sass").code) {
    if (in.opcode == isa::Opcode::opaque) found = in;
  }
  return found;
}

TEST(Decode, KeepsWhatIsNotUnderstoodAsOneOpaqueInstruction) {
  const isa::Instruction unknown = opaque_after("EXIT", "EXTI");
  EXPECT_EQ(unknown.text, "EXTI");
  EXPECT_EQ(unknown.opaque, "unknown instruction EXTI");
  EXPECT_EQ(opaque_after("STG.E desc", "STG.E dusc").opaque.find("operand 'dusc"), 0u);
}

TEST(Decode, KeepsWhatTheDisassemblerHasNoTextForAsOneOpaqueInstruction) {
  const std::string all = corpus_disassembly(90);
  const auto end = all.find("EXIT", all.find(".text._Z6halvesP7__half2PKS_:"));
  const auto start = all.rfind("/*", end);
  const auto encoding = all.find("/* 0x", end);
  const isa::Instruction nameless = opaque_after(all.substr(start, encoding - start), "");
  EXPECT_EQ(nameless.text, "0x000000000000794d");
  EXPECT_EQ(nameless.opaque, "unknown instruction 0x000000000000794d");
}

TEST(Decode, RefusesADamagedText) {
  EXPECT_NE(error_after("/*0010*/", "/*0020*/").find("found offset 0x20"), std::string::npos);
  EXPECT_NE(error_after("/* 0x", "/* 0z").find("without its encoding"), std::string::npos);
  EXPECT_NE(
      error_after("\n        /*0010*/", "\nnonsense\n        /*0010*/").find("'nonsense' is not understood"),
      std::string::npos);
  std::string cut = corpus_disassembly(90);
  const auto kernel = cut.find(".text._Z6halvesP7__half2PKS_:");
  cut.resize(cut.find("/*0040*/", kernel));
  const std::string error = message_of<InputError>(
      [&] { decode_kernel(kernel_named(corpus_cubin(90), "halves"), cut, "corpus.sass"); });
  EXPECT_NE(error.find("has 4 instructions, the cubin 24"), std::string::npos) << error;
  EXPECT_NE(message_of<InputError>([&] {
              decode_kernel(kernel_named(corpus_cubin(90), "halves"), "", "corpus.sass");
            }).find("has no section for it"),
            std::string::npos);
}

TEST(FormatProgram, OneLineAnInstructionWithItsControlBits) {
  const isa::Program program = decoded(90, "transpose_tile<33>");
  const std::string text = format_program(
      program, [](const isa::Instruction& in) { return std::string(isa::name_of(in.opcode)); });
  EXPECT_NE(text.find("// transpose_tile<33>  sm_90  "), std::string::npos);
  EXPECT_NE(text.find("corpus.cu:15\n"), std::string::npos);
  const auto line = std::find_if(program.code.begin(), program.code.end(),
                                 [](const isa::Instruction& in) { return in.opcode == isa::Opcode::LDG; });
  ASSERT_NE(line, program.code.end());
  EXPECT_NE(text.find(fmt::format("{:04x}  W:{} R:- WM:", line->offset, line->control.write_barrier)),
            std::string::npos);
  EXPECT_NE(text.find("LDG              " + line->text), std::string::npos) << "the pipe's column";
  const std::string without = format_program(program, {});
  EXPECT_EQ(without.find("LDG              " + line->text), std::string::npos);
}

}  // namespace
}  // namespace foretrace::frontend
