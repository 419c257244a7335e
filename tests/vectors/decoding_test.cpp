// Decoding against the encodings, over a large corpus: what the disassembler printed and we parsed (guard predicate, registers,
// constants) is what the instruction's 128 bits say. The corpus: the instruction vectors for three architectures, and what CUB, Thrust and
// cooperative groups instantiate.
//
// Source: the places of the fields (guard 12..15, destination 16..23, sources 24..31, 32..39, 64..71; a constant's
//         bank 54..58 and offset 38..53, LDCU's 37..53).
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/vectors/run_vectors.h"

namespace foretrace::vectors {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::OperandKind;

/// The four eight-bit fields that name general registers.
bool names_register(const Instruction& in, int index) {
  for (const int first : {16, 24, 32, 64}) {
    if (static_cast<int>(in.word.bits(first, 8)) == index) return true;
  }
  return false;
}

/// "": the text agrees with the bits.
std::string disagreement(const Instruction& in) {
  const int guard = static_cast<int>(in.word.bits(12, 3));
  const bool negated = in.word.bits(15, 1) != 0;
  if (!in.guard_uniform && (in.guard != guard || in.guard_negate != negated)) return "guard";
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const Operand& operand = in.operands[i];
    if (i == 4 && in.has("SP")) continue;  // a sparse product's metadata has a fifth field
    if (operand.kind == OperandKind::register_ && operand.index != isa::kRz &&
        !names_register(in, operand.index)) {
      return "register " + operand.text;
    }
    if (operand.kind == OperandKind::memory && operand.base >= 0 && operand.base != isa::kRz &&
        !names_register(in, operand.base)) {
      return "address " + operand.text;
    }
    if (operand.kind == OperandKind::constant && operand.base < 0 && operand.uniform_base < 0) {
      const bool long_offset = in.opcode == isa::Opcode::LDCU;  // one bit more
      const auto offset = long_offset ? in.word.bits(37, 17) : in.word.bits(38, 16);
      if (operand.bank != static_cast<int>(in.word.bits(54, 5)) ||
          operand.offset != static_cast<std::int64_t>(offset)) {
        return "constant " + operand.text;
      }
    }
  }
  return "";
}

TEST(Decoding, AgreesWithTheEncodings) {
  std::size_t instructions = 0;
  int kernels = 0, wrong = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_BINARY_DIR "/vectors")) {
    if (entry.path().extension() != ".cubin") continue;
    frontend::LoadRequest request;
    request.file = entry.path().string();
    request.kernel = ".*";
    request.regex = true;
    for (const frontend::LoadedKernel& kernel : frontend::load_kernels(request, frontend::Toolchain{})) {
      ++kernels;
      for (const Instruction& in : kernel.program.code) {
        ++instructions;
        const std::string what = disagreement(in);
        if (what.empty() || ++wrong > 10) continue;
        ADD_FAILURE() << entry.path().filename() << " " << kernel.program.kernel << " offset 0x" << std::hex
                      << in.offset << ": " << what << " in " << in.text;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(kernels, 300);
  EXPECT_GT(instructions, 200000u);
  std::printf("%d kernels, %zu instructions\n", kernels, instructions);
}

}  // namespace
}  // namespace foretrace::vectors
