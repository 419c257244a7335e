// What the ELF file of a cubin says, on three architectures, and what is refused.
#include "sim/frontend/cubin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "model/units/error.h"
#include "sim/frontend/attributes.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

std::string error_for(const std::vector<std::byte>& bytes, int sm = 0) {
  return message_of<InputError>([&] { read_cubin(bytes, "x.cubin", sm); });
}

class Corpus : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, Corpus, testing::ValuesIn(kArchitectures),
                         [](const auto& parameter) { return "sm_" + std::to_string(parameter.param); });

TEST_P(Corpus, KernelsAndTheirProperties) {
  const int sm = GetParam();
  const Cubin cubin = corpus_cubin(sm);
  EXPECT_EQ(cubin.module->sm, sm);
  EXPECT_EQ(cubin.module->toolkit, "13.0.88");
  ASSERT_EQ(cubin.kernels.size(), 5u);

  const KernelImage& kernel = kernel_named(cubin, "transpose_tile<33>");
  const isa::Program& program = kernel.program;
  EXPECT_EQ(program.sm, sm);
  EXPECT_EQ(program.mangled, "_Z14transpose_tileILi33EEvPfPKfi");
  EXPECT_EQ(program.static_shared, 32u * 33 * 4);
  EXPECT_EQ(program.shared_base, sm >= 90 ? 0x400u : 0u);
  EXPECT_EQ(program.max_threads, 1024u);
  EXPECT_EQ(program.barriers, 1u);
  EXPECT_GE(program.registers, 8u);
  EXPECT_LE(program.registers, 32u);
  EXPECT_EQ(program.parameter_base, sm == 80 ? 0x160u : sm == 90 ? 0x210u : 0x380u);
  EXPECT_EQ(program.parameter_bytes, 20u);
  EXPECT_EQ(kernel.constant0_bytes, program.parameter_base + 20);
  ASSERT_EQ(program.parameters.size(), 3u);
  EXPECT_EQ(program.parameters[1].offset, 8u);
  EXPECT_EQ(program.parameters[1].size, 8u);
  EXPECT_EQ(program.parameters[2].offset, 16u);
  EXPECT_EQ(program.parameters[2].size, 4u);

  const KernelImage& totals = kernel_named(cubin, "scan::totals");
  EXPECT_EQ(totals.program.static_shared, 0u);
  EXPECT_EQ(totals.program.barriers, 0u);
  EXPECT_EQ(totals.program.max_threads, 0u);
  EXPECT_EQ(kernel_named(cubin, "branches").program.parameters.at(2).size, 1u);
}

TEST_P(Corpus, ModuleVariablesAndPointers) {
  const Cubin cubin = corpus_cubin(GetParam());
  const Module& module = *cubin.module;
  ASSERT_EQ(module.variables.size(), 4u);
  const auto variable = [&](const std::string& name) {
    return *std::find_if(module.variables.begin(), module.variables.end(),
                         [&](const Variable& v) { return v.name == name; });
  };
  EXPECT_EQ(variable("coefficients").space, VariableSpace::constant3);
  EXPECT_EQ(variable("coefficients").size, 32u);
  float third = 0;
  std::memcpy(&third, module.constant3.data() + variable("coefficients").offset + 8, sizeof third);
  EXPECT_EQ(third, 3.0f);
  int initial = 0;
  std::memcpy(&initial, module.globals.data() + variable("initialised").offset, sizeof initial);
  EXPECT_EQ(initial, 7);
  const Variable zeroed = variable("zeroed");
  ASSERT_LE(zeroed.offset + zeroed.size, module.globals.size());
  EXPECT_TRUE(std::all_of(module.globals.begin() + static_cast<std::ptrdiff_t>(zeroed.offset),
                          module.globals.end(), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(zeroed.offset % 256, 0u);

  // `pointer_to_zeroed = zeroed + 1` is a pointer inside the image of globals.
  const auto inside = std::find_if(module.pointers.begin(), module.pointers.end(),
                                   [](const Pointer& p) { return p.image == Image::globals; });
  ASSERT_NE(inside, module.pointers.end());
  EXPECT_EQ(inside->offset, variable("pointer_to_zeroed").offset);
  EXPECT_EQ(inside->target, TargetKind::global);
  EXPECT_EQ(inside->value, zeroed.offset + 4);
  // Bank 4 holds the addresses that the kernels load.
  EXPECT_EQ(std::count_if(module.pointers.begin(), module.pointers.end(),
                          [](const Pointer& p) { return p.image == Image::constant4; }),
            static_cast<std::ptrdiff_t>(module.constant4.size() / 8));
}

TEST_P(Corpus, JumpTablesStandInBank2) {
  const Cubin cubin = corpus_cubin(GetParam());
  EXPECT_TRUE(kernel_named(cubin, "halves").constant2.empty());
  const std::vector<std::byte>& table = kernel_named(cubin, "branches").constant2;
  ASSERT_GE(table.size(), 5u * 4);
  EXPECT_EQ(table.size() % 4, 0u);
}

TEST_P(Corpus, CodeHashIsOfTheSection) {
  const Cubin cubin = corpus_cubin(GetParam());
  const KernelImage& kernel = kernel_named(cubin, "halves");
  EXPECT_EQ(kernel.program.code_sha256, sha256_hex(kernel.text));
  EXPECT_NE(kernel.program.code_sha256, kernel_named(cubin, "branches").program.code_sha256);
}

TEST_P(Corpus, RefusesAnotherArchitecture) {
  const int other = GetParam() == 90 ? 120 : 90;
  EXPECT_EQ(error_for(read_file(corpus_path(GetParam())), other),
            fmt::format("x.cubin: a cubin for sm_{}, expected one that runs on sm_{}", GetParam(), other));
}

TEST_P(Corpus, RefusesATruncatedFileAtEveryLength) {
  const std::vector<std::byte> whole = read_file(corpus_path(GetParam()));
  // Every length must end in an InputError or, where only the tail's padding is lost, in a cubin; never in a crash.
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += 997) {
    try {
      read_cubin(std::span(whole).first(length), "x.cubin");
    } catch (const InputError&) { ++refused; }
  }
  EXPECT_EQ(refused, (whole.size() + 996) / 997);
}

TEST_P(Corpus, DamagedBytesEndInACubinOrInAnInputError) {
  const std::vector<std::byte> whole = read_file(corpus_path(GetParam()));
  std::mt19937_64 random(17);
  std::size_t refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<std::byte> damaged = whole;
    // The header at the front and the section table at the end are the parts that matter.
    const std::size_t window = damaged.size() / 4;
    for (int i = 0; i < 4; ++i) {
      const std::size_t at = random() % window;
      damaged[round % 2 == 0 ? at : damaged.size() - 1 - at] = static_cast<std::byte>(random());
    }
    try {
      read_cubin(damaged, "x.cubin");
    } catch (const InputError&) { ++refused; }
  }
  EXPECT_GT(refused, 60u);
}

