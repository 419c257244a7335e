// Code that holds addresses: relocatable device code as nvlink leaves it (data/linked.sm_*.cubin: linked.cu and its device functions
// in sections of their own), laid out and filled in.
#include "sim/frontend/link.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "model/units/error.h"
#include "sim/frontend/disassembly.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

constexpr std::uint64_t kGlobals = 0x7f1200000000, kDriver = 0x7ffe00000010;

std::uint64_t address_of(const CodeRelocation& relocation) {
  switch (relocation.target) {
    case TargetKind::global: return kGlobals + relocation.value;
    case TargetKind::external: return kDriver;
    default: return relocation.value;
  }
}

class Linked : public testing::TestWithParam<int> {
 protected:
  std::string path() const { return data_path(fmt::format("linked/linked.sm_{}.cubin", GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Architectures, Linked, testing::ValuesIn(kArchitectures),
                         [](const auto& parameter) { return "sm_" + std::to_string(parameter.param); });

TEST_P(Linked, IsRefusedWhereNobodyLinks) {
  const auto file = read_file(path());
  EXPECT_NE(message_of<InputError>([&] { read_cubin(file, "x"); }).find("needs a linker"), std::string::npos);
}

TEST_P(Linked, FunctionsStandAtTheSameOffsetInEveryKernel) {
  const auto file = read_file(path());
  const Cubin cubin = read_cubin(file, "x", GetParam(), Relocations::keep);
  ASSERT_EQ(cubin.kernels.size(), 2u);
  const auto& first = cubin.kernels[0].parts;
  const auto& second = cubin.kernels[1].parts;
  ASSERT_GE(first.size(), 3u);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 1; i < first.size(); ++i) {
    EXPECT_EQ(first[i].mangled, second[i].mangled);
    EXPECT_EQ(first[i].offset, second[i].offset);
    EXPECT_GE(first[i].offset, std::max(first[0].bytes, second[0].bytes));
    EXPECT_EQ(first[i].offset % 128, 0u);
  }
  // The table of function pointers in memory holds these offsets.
  std::set<std::uint64_t> offsets, pointed;
  for (std::size_t i = 1; i < first.size(); ++i) offsets.insert(first[i].offset);
  for (const Pointer& pointer : cubin.module->pointers) {
    if (pointer.target == TargetKind::code) pointed.insert(pointer.value);
  }
  EXPECT_EQ(pointed.size(), 2u);
  for (const std::uint64_t offset : pointed) EXPECT_TRUE(offsets.contains(offset)) << offset;
}

TEST_P(Linked, EveryAddressIsFilledIn) {
  const auto file = read_file(path());
  Cubin cubin = read_cubin(file, "x", GetParam(), Relocations::keep);
  ASSERT_FALSE(cubin.relocations.empty());
  const std::vector<std::byte> linked = link_code(file, cubin, address_of);
  ASSERT_EQ(linked.size(), file.size());
  int low = 0, high = 0, calls = 0;
  for (const CodeRelocation& relocation : cubin.relocations) {
    isa::Word word;
    std::memcpy(&word.lo, linked.data() + relocation.in_file, 8);
    std::memcpy(&word.hi, linked.data() + relocation.in_file + 8, 8);
    const std::uint64_t address = address_of(relocation);
    const std::uint32_t type = relocation.type;
    if (type == 0x38 || type == 0x39) {
      ++(type == 0x38 ? low : high);
      EXPECT_EQ(word.bits(32, 32), type == 0x38 ? address & 0xffffffff : address >> 32) << relocation.symbol;
    } else if (type == 0x3a) {
      ++calls;
      EXPECT_EQ(word.bits(34, 47) << 2, address) << relocation.symbol;
    } else {
      ++calls;
      EXPECT_EQ(type, 0x4bu);
      EXPECT_EQ(word.bits(34, 47) << 10 | word.bits(16, 8) << 2, address) << relocation.symbol;
    }
  }
  EXPECT_GT(low, 2);
  EXPECT_EQ(low, high);
  EXPECT_GT(calls, 1);
  // Read again, nothing is left to fill in, and the kernels' code is what was made.
  const Cubin again = read_cubin(linked, "y", GetParam());
  EXPECT_EQ(again.kernels.size(), 2u);
  for (const KernelImage& kernel : cubin.kernels) {
    const CodePart& own = kernel.parts.front();
    EXPECT_EQ(std::memcmp(kernel.text.data(), linked.data() + own.in_file, own.bytes), 0);
    EXPECT_EQ(kernel.program.code_sha256, sha256_hex(kernel.text));
  }
}

TEST_P(Linked, ADriverFunctionThatIsCalledStandsInBank4Too) {
  const auto file = read_file(path());
  const Cubin cubin = read_cubin(file, "x", GetParam(), Relocations::keep);
  int found = 0;
  for (const Pointer& pointer : cubin.module->pointers) {
    if (pointer.target != TargetKind::external) continue;
    ++found;
    EXPECT_EQ(pointer.symbol, "vprintf");
    EXPECT_EQ(pointer.image, Image::constant4);
    EXPECT_LE(pointer.offset + 8, cubin.module->constant4.size());
  }
  EXPECT_EQ(found, 1);
}

TEST_P(Linked, UnknownRelocationsAreNamed) {
  const auto file = read_file(path());
  Cubin cubin = read_cubin(file, "x", GetParam(), Relocations::keep);
  cubin.relocations.front().type = 0x77;
  EXPECT_NE(message_of<InputError>([&] { link_code(file, cubin, address_of); }).find("relocation type 119"),
            std::string::npos);
}

}  // namespace
}  // namespace foretrace::frontend
