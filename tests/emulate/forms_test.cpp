// Forms of PTX that few programs hold (conformance/forms.cu), compiled by nvcc and executed, against what the PTX ISA says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "sim/emulate/tensor/tensor_map.h"
#include "tests/emulate/loaded.h"

namespace foretrace::emulate {
namespace {

using Words = std::vector<std::uint32_t>;

class Forms : public testing::TestWithParam<int> {
 protected:
  /// One warp; `words` of out.
  Words run(const std::string& name, const Words& in, std::size_t words) {
    Loaded launch(kernels_of("forms.cu", GetParam()).at(name), {1, 1, 1}, {32, 1, 1});
    launch.buffer(in, "in");
    launch.buffer(Words(words), "out");
    launch.run();
    return launch.read(1, words);
  }
};

/// in[i]: how often lane i arrives; in[32 + i]: whether it does.
Words counts(std::uint32_t most, std::uint32_t lanes) {
  Words in(64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    in[i] = 1 + i * 7 % most;
    in[32 + i] = lanes >> i & 1;
  }
  return in;
}

/// Each lane is told what was pending before its own arrival: in some order of the lanes, each goes on where another has left off.
void expect_chain(const Words& in, const Words& out, std::uint32_t barrier) {
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t i = barrier; i < 32; i += 2)
    if (in[32 + i] != 0) lanes.push_back(i);
  std::sort(lanes.begin(), lanes.end(), [&](std::uint32_t a, std::uint32_t b) { return out[a] > out[b]; });
  std::uint32_t pending = 1000;
  for (const std::uint32_t lane : lanes) {
    EXPECT_EQ(out[lane], pending) << "lane " << lane;
    pending -= in[lane];
  }
}

TEST_P(Forms, ArriveWithoutCompleting) {
  for (const std::uint32_t most : {1u, 3u, 31u}) {
    for (const std::uint32_t lanes : {~0u, 0x80c05321u, 4u}) {
      for (const bool drops : {false, true}) {
        SCOPED_TRACE(testing::Message() << most << " " << lanes << " " << drops);
        const Words in = counts(most, lanes);
        const Words out = run(drops ? "drop_no_complete" : "arrive_no_complete", in, 36);
        for (std::uint32_t b = 0; b < 2; ++b) {
          expect_chain(in, out, b);
          EXPECT_EQ(out[32 + b], 1u) << "the phase has ended";
          std::uint32_t expected = 1000;
          // Who drops out arrives as often fewer in the next phases.
          for (std::uint32_t i = b; i < 32 && drops; i += 2) expected -= in[32 + i] != 0 ? in[i] : 0;
          EXPECT_EQ(out[34 + b], expected);
        }
      }
    }
  }
}

// --- from sm_100 on -------------------------------------------------------------------------------------------------

class NewForms : public Forms {};

/// The value of a float in few bits.
double value_of(std::uint32_t bits, int fraction, int bias, int sign) {
  const int biased = static_cast<int>((bits & ((1u << sign) - 1)) >> fraction);
  const double part = bits & ((1u << fraction) - 1);
  const double magnitude = biased == 0 ? std::ldexp(part, 1 - bias - fraction)
                                       : std::ldexp(part + (1 << fraction), biased - bias - fraction);
  return (bits >> sign & 1) != 0 ? -magnitude : magnitude;
}
float half_value(std::uint32_t half, bool bfloat) {
  if (bfloat) return std::bit_cast<float>(half << 16);
  if ((half & 0x7c00) == 0x7c00) {
    const float special = (half & 0x3ff) != 0 ? std::nanf("") : std::numeric_limits<float>::infinity();
    return (half & 0x8000) != 0 ? -special : special;
  }
  return static_cast<float>(value_of(half & 0xffff, 10, 15, 15));
}

/// a * b + c in a rounding direction of the host's.
std::uint32_t fused(float a, float b, float c, int direction, bool saturates) {
  std::fesetround(direction);
  volatile const float x = a, y = b, z = c;
  const float r = std::fmaf(x, y, z);
  std::fesetround(FE_TONEAREST);
  if (saturates) return std::bit_cast<std::uint32_t>(r > 1 ? 1.0f : r > 0 ? r : 0.0f);
  return std::isnan(r) ? 0x7fffffff : std::bit_cast<std::uint32_t>(r);
}

TEST_P(NewForms, MixPrecisions) {
  std::mt19937 random(7);
  for (const bool bfloat : {false, true}) {
    for (int round = 0; round < 20; ++round) {
      Words in(64);
      for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random());
      // Results of every size: by themselves, patterns of all exponents hardly ever meet.
      for (std::uint32_t i = 32; i < 64 && round % 2 == 1; ++i)
        in[i] = (in[i] & 0x807fffff) | (112 + in[i] % 31) << 23;
      for (std::uint32_t i = 0; i < 32 && round % 2 == 1 && bfloat; ++i)
        in[i] = (in[i] & 0x807f807f) | 0x3f803f80 | (in[i] >> 7 & 1) << 14;
      in[0] = 0x7e007c00;
      in[1] = 0x00010001;
      in[33] = 0x7f800000;
      const Words out = run(bfloat ? "mixes_bfloats" : "mixes_halves", in, 256);
      for (std::uint32_t i = 0; i < 32; ++i) {
        const float a = half_value(in[i] & 0xffff, bfloat), b = half_value(in[i] >> 16, bfloat),
                    c = std::bit_cast<float>(in[32 + i]);
        const Words expected = {
            fused(a, 1, c, FE_TONEAREST, false),   fused(a, 1, -c, FE_TONEAREST, false),
            fused(b, 1, c, FE_DOWNWARD, true),     fused(a, b, c, FE_TONEAREST, false),
            fused(b, b, c, FE_TOWARDZERO, false),  fused(a, b, c, FE_UPWARD, true),
            fused(-b, a, -c, FE_TONEAREST, false), fused(b, 1, 1.5f, FE_TONEAREST, false)};
        for (std::uint32_t k = 0; k < 8; ++k)
          ASSERT_EQ(out[8 * i + k], expected[k])
              << bfloat << " result " << k << " of " << a << " " << b << " " << c;
      }
    }
  }
}

