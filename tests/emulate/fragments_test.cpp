// Products of matrices by a warp, with known answers: where fragments stand, and signs.
#include <gtest/gtest.h>

#include <bit>

#include <fmt/format.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Lanes = std::vector<std::uint32_t>;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(Tensors, FragmentsOfSixteenByEightBySixteen) {
  // A[i][k] = i + 16 k, B[k][j] = k - j, as small whole numbers: the product is exact in every order.
  const auto half = [](int v) -> std::uint32_t {
    if (v == 0) return 0;
    const int m = std::abs(v), e = std::ilogb(m);
    return static_cast<std::uint32_t>((v < 0 ? 0x8000 : 0) | (e + 15) << 10 | ((m << (10 - e)) & 0x3ff));
  };
  std::vector<Lanes> inputs(6, Lanes(32));
  for (int l = 0; l < 32; ++l) {
    const int g = l / 4, t = l % 4;
    const auto lane = static_cast<std::size_t>(l);
    for (int r = 0; r < 4; ++r) {
      const int row = g + 8 * (r & 1), k = 2 * t + 8 * (r >> 1);
      inputs[static_cast<std::size_t>(r)][lane] = half(row + 16 * (k % 4)) | half(row + 16 * ((k + 1) % 4))
                                                                                 << 16;
    }
    for (int r = 0; r < 2; ++r) {
      const int k = 2 * t + 8 * r;
      inputs[static_cast<std::size_t>(4 + r)][lane] = half(k - g) | half(k + 1 - g) << 16;
    }
  }
  // The inputs' registers start at R4; the results' at R8, so A and B are moved away first.
  const char* program = R"(MOV R16, R4
    MOV R17, R5
    MOV R18, R6
    MOV R19, R7
    MOV R20, R8
    MOV R21, R9
    HMMA.16816.F32 R8, R16, R20, RZ)";
  const auto got = compute(program, inputs, 4);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += (i + 16 * (k % 4)) * (k - j);
      const int lane = i % 8 * 4 + j / 2, reg = i / 8 * 2 + j % 2;
      EXPECT_EQ(got[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)],
                bits(static_cast<float>(sum)))
          << i << "," << j;
    }
  }
}

TEST(Tensors, ProductsOfDoublesTakeSigns) {
  std::vector<Lanes> inputs(8, Lanes(32));
  const auto put = [&inputs](std::size_t reg, std::size_t lane, double value) {
    const auto word = std::bit_cast<std::uint64_t>(value);
    inputs[reg][lane] = static_cast<std::uint32_t>(word);
    inputs[reg + 1][lane] = static_cast<std::uint32_t>(word >> 32);
  };
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const int g = static_cast<int>(lane) / 4, t = static_cast<int>(lane) % 4;
    put(0, lane, g + 10 * t);     // A[g][t]
    put(2, lane, t - g);          // B[t][g]
    put(4, lane, 8 * g + 2 * t);  // C[g][2 t]
    put(6, lane, 8 * g + 2 * t + 1);
  }
  const auto check = [&](const char* a, const char* b, const char* c, int product, int sum) {
    const std::string program = fmt::format(
        "MOV R16, R4\nMOV R17, R5\nMOV R18, R6\nMOV R19, R7\nDMMA.8x8x4 R8, {}R16, {}R18, {}R8", a, b, c);
    const auto got = compute(program.c_str(), inputs, 4);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        double want = sum * (8 * i + j);
        for (int k = 0; k < 4; ++k) want += product * (i + 10 * k) * (k - j);
        const auto lane = static_cast<std::size_t>(4 * i + j / 2), reg = static_cast<std::size_t>(j % 2 * 2);
        EXPECT_EQ(std::bit_cast<double>(std::uint64_t{got[reg + 1][lane]} << 32 | got[reg][lane]), want)
            << program << ": " << i << "," << j;
      }
    }
  };
  check("", "", "", 1, 1);
  check("-", "", "", -1, 1);
  check("", "-", "-", -1, -1);
  check("-", "-", "-", 1, -1);
}

}  // namespace
}  // namespace foretrace::emulate
