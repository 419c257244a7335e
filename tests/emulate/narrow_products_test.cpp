// Products of narrow floats of sm_120 (QMMA, OMMA; scaled, sparse) and the matrix loads and stores of bytes beside them. The references are
// sums of doubles over operands whose sums are exact; places are worked out from the PTX ISA's figures, element by element.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

using Registers = std::vector<std::array<std::uint32_t, 32>>;

/// `lines` with R12 and on set to `inputs`; gives R8 to R11.
Registers run_on(const std::string& lines, const Registers& inputs) {
  std::string text = R"(
    S2R R0, SR_TID.X
    MOV R2, c[0x0][0x380]
    MOV R3, c[0x0][0x384]
    IMAD.WIDE.U32 R2, R0, 0x4, R2
)";
  std::vector<std::uint32_t> data;
  std::ostringstream loads;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    loads << "LDG.E R" << std::dec << 12 + i << ", [R2.64+0x" << std::hex << i * 128 << "]\n";
    data.insert(data.end(), inputs[i].begin(), inputs[i].end());
  }
  text += loads.str() + lines + "\n";
  std::ostringstream stores;
  for (std::size_t i = 0; i < 4; ++i)
    stores << "STG.E [R2.64+0x" << std::hex << (inputs.size() + i) * 128 << "], R" << std::dec << 8 + i
           << "\n";
  Assembled a(text + stores.str() + "EXIT\n", 32, 2, 120);
  data.resize((inputs.size() + 4) * 32);
  const std::uint64_t address = a.buffer(0, data, "data");
  a.context.dynamic_shared = 4096;
  a.run();
  const auto words = a.read(address + inputs.size() * 128, 128);
  Registers out(4);
  for (std::size_t i = 0; i < 128; ++i) out[i / 32][i % 32] = words[i];
  return out;
}

struct Type {
  const char* name;
  int bits, exponent_bits, fraction, bias;
};
constexpr Type kTypes[] = {{"E4M3", 8, 4, 3, 7},
                           {"E5M2", 8, 5, 2, 15},
                           {"E3M2", 6, 3, 2, 3},
                           {"E2M3", 6, 2, 3, 1},
                           {"E2M1", 4, 2, 1, 1}};

double value_of(std::uint32_t bits, const Type& t) {
  const int exponent = static_cast<int>(bits >> t.fraction) & ((1 << t.exponent_bits) - 1);
  const double fraction = bits & ((1u << t.fraction) - 1), one = 1 << t.fraction;
  const double magnitude = exponent == 0 ? std::ldexp(fraction / one, 1 - t.bias)
                                         : std::ldexp(1 + fraction / one, exponent - t.bias);
  return (bits >> (t.bits - 1) & 1) != 0 ? -magnitude : magnitude;
}
/// Of exponents not far from 0, so that sums are exact.
std::uint32_t any(std::mt19937& random, const Type& t) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (t.bits != 8) return bits & ((1u << t.bits) - 1);
  const std::uint32_t exponent = static_cast<std::uint32_t>(t.bias) - 2 + bits % 4;
  return (bits >> 8 & 1) << 7 | exponent << t.fraction | (bits >> 9 & ((1u << t.fraction) - 1));
}

struct Case {
  const char* instruction;  // up to the types
  int k = 32;
  bool packed = false, sparse = false;
  int blocks = 0;  // of scales; 0: none
  bool float_scale = false;
};

/// A matrix of random elements, put where the instruction takes them; rows of B are columns.
struct Matrix {
  std::vector<std::vector<double>> values;
  Registers registers;
  Matrix(std::mt19937& random, const Type& t, int lines, int k, bool packed) : registers(4) {
    for (int line = 0; line < lines; ++line) {
      values.emplace_back();
      for (int i = 0; i < k; ++i) {
        const std::uint32_t bits = any(random, t);
        values.back().push_back(value_of(bits, t));
        const int width = packed ? 4 : 8, per = 32 / width, quarter = 4 * per;
        const auto reg = static_cast<std::size_t>(i / quarter * (lines / 8) + line / 8),
                   lane = static_cast<std::size_t>(line % 8 * 4 + i % quarter / per);
        registers[reg][lane] |= (packed || t.bits != 4 ? bits : bits << 2) << (i % per * width);
      }
    }
  }
};