TEST_P(NewForms, ClearSharedMemory) {
  for (const std::uint32_t bytes : {0u, 8u, 256u, 2048u}) {
    const Words out = run("clears", {bytes}, 1024);
    for (std::uint32_t i = 0; i < 1024; ++i) {
      const bool cleared = (i >= 16 && i < 16 + bytes / 4) || i == 1000 || i == 1001;
      ASSERT_EQ(out[i], cleared ? 0 : i + 1) << bytes;
    }
  }
}

TEST_P(NewForms, ClearingIsAStoreToTheChecks) {
  const auto outcome = [&](std::uint32_t with_barrier) {
    Loaded launch(kernels_of("forms.cu", GetParam()).at("clears_for_others"), {1, 1, 1}, {64, 1, 1});
    launch.context.checks = {true, true, true};
    launch.buffer({with_barrier}, "in");
    launch.buffer(Words(64), "out");
    launch.run();
    return launch.read(1, 64)[63];
  };
  EXPECT_EQ(outcome(1), 5u);
  try {
    outcome(0);
    FAIL();
  } catch (const KernelFault& fault) { EXPECT_EQ(fault.kind(), FaultKind::race) << fault.what(); }
}

TEST_P(NewForms, CopySomeBytesOfEvery16) {
  constexpr std::uint32_t kFactor = 0x01234567;
  for (const std::uint32_t mask : {0x0000u, 0xffffu, 0x8001u, 0x0ff0u, 0x5a3cu}) {
    for (const std::uint32_t bytes : {16u, 1024u}) {
      const Words out = run("copies_some_bytes", {mask, bytes, kFactor}, 8 + 256 + 8);
      for (std::uint32_t i = 0; i < out.size() * 4; ++i) {
        const std::uint32_t byte = i - 32;
        const bool copied = i >= 32 && byte < bytes && (mask >> byte % 16 & 1) != 0;
        ASSERT_EQ(out[i / 4] >> 8 * (i % 4) & 0xff, copied ? byte / 4 * kFactor >> 8 * (byte % 4) & 0xff : 0)
            << mask << " byte " << byte;
      }
    }
  }
}

// --- four rows of a matrix ------------------------------------------------------------------------------------------

