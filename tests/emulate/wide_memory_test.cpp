// Loads and stores of 32 bytes per lane (sm_100, sm_120): which register has which word, with every hint for L2.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

/// The eight words behind the address that lane 0 is left with in R4 to R7 and R8 to R11, which were all 7, stored by `store`.
std::vector<std::uint32_t> moved(const std::string& load, const std::string& store) {
  std::string text = "LDC.64 R2, c[0x0][0x380]\nLDC.64 R12, c[0x0][0x388]\n";
  for (int r = 4; r < 12; ++r) text += "MOV R" + std::to_string(r) + ", 0x7\n";
  Assembled a(text + load + "\n" + store + "\nEXIT", 1, 4, 120);
  std::vector<std::uint32_t> words(8);
  std::iota(words.begin(), words.end(), 100);
  a.buffer(0, words, "in");
  const std::uint64_t out = a.buffer(2, std::vector<std::uint32_t>(8), "out");
  a.run();
  return a.read(out, 8);
}

using Words = std::vector<std::uint32_t>;

TEST(WideMemory, HintsForL2ChangeNoValue) {
  const Words all{100, 101, 102, 103, 104, 105, 106, 107};
  for (const char* hint : {"ENL2", "EL.EFL2", "ELL2", "EF.ENL2.LTC128B"}) {
    const std::string load = std::string("LDG.E.") + hint + ".256 R8, R4, desc[UR4][R2.64]",
                      store = std::string("STG.E.") + hint + ".256 desc[UR4][R12.64], R4, R8";
    EXPECT_EQ(moved(load, store), all) << hint;
  }
}

TEST(WideMemory, WordsThatAreNotKeptTakeNoRegister) {
  const std::string store = "STG.E.ENL2.256 desc[UR4][R12.64], R4, R8";
  EXPECT_EQ(moved("LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64], 0xaa", store),
            (Words{101, 103, 7, 7, 105, 107, 7, 7}));
  EXPECT_EQ(moved("LDG.E.ELL2.256 R8, R4, desc[UR4][R2.64], 0xcc", store),
            (Words{102, 103, 7, 7, 106, 107, 7, 7}));
  EXPECT_EQ(moved("LDG.E.ELL2.256 R8, R4, desc[UR4][R2.64], 0x81", store),
            (Words{100, 7, 7, 7, 107, 7, 7, 7}));
}

TEST(WideMemory, AReductionToMemoryOfADeviceIsOne) {
  EXPECT_EQ(moved("REDG.E.ADD.MMIO.SYS [R12], R4", "REDG.E.ADD.MMIO.SYS [R12.64+0x4], R5"),
            (Words{7, 7, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace foretrace::emulate