void check(const Case& c, const Type& ta, const Type& tb, unsigned seed) {
  std::mt19937 random(seed);
  const int stored = c.sparse ? c.k / 2 : c.k, pair = c.packed ? 2 : 1;
  const Matrix a(random, ta, 16, stored, c.packed), b(random, tb, 8, c.k, c.packed);
  Registers inputs = a.registers;
  inputs.insert(inputs.end(), b.registers.begin(), b.registers.end());
  inputs.resize(15);  // R20.. sums, R24 metadata, R25 and R26 scales
  std::vector<std::vector<int>> columns(16);
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < stored; i += 2 * pair) {
      if (!c.sparse) {
        for (int j = 0; j < 2 * pair; ++j) columns[row].push_back(i + j);
        continue;
      }
      const int first = static_cast<int>(random() % 3),
                second = first + 1 + static_cast<int>(random() % static_cast<unsigned>(3 - first));
      const int piece = i / (2 * pair);
      for (const int place : {first, second})
        for (int j = 0; j < pair; ++j) columns[row].push_back((4 * piece + place) * pair + j);
      const auto lane = static_cast<std::size_t>(row % 8 * 4 + row / 8 + piece / 8 * 2);
      inputs[12][lane] |= static_cast<std::uint32_t>(first | second << 2) << (4 * (piece % 8));
    }
  }
  // Selectors: byte 2 of A where one or two bytes are taken, lanes 2 and 3; byte 1 (two bytes: 2) of B, lane 3.
  const std::uint32_t byte_a = c.blocks == 4 ? 0 : 2,
                      byte_b = c.blocks == 4   ? 0
                               : c.blocks == 2 ? 2
                                               : 1,
                      selectors = byte_a | 1 << 2 | byte_b << 3 | 3 << 5;
  const auto scale = [&](std::uint32_t byte) {
    return c.float_scale ? value_of(byte, kTypes[0]) : std::ldexp(1.0, static_cast<int>(byte) - 127);
  };
  std::vector<std::vector<double>> scales_a(16), scales_b(8);
  for (int block = 0; block < c.blocks; ++block) {
    for (int line = 0; line < 24; ++line) {
      const std::uint32_t byte = c.float_scale ? 0x30 + random() % 16 : 126 + random() % 3;
      const bool of_a = line < 16;
      const auto lane = static_cast<std::size_t>(line % 8 * 4 + (of_a ? 2 + line / 8 : 3));
      inputs[of_a ? 13 : 14][lane] |= byte
                                      << (8 * ((of_a ? byte_a : byte_b) + static_cast<std::uint32_t>(block)));
      (of_a ? scales_a[line] : scales_b[line - 16]).push_back(scale(byte));
    }
  }
  std::ostringstream lines;
  for (int i = 0; i < 4; ++i) lines << "MOV R" << 8 + i << ", R" << 20 + i << "\n";
  lines << "UMOV UR6, 0x" << std::hex << selectors << "\n"
        << c.instruction << "." << ta.name << "." << tb.name;
  if (c.blocks != 0) lines << (c.float_scale ? ".UE4M3.4X" : ".E8");
  lines << " R8, R12, R16, R8"
        << (c.sparse        ? ", R24"
            : c.blocks != 0 ? ", R25"
                            : "")
        << (c.blocks != 0 ? ", R26, UR6" : "") << (c.sparse ? ", 0x0" : "");
  for (std::size_t r = 8; r < 12; ++r)
    for (std::uint32_t& word : inputs[r])
      word = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 64) - 32);
  const Registers out = run_on(lines.str(), inputs);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      const auto reg = static_cast<std::size_t>(row / 8 * 2 + column % 2),
                 lane = static_cast<std::size_t>(row % 8 * 4 + column / 2);
      double sum = std::bit_cast<float>(inputs[8 + reg][lane]);
      for (int i = 0; i < stored; ++i) {
        const int k = columns[row][i], block = c.blocks == 0 ? 0 : k / (c.k / c.blocks);
        const double scales = c.blocks == 0 ? 1 : scales_a[row][block] * scales_b[column][block];
        sum += a.values[row][i] * b.values[column][k] * scales;
      }
      ASSERT_EQ(std::bit_cast<float>(out[reg][lane]), static_cast<float>(sum))
          << lines.str() << " row " << row << " column " << column;
    }
  }
}

