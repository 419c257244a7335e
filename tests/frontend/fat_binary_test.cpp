// Fat binaries of nvcc 13.0 (data/fat/scale.cu for sm_80, sm_90 with PTX, sm_90a and sm_120f): what they hold, uncompressed, LZ4
// and zstd, which entry a chip takes, and what is refused.
#include "sim/frontend/fat_binary.h"

#include <gtest/gtest.h>

#include <cstring>

#include "model/units/error.h"
#include "sim/frontend/ptx.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

std::vector<std::byte> fat_file(const std::string& mode) {
  return read_file(data_path("fat/scale." + mode + ".fatbin"));
}

std::string names_of(const std::vector<FatEntry>& entries) {
  std::string names;
  for (const FatEntry& entry : entries) names += entry_name(entry) + " ";
  return names;
}

std::string best(const std::vector<FatEntry>& entries, int sm) {
  const FatEntry* entry = best_entry(entries, sm);
  return entry == nullptr ? "none" : entry_name(*entry);
}

std::string best_text(const std::vector<FatEntry>& entries, int sm) {
  const FatEntry* entry = best_ptx(entries, sm);
  return entry == nullptr ? "none" : entry_name(*entry);
}

TEST(FatBinary, PtxIsForAnyChipOfItsOwnOrAHigherRevision) {
  const auto file = fat_file("none");
  std::vector<FatEntry> entries = read_fat_binary(file, "none");
  EXPECT_EQ(best_text(entries, 89), "none");
  EXPECT_EQ(best_text(entries, 90), "compute_90");
  EXPECT_EQ(best_text(entries, 120), "compute_90");
  FatEntry specific = entries[2], family = entries[2];
  specific.variant = EntryVariant::specific;
  family.variant = EntryVariant::family;
  family.sm = 120;
  entries.push_back(specific);
  entries.push_back(family);
  EXPECT_EQ(best_text(entries, 90), "compute_90a");
  EXPECT_EQ(best_text(entries, 100), "compute_90");
  EXPECT_EQ(best_text(entries, 120), "compute_120f");
  EXPECT_EQ(best_text(entries, 121), "compute_120f");
}

TEST(Ptx, HeadAndWhoRunsIt) {
  EXPECT_TRUE(is_ptx("// made by hand\n/* two\nlines */ .version 8.0\n.target sm_80\n"));
  EXPECT_FALSE(is_ptx("no code at all"));
  EXPECT_FALSE(is_ptx("// .version 8.0"));
  EXPECT_EQ(ptx_head(".version 8.0\n.target sm_90a, texmode_independent\n").sm, 90);
  const PtxHead plain = ptx_head(".version 8.0\n.target sm_80\n"),
                specific = ptx_head(".version 8.0\n.target sm_90a\n"),
                family = ptx_head(".version 8.8\n.target sm_100f\n");
  EXPECT_TRUE(ptx_runs_on(plain, 80) && ptx_runs_on(plain, 120) && !ptx_runs_on(plain, 75));
  EXPECT_TRUE(ptx_runs_on(specific, 90) && !ptx_runs_on(specific, 100));
  EXPECT_TRUE(ptx_runs_on(family, 103) && !ptx_runs_on(family, 120));
}

TEST(FatBinary, EveryCompressionHoldsTheSameBytes) {
  const auto plain_file = fat_file("none");
  const auto plain = read_fat_binary(plain_file, "none");
  EXPECT_EQ(names_of(plain), "sm_80 sm_90 compute_90 sm_90a sm_120f ");
  bool lz4 = false, zstd = false;
  for (const char* mode : {"size", "speed"}) {
    const auto file = fat_file(mode);
    const auto packed = read_fat_binary(file, mode);
    ASSERT_EQ(names_of(packed), names_of(plain)) << mode;
    for (std::size_t i = 0; i < packed.size(); ++i) {
      lz4 = lz4 || packed[i].compression == EntryCompression::lz4;
      zstd = zstd || packed[i].compression == EntryCompression::zstd;
      const auto contents = entry_contents(packed[i], mode);
      const auto expected = entry_contents(plain[i], "none");
      // Uncompressed entries are padded to eight bytes; their first bytes are the same.
      ASSERT_LE(contents.size(), expected.size()) << mode << " " << i;
      if (plain[i].kind != EntryKind::elf) {
        EXPECT_TRUE(std::equal(contents.begin(), contents.end(), expected.begin())) << mode << " " << i;
      } else {
        EXPECT_EQ(read_cubin(contents, mode).kernels.at(0).text,
                  read_cubin(expected, mode).kernels.at(0).text);
      }
    }
  }
  EXPECT_TRUE(lz4);
  EXPECT_TRUE(zstd);
}