/// A matrix of f16 with 100 columns and 40 rows of 256 bytes, whose boxes are a row of 64 columns.
struct Matrix {
  static constexpr std::uint32_t kColumns = 100, kRows = 40, kRowBytes = 256, kBox = 64;
  TensorMap map;
  Words words = Words(kRows * kRowBytes / 4);
  Matrix() {
    map.type = TensorType::f16;
    map.rank = 2;
    map.dims = {kColumns, kRows, 1, 1, 1};
    map.strides[1] = kRowBytes;
    map.box = {kBox, 1, 1, 1, 1};
    std::mt19937 random(5);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  }
  std::uint16_t at(std::int32_t row, std::int32_t column) const {
    const auto element = static_cast<std::uint32_t>(row) * kRowBytes / 2 + static_cast<std::uint32_t>(column);
    return static_cast<std::uint16_t>(words[element / 2] >> 16 * (element % 2));
  }
};

struct Moved {
  Words out, matrix;
};
/// One of the kernels that take a map, where to write and coordinates.
Moved move(int sm, const std::string& name, Matrix matrix, std::vector<std::int32_t> at) {
  Loaded launch(kernels_of("forms.cu", sm).at(name), {1, 1, 1}, {32, 1, 1});
  const std::uint64_t tensor = launch.memory->allocate(matrix.words.size() * 4, "matrix");
  launch.memory->write(tensor, std::as_bytes(std::span(matrix.words)));
  matrix.map.address = tensor;
  Words map(32);
  const TensorMapBytes bytes = encode(matrix.map);
  std::memcpy(map.data(), bytes.data(), bytes.size());
  launch.buffer(map, "map");
  launch.buffer(Words(513), "out");
  at.push_back(static_cast<std::int32_t>(4 * Matrix::kBox * 2));
  launch.buffer(Words(at.begin(), at.end()), "at");
  launch.run();
  Moved moved{launch.read(1, 513), Words(matrix.words.size())};
  launch.memory->read(tensor, std::as_writable_bytes(std::span(moved.matrix)));
  return moved;
}

/// Where the 16 bytes at `at` of four rows of 128 bytes stand.
std::uint32_t swizzled_place(std::uint32_t at, TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::bytes_128 ? at ^ (at / 128 % 8) * 16 : at;
}

TEST_P(NewForms, GatherFourRows) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_128}) {
    for (const std::vector<std::int32_t>& at :
         std::vector<std::vector<std::int32_t>>{{0, 3, 1, 39, 1}, {48, 0, 40, -1, 7}, {-8, 5, 6, 7, 8}}) {
      Matrix matrix;
      matrix.map.swizzle = swizzle;
      const Moved moved = move(GetParam(), "gathers", matrix, at);
      EXPECT_EQ(moved.out[512], 1u) << "all bytes are told, those outside included";
      for (std::uint32_t i = 0; i < 4 * Matrix::kBox; ++i) {
        const std::int32_t row = at[1 + i / Matrix::kBox],
                           column = at[0] + static_cast<std::int32_t>(i % Matrix::kBox);
        const bool inside = row >= 0 && row < static_cast<std::int32_t>(Matrix::kRows) && column >= 0 &&
                            column < static_cast<std::int32_t>(Matrix::kColumns);
        const std::uint32_t place = swizzled_place(2 * i / 16 * 16, swizzle) + 2 * i % 16;
        ASSERT_EQ(moved.out[place / 4] >> 8 * (place % 4) & 0xffff, inside ? matrix.at(row, column) : 0)
            << at[0] << " element " << i;
      }
      for (std::uint32_t i = 4 * Matrix::kBox / 2; i < 512; ++i) ASSERT_EQ(moved.out[i], 0xababababu);
    }
  }
}

/// A format of cvt.rs.
struct Few {
  int fraction, bias, sign;
  std::uint32_t largest, nan;
  int random_bits;
};
constexpr Few kHalf{10, 15, 15, 0x7bff, 0x7fff, 13}, kBfloat16{7, 127, 15, 0x7f7f, 0x7fff, 16},
    kE4m3{3, 7, 7, 0x7e, 0x7f, 8}, kE5m2{2, 15, 7, 0x7b, 0x7f, 8}, kE3m2{2, 3, 5, 0x1f, 0x1f, 8},
    kE2m3{3, 1, 5, 0x1f, 0x1f, 8}, kE2m1{1, 1, 3, 0x7, 0x7, 8};

