// Tensor maps: words worked out by hand from the fields' places, and what the driver refuses.
#include "sim/emulate/tensor/tensor_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace foretrace::emulate {
namespace {

std::array<std::uint32_t, 32> words_of(const TensorMap& map) {
  EXPECT_EQ(problem_of(map), "");
  const TensorMapBytes bytes = encode(map);
  std::array<std::uint32_t, 32> words;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

TensorMap halves() {
  TensorMap map;
  map.address = 0x7f0012345600;
  map.type = TensorType::f16;
  map.rank = 2;
  map.dims = {4096, 1024, 1, 1, 1};
  map.strides[1] = 8192;
  map.box = {64, 128, 1, 1, 1};
  map.swizzle = TensorSwizzle::bytes_128;
  map.l2_promotion = 2;
  return map;
}

TensorMap convolution() {
  TensorMap map;
  map.address = 0x10;
  map.type = TensorType::tf32;
  map.rank = 5;
  map.dims = {32, 20, 10, 6, 4};
  map.strides = {0, 128, 2560, 25600, 153600};
  map.element_strides = {1, 2, 2, 1, 1};
  map.swizzle = TensorSwizzle::bytes_64;
  map.nan_fill = true;
  map.walk = BoxWalk::im2col;
  map.lower = {-1, -2, -3};
  map.upper = {1, 2, -4};
  map.channels = 16;
  map.pixels = 64;
  return map;
}

TEST(TensorMap, PutsTheFieldsOfATiledMapWhereTheDriverDoes) {
  std::array<std::uint32_t, 32> want{};
  want[0] = 0x12345600;
  want[1] = 0x7f00;
  want[2] = 0x46310;  // rank 2, f16, 128-byte swizzle, L2 promotion 128 bytes
  want[3] = 0x200;
  want[8] = 4095;
  want[9] = 1023;
  want[13] = 0x3f000000;
  want[14] = 0x7f;
  want[16] = 0x4000;
  want[18] = 0x400;
  EXPECT_EQ(words_of(halves()), want);
}

TEST(TensorMap, PutsTheFieldsOfAnIm2colMapWhereTheDriverDoes) {
  std::array<std::uint32_t, 32> want{};
  want[0] = 0x10;
  want[2] = 0x1c3c1;
  want[3] = 8;
  want[4] = 160;
  want[5] = 1600;
  want[6] = 9600;
  want[8] = 31;
  want[9] = 19;
  want[10] = 9;
  want[11] = 5;
  want[12] = 3;
  want[13] = 0x0f000048;
  want[14] = 0x704177df;
  want[15] = 63;
  want[16] = 4096;
  want[18] = 0x200;
  EXPECT_EQ(words_of(convolution()), want);
}

TensorMap wide() {
  TensorMap map = convolution();
  map.walk = BoxWalk::wide;
  map.lower = {-300, 0, 0};
  map.upper = {299, 0, 0};
  return map;
}

TEST(TensorMap, WideMapsHaveCornersOf16BitsAndAMarkOfTheirOwn) {
  const auto words = words_of(wide());
  EXPECT_EQ(words[2], 0x1c3c1u);
  EXPECT_EQ(words[14], 0x12bfed4u);
  EXPECT_EQ(words[31], 1u);
  TensorMap map = wide();
  EXPECT_EQ(decode_tensor_map(encode(map)).walk, BoxWalk::wide);
  map.walk = BoxWalk::wide_128;
  EXPECT_EQ(decode_tensor_map(encode(map)).walk, BoxWalk::wide_128);
  map.swizzle = TensorSwizzle::bytes_32;
  map.channels = 8;
  EXPECT_EQ(problem_of(map), "a swizzle that such a map does not have; expected 64 or 128 bytes");
  map = wide();
  map.upper[0] = -320;
  EXPECT_EQ(problem_of(map), "a box of pixels from -300 to before -300; expected one at least");
}

TEST(TensorMap, StridesOf36BitsAndMoreHaveTheirUpperBitsApart) {
  TensorMap map = halves();
  map.rank = 3;
  map.dims[2] = 2;
  map.strides[1] = std::uint64_t{0xa} << 36 | 0x120;
  map.strides[2] = std::uint64_t{0x3} << 36;
  const auto words = words_of(map);
  EXPECT_EQ(words[3], 0x12u);
  EXPECT_EQ(words[4], 0u);
  EXPECT_EQ(words[7], 0x3au);
}

TEST(TensorMap, StatesTheBytesOfABoxWithElementStridesRoundedDown) {
  TensorMap map = halves();
  map.element_strides = {4, 3, 1, 1, 1};
  EXPECT_EQ(words_of(map)[16], 2u * (64 / 4) * (128 / 3));
  EXPECT_EQ(words_of(map)[13] & 0x7fff, 3u | 2u << 3);
  EXPECT_EQ(map.box_bytes(), 2u * 64 * 43) << "the copy rounds up, and takes every element of a row";
}

TEST(TensorMap, IsReadBackAsItWas) {
  for (const TensorMap& map : {halves(), convolution(), wide()}) {
    const TensorMap back = decode_tensor_map(encode(map));
    EXPECT_EQ(encode(back), encode(map));
    EXPECT_EQ(back.type, map.type);
    EXPECT_EQ(back.lower, map.lower);
    EXPECT_EQ(back.upper, map.upper);
    EXPECT_EQ(back.box_bytes(), map.box_bytes());
    EXPECT_EQ(back.strides, map.strides);
  }
}

TEST(TensorMap, EveryTypeHasItsCode) {
  const std::uint32_t codes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8};
  for (int t = 0; t < kByteTensorTypes; ++t) {
    TensorMap map = halves();
    map.type = static_cast<TensorType>(t);
    map.box[0] = 16;
    const auto words = words_of(map);
    EXPECT_EQ(words[2] >> 7 & 15, codes[t]) << name_of(map.type);
    EXPECT_EQ(words[2] >> 16 & 1, t >= 11 ? 1u : 0u);
    EXPECT_EQ(decode_tensor_map(encode(map)).type, map.type);
  }
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
  const auto problem = [](auto change) {
    TensorMap map = halves();
    change(map);
    return problem_of(map);
  };
  EXPECT_EQ(problem([](TensorMap&) {}), "");
  EXPECT_EQ(problem([](TensorMap& m) { m.address += 8; }),
            "address 0x7f0012345608; expected a multiple of 16");
  EXPECT_EQ(problem([](TensorMap& m) { m.box[0] = 72; }),
            "144 bytes of a box's inner row; at most 128 with this swizzle");
  EXPECT_EQ(problem([](TensorMap& m) { m.box[0] = 60; }),
            "120 bytes of a box's inner row; expected a multiple of 16");
  EXPECT_NE(problem([](TensorMap& m) { m.box[1] = 257; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.box[1] = 0; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.strides[1] = 8200; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.strides[1] = std::uint64_t{1} << 40; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.dims[1] = 0; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.element_strides[1] = 9; }), "");
  EXPECT_NE(problem([](TensorMap& m) { m.rank = 6; }), "");
  EXPECT_NE(problem([](TensorMap& m) {
              m.type = TensorType::u16;
              m.nan_fill = true;
            }),
            "");
  TensorMap corner = convolution();
  corner.lower[1] = -17;
  EXPECT_EQ(problem_of(corner), "a corner of -17; expected -16 to 15 with 5 dimensions");
}

TEST(TensorMap, HasElementsOfFourAndSixBits) {
  TensorMap map = halves();
  map.type = TensorType::u4;
  map.box[0] = 256;
  EXPECT_EQ(problem_of(map), "");
  EXPECT_EQ(map.box_bytes(), 256u / 2 * 128);
  EXPECT_EQ(decode_tensor_map(encode(map)).type, TensorType::u4);
  map.type = TensorType::u6_padded;
  EXPECT_NE(problem_of(map), "") << "a padded box has 128 elements per row";
  map.box[0] = 128;
  map.address = 0x7f0012345610;
  EXPECT_NE(problem_of(map), "") << "and its tensor begins at a multiple of 32 bytes";
  map.address = 0x7f0012345600;
  EXPECT_EQ(problem_of(map), "");
  EXPECT_EQ(map.box_bytes(), 128u * 6 / 8 * 128) << "padding is not counted";
  EXPECT_EQ(decode_tensor_map(encode(map)).type, TensorType::u6_padded);
  map.dims[0] = 4096 + 64;
  EXPECT_NE(problem_of(map), "");
}

}  // namespace
}  // namespace foretrace::emulate