TEST(FatBinary, AChipTakesItsOwnCodeElseThatOfALowerMinorRevision) {
  const auto file = fat_file("none");
  auto entries = read_fat_binary(file, "x");
  EXPECT_EQ(best(entries, 90), "sm_90a");
  EXPECT_EQ(best(entries, 80), "sm_80");
  EXPECT_EQ(best(entries, 86), "sm_80");
  EXPECT_EQ(best(entries, 120), "sm_120f");
  EXPECT_EQ(best(entries, 121), "sm_120f");
  EXPECT_EQ(best(entries, 100), "none");
  EXPECT_EQ(best(entries, 75), "none");
  entries[0].sm = 86;
  EXPECT_EQ(best(entries, 80), "none") << "code of a higher minor revision does not run";
  entries.erase(entries.begin() + 1);  // sm_90
  EXPECT_EQ(best(entries, 91), "none") << "sm_90a runs on 9.0 alone, and PTX is not machine code";
  EXPECT_EQ(missing_code_message(entries, 91),
            "no machine code for sm_91: the program has sm_86, PTX for compute_90, sm_90a, sm_120f; compile "
            "it with nvcc "
            "-gencode arch=compute_91,code=sm_91");
  EXPECT_NE(missing_code_message({}, 80).find("has none"), std::string::npos);
}

TEST(FatBinary, IsFoundThroughItsWrapper) {
  const auto file = fat_file("size");
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* prelinked = nullptr;
  } wrapper;
  wrapper.data = file.data();
  for (const std::uint32_t version : {1u, 2u}) {
    wrapper.version = version;
    const auto found = fat_binary_in_memory(&wrapper, "x");
    EXPECT_EQ(found.data(), file.data());
    EXPECT_EQ(found.size(), file.size());
  }
  EXPECT_EQ(fat_binary_in_memory(file.data(), "x").size(), file.size());
  wrapper.version = 3;
  EXPECT_EQ(message_of<InputError>([&] { fat_binary_in_memory(&wrapper, "x"); }),
            "x: a fat binary's wrapper of version 3, expected 1 or 2");
  wrapper.version = 1;
  wrapper.data = &wrapper.prelinked;
  EXPECT_EQ(message_of<InputError>([&] { fat_binary_in_memory(&wrapper, "x"); }),
            "x: no fat binary: magic number 00000000, expected ba55ed50");
  EXPECT_NE(message_of<InputError>([&] { fat_binary_in_memory(nullptr, "x"); }), "no error");
}

TEST(FatBinary, ABareCubinInMemorySaysHowLongItIs) {
  for (const int sm : kArchitectures) {
    const auto file = read_file(corpus_path(sm));
    EXPECT_EQ(elf_in_memory(file.data(), "x").size(), file.size()) << sm;
  }
  const auto fat = fat_file("none");
  EXPECT_EQ(message_of<InputError>([&] { elf_in_memory(fat.data(), "x"); }), "x: no ELF-64 file in memory");
  EXPECT_EQ(message_of<InputError>([] { elf_in_memory(nullptr, "x"); }), "x: no ELF-64 file in memory");
}

TEST(FatBinary, DamagedFilesAreRefused) {
  const auto good = fat_file("size");
  const auto error_of = [&](std::size_t at, std::uint8_t value) {
    auto bad = good;
    bad[at] = std::byte{value};
    return message_of<InputError>([&] {
      for (const FatEntry& entry : read_fat_binary(bad, "x")) entry_contents(entry, "x");
    });
  };
  EXPECT_NE(error_of(0, 0).find("magic number"), std::string::npos);
  EXPECT_NE(error_of(9, 0x77).find("only"), std::string::npos);
  EXPECT_NE(error_of(16 + 9, 0x77).find("runs over its end"), std::string::npos);
  EXPECT_NE(error_of(16 + 4, 0x10).find("runs over its end"), std::string::npos) << "a header of 16 bytes";
  EXPECT_NE(error_of(16 + 17, 0x77).find("compressed bytes"), std::string::npos);
  EXPECT_NE(error_of(16 + 59, 0x3f).find("compressed bytes"), std::string::npos) << "1008 MiB out of 4 KiB";
  EXPECT_NE(error_of(16 + 57, 0x01).find("is damaged"), std::string::npos) << "another size than comes out";
  EXPECT_NE(error_of(16 + 64 + 1, 0x00).find("is damaged"), std::string::npos) << "no zstd frame";
  EXPECT_EQ(error_of(16 + 64 + 2, static_cast<std::uint8_t>(good[16 + 64 + 2])), "no error");
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, std::size_t{70}, good.size() - 1}) {
    EXPECT_NE(message_of<InputError>([&] { read_fat_binary(std::span(good).first(size), "x"); }), "no error")
        << size;
  }
  const auto lz4_file = fat_file("speed");
  for (const FatEntry& entry : read_fat_binary(lz4_file, "x")) {
    if (entry.compression != EntryCompression::lz4) continue;
    FatEntry cut = entry;
    cut.payload = cut.payload.first(cut.payload.size() / 2);
    EXPECT_NE(message_of<InputError>([&] { entry_contents(cut, "x"); }).find("is damaged"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace foretrace::frontend