/// Towards zero or, where the random bits and the first discarded ones carry, the next number of the format.
std::uint32_t by_chance(float x, std::uint32_t random, const Few& to, bool saturates, bool relu) {
  if (std::isnan(x)) return to.nan;
  const std::uint32_t sign = std::signbit(x) ? 1u << to.sign : 0;
  if (sign != 0 && relu) return 0;
  const std::uint32_t most = saturates ? to.largest : to.largest + 1;
  const double magnitude = std::fabs(static_cast<double>(x));
  if (std::isinf(x)) return sign | most;
  if (magnitude == 0) return sign;
  // The format's numbers ascend with their bits.
  std::uint32_t code = 0;
  for (std::uint32_t step = 1u << (to.sign - 1); step != 0; step /= 2)
    if (code + step <= to.largest && value_of(code + step, to.fraction, to.bias, to.sign) <= magnitude)
      code += step;
  const double below = value_of(code, to.fraction, to.bias, to.sign);
  const double gap =
      std::ldexp(1.0, std::max(1, static_cast<int>(code >> to.fraction)) - to.bias - to.fraction);
  const double highest = std::floor((magnitude - below) / gap * (1 << to.random_bits));
  if (highest + (random & ((1u << to.random_bits) - 1)) >= 1 << to.random_bits) ++code;
  return sign | std::min(code, most);
}

/// Of every size that matters to the formats, and what is not finite.
Words floats_and_bits(std::mt19937& random) {
  Words in(160);
  for (std::uint32_t i = 0; i < 128; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t kind = static_cast<std::uint32_t>(random()) % 4;
    const std::uint32_t exponent = kind == 0 ? bits >> 23 & 0xff : 100 + (bits >> 23) % (kind == 1 ? 44 : 32);
    in[i] = (bits & 0x807fffff) | exponent << 23;
  }
  const std::uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffffffff,
                                   0x7f7fffff, 0xff7fffff, 0x477fe000, 0x47800000, 0x43e00000, 0x00000001};
  std::copy(std::begin(special), std::end(special), in.begin() + 10);
  for (std::uint32_t i = 128; i < 160; ++i) in[i] = static_cast<std::uint32_t>(random());
  in[128] = 0;
  in[129] = ~0u;
  return in;
}

/// What sm_100a has and sm_120 has not.
class Sm100Forms : public Forms {};

TEST_P(Sm100Forms, RoundsAsItsBitsSay) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const Words in = floats_and_bits(random);
    for (const bool narrower : {false, true}) {
      const Words out = run(narrower ? "rounds_narrower" : "rounds_stochastically", in, 128);
      for (std::uint32_t i = 0; i < 32; ++i) {
        float x[4];
        for (std::uint32_t k = 0; k < 4; ++k) x[k] = std::bit_cast<float>(in[32 * k + i]);
        const std::uint32_t bits = in[128 + i];
        const auto two = [&](const Few& to, bool saturates) {
          return by_chance(x[0], bits >> 16, to, saturates, narrower) << 16 |
                 by_chance(x[1], bits & 0xffff, to, saturates, narrower);
        };
        const auto four = [&](const Few& to, bool relu) {
          std::uint32_t all = 0;
          for (std::uint32_t k = 0; k < 4; ++k)
            all |= by_chance(x[k], bits >> (24 - 8 * k) & 0xff, to, true, relu) << (24 - 8 * k);
          return all;
        };
        const Words expected = {two(kHalf, true), two(kBfloat16, narrower),
                                narrower ? four(kE3m2, false) : four(kE4m3, false),
                                narrower ? four(kE2m3, true) : four(kE5m2, false)};
        for (std::uint32_t k = 0; k < 4; ++k)
          ASSERT_EQ(out[4 * i + k], expected[k])
              << narrower << " result " << k << " of " << x[0] << " " << x[1] << " " << x[2] << " " << x[3];
      }
    }
  }
}

