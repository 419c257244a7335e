// Boxes along one row of each image (im2col::w, im2col::w::128) on whole programs, against a walk over their pixels.
#include <gtest/gtest.h>

#include "tests/emulate/tensor_boxes.h"

namespace foretrace::emulate {
namespace {

/// 32 channels, 12 columns, 3 rows, 14 images; boxes of 32 channels in columns [lower, 12 + upper).
Copy wide(BoxWalk walk, std::int32_t lower, std::int32_t upper, std::uint32_t stride) {
  Copy copy;
  copy.map.type = TensorType::f16;
  copy.map.rank = 4;
  copy.map.dims = {32, 12, 3, 14, 1};
  copy.map.strides = {0, 64, 768, 2304, 0};
  copy.map.swizzle = TensorSwizzle::bytes_64;
  copy.map.walk = walk;
  copy.map.lower[0] = lower;
  copy.map.upper[0] = upper;
  copy.map.channels = 32;
  copy.map.pixels = walk == BoxWalk::wide_128 ? 128 : 20;
  copy.map.element_strides[1] = stride;
  return copy;
}

/// A pixel of a wide box: where it is from.
struct Pixel {
  int column, image;
};
void check_wide(const Copy& copy, const std::vector<Pixel>& pixels) {
  const Outcome o = run(copy, Way::load);
  std::vector<std::uint8_t> want = o.shared_before;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto [column, image] = pixels[i];
    const bool inside = column >= 0 && column < 12 && image >= 0 && image < 14;
    for (std::size_t b = 0; b < 64; ++b) {
      const int from = image * 2304 + copy.at[2] * 768 + column * 64 + static_cast<int>(b);
      want[swizzled_at(copy.map, 0x400 + i * 64 + b)] =
          inside ? o.tensor_before[static_cast<std::size_t>(from)] : 0;
    }
  }
  EXPECT_EQ(o.shared, want);
  EXPECT_TRUE(o.completed);
}

TEST(TensorLoad, WideBoxesGoAlongOneRowOfEachImage) {
  Copy copy = wide(BoxWalk::wide, -1, -2, 2);
  copy.at = {0, 3, 1, 9};
  copy.offsets = {2, 3};
  copy.halo_bytes = 2 * 64;
  std::vector<Pixel> pixels;
  for (int i = 0, w = 3, n = 9; i < 20; ++i) {
    pixels.push_back({w + 3, n});
    w += 2;
    if (i == 19) pixels.insert(pixels.end(), {{w + 3, n}, {w + 5, n}});
    if (w < 10) continue;
    w = -1;
    ++n;
  }
  check_wide(copy, pixels);
}

TEST(TensorLoad, Wide128TakesAHaloBehindEach32Pixels) {
  Copy copy = wide(BoxWalk::wide_128, 0, 0, 1);
  copy.at = {0, 2, 2, 1};
  copy.offsets = {1, 0};
  copy.halo_bytes = 4 * 64;
  std::vector<Pixel> pixels;
  for (int i = 0, w = 2, n = 1; i < 128; ++i) {
    pixels.push_back({w++, n});
    if (i % 32 == 31) pixels.push_back({w, n});
    if (w < 12) continue;
    w = 0;
    ++n;
  }
  check_wide(copy, pixels);
}

TEST(TensorFaults, AHaloBeyondTheBoxOfPixels) {
  Copy copy = wide(BoxWalk::wide, 0, 0, 1);
  copy.map.pixels = 10;
  copy.at = {0, 0, 0, 0};
  copy.offsets = {3, 0};
  std::string what;
  EXPECT_EQ(fault_of(copy, Way::load, what), FaultKind::unsupported);
  EXPECT_NE(what.find("unsupported: a halo beyond the box of pixels"), std::string::npos) << what;
}

}  // namespace
}  // namespace foretrace::emulate
