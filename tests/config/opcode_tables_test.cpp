// The opcode tables against the list of mnemonics: each has a row in the table of every machine code that has it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/config/load.h"
#include "model/isa/instruction.h"

namespace foretrace::config {
namespace {

const std::string kConfigs = std::string(FORETRACE_SOURCE_DIR) + "/configs";

/// Mnemonics of opcodes.def without needing the isa room's library.
std::set<std::string> mnemonics() {
  return {
#define FORETRACE_OPCODE(name) #name,
#include "model/isa/opcodes.def"
#undef FORETRACE_OPCODE
  };
}

class OpcodeTables : public ::testing::TestWithParam<std::pair<const char*, std::set<std::string>>> {};

TEST_P(OpcodeTables, HaveARowForAllButWhatTheMachineCodeLacks) {
  const spec::GpuSpec spec = load_gpu(GetParam().first, {}, {}, kConfigs).spec;
  for (const std::string& name : mnemonics()) {
    const bool lacks = GetParam().second.contains(name);
    EXPECT_EQ(find_opcode(spec, name) == nullptr, lacks)
        << name << (lacks ? " has a row" : " has no row") << " in sm_" << spec.sm_number;
  }
}

TEST_P(OpcodeTables, NameOnlyMnemonicsThatExist) {
  const std::set<std::string> known = mnemonics();
  for (const auto& row : load_gpu(GetParam().first, {}, {}, kConfigs).spec.opcodes) {
    EXPECT_TRUE(known.contains(row.pattern.substr(0, row.pattern.find('.')))) << row.pattern;
  }
}

// docs/sources.md:SASS-NOTES, inventory of mnemonics by machine code; UPRMT is in code of our own for sm_80.
const std::set<std::string> kNotOnSm80 = {
    "ACQBULK",       "ACQSHMINIT", "BGMMA",     "BRXU",     "CGAERRBAR", "CREDUX",   "ELECT",
    "ENDCOLLECTIVE", "F2IP",       "FADD2",     "FENCE",    "FFMA2",     "FHADD",    "FHFMA",
    "FMNMX3",        "FMUL2",      "HGMMA",     "I2FP",     "IADD",      "IGMMA",    "LDCU",
    "OMMA",          "PREEXIT",    "QGMMA",     "QMMA",     "REDAS",     "REDG",     "REDS",
    "STAS",          "STSM",       "SYNCS",     "UBLKCP",   "UBLKPF",    "UBLKRED",  "UCGABAR_ARV",
    "UCGABAR_WAIT",  "UCS2R",      "UF2F",      "UF2FP",    "UF2I",      "UFADD",    "UFFMA",
    "UFMNMX",        "UFMUL",      "UFRND",     "UFSEL",    "UFSET",     "UFSETP",   "UGETNEXTWORKID",
    "UI2F",          "UI2FP",      "UIABS",     "UIADD",    "UIMNMX",    "UMEMSETS", "UTMACCTL",
    "UTMACMDFLUSH",  "UTMALDG",    "UTMAPF",    "UTMAREDG", "UTMASTG",   "UVIADD",   "UVIMNMX",
    "VHMNMX",        "VIADD",      "VIADDMNMX", "VIMNMX",   "VIMNMX3",   "WARPGROUP"};
const std::set<std::string> kNotOnSm90 = {
    "ACQSHMINIT", "BRXU",   "CREDUX",   "FADD2",  "FFMA2",          "FHADD", "FHFMA",  "FMNMX3",
    "FMUL2",      "IADD",   "IMNMX",    "LDCU",   "OMMA",           "QMMA",  "RED",    "REDS",
    "UCS2R",      "UF2F",   "UF2FP",    "UF2I",   "UFADD",          "UFFMA", "UFMNMX", "UFMUL",
    "UFRND",      "UFSEL",  "UFSET",    "UFSETP", "UGETNEXTWORKID", "UI2F",  "UI2FP",  "UIABS",
    "UIADD",      "UIMNMX", "UMEMSETS", "UVIADD", "UVIMNMX"};
// What ptxas 13.0 makes of products of bytes and of eight-bit floats for sm_100a: IMMA, and HMMA behind conversions.
const std::set<std::string> kNotOnSm100 = {"BGMMA", "BMMA", "HGMMA", "IGMMA", "OMMA",
                                           "QGMMA", "QMMA", "RED",   "ULDC",  "WARPGROUP"};
const std::set<std::string> kNotOnSm120 = {"BGMMA",    "BMMA",      "FADD2",     "FFMA2",   "FMUL2",
                                           "HGMMA",    "IGMMA",     "QGMMA",     "RED",     "ULDC",
                                           "VABSDIFF", "VABSDIFF4", "VIADDMNMX", "VIMNMX3", "WARPGROUP"};

std::set<std::string> without(std::set<std::string> all, std::initializer_list<const char*> names) {
  for (const char* name : names) all.erase(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chips, OpcodeTables,
                         ::testing::Values(std::pair{"a100", kNotOnSm80},
                                           std::pair{"rtx3090", without(kNotOnSm80, {"I2FP"})},
                                           std::pair{"rtx4090", without(kNotOnSm80, {"I2FP", "QMMA"})},
                                           std::pair{"h100", kNotOnSm90}, std::pair{"b200-sxm", kNotOnSm100},
                                           std::pair{"gb203", kNotOnSm120}));

// Products per clock and SM that the white papers publish of the chips with code for sm_120.
TEST(TensorRates, AreThePublishedOnesOnSm120) {
  const auto products = [](const char* chip, const char* opcode, std::uint32_t each) {
    const spec::GpuSpec gpu = load_gpu(chip, {}, {}, kConfigs).spec;
    const spec::OpcodeSpec* row = find_opcode(gpu, opcode);
    const auto pipe = static_cast<std::size_t>(spec::Pipe::tensor);
    const std::uint32_t interval = row->interval != 0 ? row->interval : gpu.pipe.at(pipe).interval;
    return 4 * each / interval;
  };
  for (const char* chip : {"rtx5070ti", "rtx5090"}) {
    EXPECT_EQ(products(chip, "HMMA.16816.F32", 2048), 256u);
    EXPECT_EQ(products(chip, "HMMA.1688.F32", 1024), 256u);
    EXPECT_EQ(products(chip, "HMMA.1688.F32.TF32", 1024), 128u);
    EXPECT_EQ(products(chip, "QMMA.16832.F32.E4M3.E4M3", 4096), 512u);
  }
  for (const char* chip : {"rtx5070ti", "rtx5090", "rtxpro6000"}) {
    EXPECT_EQ(products(chip, "HMMA.16816.F16", 2048), 512u);
    EXPECT_EQ(products(chip, "HMMA.1688.F16", 1024), 512u);
    EXPECT_EQ(products(chip, "IMMA.16832.S8.S8", 4096), 1024u);
    EXPECT_EQ(products(chip, "IMMA.16816.S8.S8", 2048), 1024u);
    EXPECT_EQ(products(chip, "QMMA.16832.F16.E4M3.E4M3", 4096), 1024u);
    EXPECT_EQ(products(chip, "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", 8192), 2048u);
  }
  EXPECT_EQ(products("rtxpro6000", "HMMA.16816.F32", 2048), 512u);
  EXPECT_EQ(products("rtxpro6000", "HMMA.1688.F32.TF32", 1024), 256u);
}

}  // namespace
}  // namespace foretrace::config