TEST_P(Sm100Forms, ScatterFourRows) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_128}) {
    for (const std::vector<std::int32_t>& at :
         std::vector<std::vector<std::int32_t>>{{0, 3, 1, 39, 2}, {48, 0, 40, 12, 7}}) {
      Matrix matrix;
      matrix.map.swizzle = swizzle;
      const Moved moved = move(GetParam(), "scatters", matrix, at);
      Matrix want = matrix;
      for (std::uint32_t i = 0; i < 4 * Matrix::kBox; ++i) {
        const std::uint32_t row = static_cast<std::uint32_t>(at[1 + i / Matrix::kBox]),
                            column = static_cast<std::uint32_t>(at[0]) + i % Matrix::kBox;
        if (row >= Matrix::kRows || column >= Matrix::kColumns) continue;
        const std::uint32_t place = swizzled_place(2 * i / 16 * 16, swizzle) + 2 * i % 16;
        const std::uint32_t half = (place / 4 + 1) >> 8 * (place % 4) & 0xffff;
        std::uint32_t& word = want.words[row * Matrix::kRowBytes / 4 + column / 2];
        word = column % 2 == 0 ? (word & 0xffff0000) | half : (word & 0xffff) | half << 16;
      }
      EXPECT_EQ(moved.matrix, want.words);
    }
  }
}

/// What ends a kernel that takes a map.
std::string end_of(const std::string& name, const Matrix& matrix, const std::vector<std::int32_t>& at,
                   FaultKind kind) {
  try {
    move(100, name, matrix, at);
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), kind) << fault.what();
    return fault.what();
  }
  return "nothing";
}

TEST_P(Sm100Forms, FourRowsNeedABoxOfOneAndAreWrittenInsideAlone) {
  Matrix matrix;
  EXPECT_NE(end_of("scatters", matrix, {0, 3, -1, 4, 5}, FaultKind::illegal_instruction)
                .find("coordinate -1 of dimension 1 of a tensor that is written; expected 0 or more"),
            std::string::npos);
  matrix.map.box[1] = 4;
  EXPECT_NE(end_of("gathers", matrix, {0, 1, 2, 3, 4}, FaultKind::illegal_instruction)
                .find("a tensor map with boxes of 4 rows for a copy that names four rows; expected 1"),
            std::string::npos);
}

TEST_P(Sm100Forms, CopiesThatAreNotKnownSayWhy) {
  EXPECT_NE(end_of("loads_wide", Matrix(), {0}, FaultKind::illegal_instruction)
                .find("has 2 dimensions; the instruction takes 3"),
            std::string::npos);
  EXPECT_NE(end_of("loads_for_two", Matrix(), {0}, FaultKind::unsupported).find("2CTA"), std::string::npos);
}

TEST_P(Sm100Forms, HalvesBeyondTheLargest) {
  Words in(160);
  in[0] = in[1] = 0x477ff000;  // 65520
  in[2] = 0xff800000;
  in[129] = ~0u;
  const Words out = run("rounds_to_half", in, 32);
  EXPECT_EQ(out[0], 0x7bff0000u);
  EXPECT_EQ(out[1], 0x7c000000u);
  EXPECT_EQ(out[2], 0xfc000000u);
  in[3] = 0x47800000;  // 65536
  try {
    run("rounds_to_half", in, 32);
    FAIL();
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::unsupported);
    EXPECT_NE(std::string(fault.what()).find("the PTX ISA does not say"), std::string::npos) << fault.what();
  }
}

TEST_P(Sm100Forms, RoundsToFourBitsAsItsBitsSay) {
  std::mt19937 random(13);
  for (int round = 0; round < 60; ++round) {
    const Words in = floats_and_bits(random);
    const Words out = run("rounds_to_fours", in, 32);
    for (std::uint32_t i = 0; i < 32; ++i) {
      constexpr std::uint32_t kByte[] = {3, 1, 2, 0};  // of the random bits, from the highest number down
      std::uint32_t expected = 0;
      for (std::uint32_t k = 0; k < 4; ++k)
        expected = expected << 4 | by_chance(std::bit_cast<float>(in[32 * k + i]),
                                             in[128 + i] >> 8 * kByte[k] & 0xff, kE2m1, true, false);
      ASSERT_EQ(out[i], expected) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, NewForms, testing::Values(100, 120),
                         [](const auto& i) { return "sm_" + std::to_string(i.param); });
INSTANTIATE_TEST_SUITE_P(Architectures, Sm100Forms, testing::Values(100),
                         [](const auto& i) { return "sm_" + std::to_string(i.param); });
INSTANTIATE_TEST_SUITE_P(Architectures, Forms, testing::Values(90, 100, 120),
                         [](const auto& i) { return "sm_" + std::to_string(i.param); });

}  // namespace
}  // namespace foretrace::emulate