TEST(NarrowProducts, OfEveryPairOfTypes) {
  unsigned seed = 1;
  for (const Type& a : kTypes) {
    for (const Type& b : kTypes) {
      check({.instruction = "QMMA.16832.F32"}, a, b, ++seed);
      check({.instruction = "QMMA.SP.16864.F32", .k = 64, .sparse = true}, a, b, ++seed);
    }
  }
}

TEST(NarrowProducts, WithAScaleForEachBlock) {
  unsigned seed = 100;
  for (const Type& a : kTypes) {
    for (const Type& b : kTypes) {
      check({.instruction = "QMMA.SF.16832.F32", .blocks = 1}, a, b, ++seed);
      check({.instruction = "QMMA.SF.SP.16864.F32", .k = 64, .sparse = true, .blocks = 1}, a, b, ++seed);
    }
  }
  const Type& four = kTypes[4];
  check({.instruction = "OMMA.SF.16864.F32", .k = 64, .packed = true, .blocks = 2}, four, four, ++seed);
  check({.instruction = "OMMA.SF.16864.F32", .k = 64, .packed = true, .blocks = 4, .float_scale = true}, four,
        four, ++seed);
  check({.instruction = "OMMA.SF.SP.168128.F32", .k = 128, .packed = true, .sparse = true, .blocks = 2}, four,
        four, ++seed);
  check({.instruction = "OMMA.SF.SP.168128.F32",
         .k = 128,
         .packed = true,
         .sparse = true,
         .blocks = 4,
         .float_scale = true},
        four, four, ++seed);
}

TEST(NarrowProducts, AScaleThatIsNoNumberMakesTheRowNone) {
  Registers inputs(15);
  for (std::uint32_t& word : inputs[0]) word = 0x38383838;  // ones of rows 0 to 7
  for (std::uint32_t& word : inputs[4]) word = 0x38383838;
  for (std::uint32_t& word : inputs[13]) word = 127;
  for (std::uint32_t& word : inputs[14]) word = 127;
  inputs[13][4 * 3] = 0xff;
  const Registers out = run_on("QMMA.SF.16832.F32.E4M3.E4M3.E8 R8, R12, R16, RZ, R25, R26, URZ", inputs);
  EXPECT_EQ(out[0][4 * 3], 0x7fffffffu);
  EXPECT_EQ(out[0][4 * 2], std::bit_cast<std::uint32_t>(16.0f));
}

TEST(NarrowProducts, SparseIntegersOfFourBits) {
  std::mt19937 random(9);
  for (const int k : {64, 128}) {
    Registers inputs(13);
    for (std::size_t r = 0; r < 8; ++r)
      for (std::uint32_t& word : inputs[r]) word = static_cast<std::uint32_t>(random());
    const std::uint32_t pairs[] = {4, 8, 12, 9, 13, 14};
    for (std::uint32_t& word : inputs[12])
      for (int piece = 0; piece < 8; ++piece) word |= pairs[random() % 6] << (4 * piece);
    const int selector = k == 64 ? 1 : 0;
    std::ostringstream lines;
    lines << "IMMA.SP.16" << 8 << k << ".S4.U4 R8, R12.ROW, R16.COL, RZ, R24, 0x" << selector;
    const Registers out = run_on(lines.str(), inputs);
    const auto nibble = [&](std::size_t reg, int lane, int part) {
      return inputs[reg][static_cast<std::size_t>(lane)] >> (4 * part) & 15;
    };
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        int sum = 0;
        for (int i = 0; i < k / 2; ++i) {
          const int piece = i / 4, lane = row % 8 * 4 + row / 8 + (k == 64 ? 2 : piece / 8 * 2);
          const int pair = static_cast<int>(
              inputs[12][static_cast<std::size_t>(lane)] >> (4 * (piece % 8) + 2 * (i / 2 % 2)) & 3);
          const int met = 8 * piece + 2 * pair + i % 2;
          const int a = static_cast<int>(
              nibble(static_cast<std::size_t>(i / 32 * 2 + row / 8), row % 8 * 4 + i % 32 / 8, i % 8));
          const int b = static_cast<int>(
              nibble(static_cast<std::size_t>(4 + met / 32), column * 4 + met % 32 / 8, met % 8));
          sum += (a < 8 ? a : a - 16) * b;
        }
        const auto reg = static_cast<std::size_t>(row / 8 * 2 + column % 2),
                   lane = static_cast<std::size_t>(row % 8 * 4 + column / 2);
        ASSERT_EQ(static_cast<int>(out[reg][lane]), sum) << k << " row " << row << " column " << column;
      }
    }
  }
}