TEST(Cubin, RefusesWhatIsNone) {
  EXPECT_NE(error_for({}).find("no cubin"), std::string::npos);
  EXPECT_NE(error_for(read_file(data_path("corpus.cu"))).find("no cubin"), std::string::npos);
  EXPECT_NE(error_for(read_file("/proc/self/exe")).find("x.cubin: "), std::string::npos);
  EXPECT_NE(message_of<InputError>([] { read_file(data_path("absent.cubin")); }).find("cannot be read"),
            std::string::npos);
}

TEST(Cubin, RefusesOldAndRelocatableLayouts) {
  const std::vector<std::byte> good = read_file(corpus_path(80));
  auto old = good;
  old[8] = std::byte{6};  // e_ident[EI_ABIVERSION]
  EXPECT_NE(error_for(old).find("ABI version 6, expected 7 or 8"), std::string::npos);
  auto relocatable = good;
  relocatable[16] = std::byte{1};  // e_type: ET_REL
  EXPECT_NE(error_for(relocatable).find("relocatable device code"), std::string::npos);
  auto other = good;
  other[18] = std::byte{62};  // e_machine: x86-64
  EXPECT_NE(error_for(other).find("machine 62, expected 190"), std::string::npos);
}

TEST(Cubin, ReadsTheHeadOfCuda12) {
  std::vector<std::byte> bytes = read_file(corpus_path(80));
  EXPECT_EQ(cubin_sm(bytes), 80);
  bytes[7] = std::byte{51};   // e_ident[EI_OSABI]
  bytes[8] = std::byte{7};    // e_ident[EI_ABIVERSION]
  bytes[48] = std::byte{80};  // e_flags: the architecture stands in the lowest byte
  bytes[49] = std::byte{5};
  EXPECT_EQ(cubin_sm(bytes), 80);
  const Cubin cubin = read_cubin(bytes, "x.cubin", 80);
  EXPECT_EQ(cubin.module->sm, 80);
  EXPECT_EQ(cubin.kernels.size(), corpus_cubin(80).kernels.size());
  EXPECT_EQ(cubin_sm(std::span(bytes).first(20)), 0);
}

TEST(Attributes, BothParameterForms) {
  const auto bytes = [](std::initializer_list<unsigned> values) {
    std::vector<std::byte> out;
    for (const unsigned value : values) out.push_back(static_cast<std::byte>(value));
    return out;
  };
  // KPARAM_INFO: ordinal 0, offset 8, size 0x0021f000 >> 18 = 8. Records taken from our own cubins.
  const auto classic = bytes({4, 0x17, 12, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0x00, 0xf0, 0x21, 0x00});
  EXPECT_EQ(read_kernel_attributes(classic, "k").parameters.at(0).size, 8u);
  EXPECT_EQ(read_kernel_attributes(classic, "k").parameters.at(0).offset, 8u);
  // KPARAM_INFO_V2: the size stands alone: 20000 bytes.
  const auto large = bytes({4, 0x45, 12, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0x20, 0x4e, 0, 0});
  EXPECT_EQ(read_kernel_attributes(large, "k").parameters.at(0).size, 20000u);
  // A pointer's: 8 bytes, then the logarithm of the alignment of what it points to, 16, and its space, global.
  const auto pointer = bytes({4, 0x45, 12, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 4, 4});
  EXPECT_EQ(read_kernel_attributes(pointer, "k").parameters.at(0).size, 8u);
  // An unknown code is skipped by its format.
  const auto unknown = bytes({1, 0xee, 0, 0, 3, 0xef, 1, 2, 4, 0xf0, 4, 0, 9, 9, 9, 9, 2, 0x4c, 3, 0});
  EXPECT_EQ(read_kernel_attributes(unknown, "k").barriers, 3u);
  EXPECT_THROW(read_kernel_attributes(bytes({4, 0x17, 13, 0, 0, 0}), "k"), InputError) << "runs over the end";
  EXPECT_THROW(read_kernel_attributes(bytes({9, 0x17, 0, 0}), "k"), InputError) << "unknown format";
  EXPECT_THROW(read_kernel_attributes(bytes({4, 0x17, 12, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0xf0, 0x21, 0}), "k"),
               InputError)
      << "parameter 0 is missing";
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::byte abc[] = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  EXPECT_EQ(sha256_hex(abc), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace foretrace::frontend