TEST(MatrixBytes, SixAndFourBitsBecomeBytes) {
  // Lane l stores its row: elements (i + l) % 64 of six bits, packed from the first bit on.
  Registers inputs(4);
  for (std::uint32_t l = 0; l < 32; ++l) {
    std::array<std::uint8_t, 16> row{};
    for (std::uint32_t i = 0; i < 16; ++i)
      for (std::uint32_t bit = 0; bit < 6; ++bit)
        if (((i + l) >> bit & 1) != 0)
          row[(6 * i + bit) / 8] =
              static_cast<std::uint8_t>(row[(6 * i + bit) / 8] | 1u << ((6 * i + bit) % 8));
    for (std::size_t r = 0; r < 4; ++r) std::memcpy(&inputs[r][l], row.data() + 4 * r, 4);
  }
  const std::string rows = "IMAD.SHL.U32 R1, R0, 0x10, RZ\nSTS.128 [R1], R12\n";
  Registers out = run_on(rows + "LDSM.U6x16P32TO8.M816.4 R8, [R1]", inputs);
  for (std::uint32_t l = 0; l < 32; ++l)
    for (std::uint32_t t = 0; t < 4; ++t)
      for (std::uint32_t b = 0; b < 4; ++b)
        ASSERT_EQ(out[t][l] >> (8 * b) & 255, (l % 4 * 4 + b + 8 * t + l / 4) % 64) << l;
  out = run_on(rows + "LDSM.U6x16P32TO8.MT1616.2 R8, [R1]", inputs);
  for (std::uint32_t l = 0; l < 32; ++l)
    for (std::uint32_t r = 0; r < 4; ++r)
      for (std::uint32_t b = 0; b < 4; ++b)
        ASSERT_EQ(out[r][l] >> (8 * b) & 255, (l / 4 + r % 2 * 8 + l % 4 * 4 + b + r / 2 * 16) % 64) << l;
  for (std::size_t r = 0; r < 4; ++r) inputs[r].fill(r == 0 ? 0x76543210 : r == 1 ? 0xfedcba98 : 0);
  out = run_on(rows + "LDSM.U4x16P64TO8.M816.2 R8, [R1]", inputs);
  EXPECT_EQ(out[0][3], 0x0f0e0d0cu);
  EXPECT_EQ(out[1][4], 0x03020100u);
}

TEST(MatrixBytes, SumsAreStoredAColumnARow) {
  Registers inputs(2);
  for (std::uint32_t l = 0; l < 32; ++l) {  // byte: row + 16 * column
    const std::uint32_t row = l / 4, column = l % 4 * 2;
    const std::uint32_t first = row | column << 4, second = row | (column + 1) << 4;
    inputs[0][l] = first | second << 8 | (first + 8) << 16 | (second + 8) << 24;
  }
  inputs[1] = inputs[0];
  const Registers out =
      run_on("IMAD.SHL.U32 R1, R0, 0x10, RZ\nSTSM.8.MT168.2 [R1], R12\nLDS.128 R8, [R1]", inputs);
  for (std::uint32_t l = 0; l < 16; ++l)
    for (std::uint32_t i = 0; i < 16; ++i) ASSERT_EQ(out[i / 4][l] >> (i % 4 * 8) & 255, i | l % 8 << 4) << l;
}

}  // namespace
}  // namespace foretrace::emulate
