#include "sim/emulate/tensor/matrix_descriptor.h"

namespace foretrace::emulate {

namespace {

/// Bytes of a swizzled row, and the bits of (address / 128) that are xored into (address / 16).
constexpr std::uint32_t kRow[] = {16, 128, 64, 32};
constexpr std::uint32_t kMask[] = {0, 7, 3, 1};

std::uint32_t swizzled(const MatrixDescriptor& d, std::uint32_t linear) {
  return linear ^ ((((linear >> 7) - d.base) & kMask[d.swizzle]) << 4);
}

}  // namespace

MatrixDescriptor matrix_descriptor(std::uint64_t bits) {
  const auto field = [&](int first, int width) {
    return static_cast<std::uint32_t>(bits >> first & ((std::uint64_t{1} << width) - 1));
  };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          static_cast<int>(field(62, 2))};
}

std::uint32_t k_major_address(const MatrixDescriptor& d, std::uint32_t r, std::uint32_t kb) {
  const std::uint32_t rows = d.start + r % 8 * kRow[d.swizzle] + r / 8 * d.stride;
  return d.swizzle == 0 ? rows + kb / 16 * d.leading : swizzled(d, rows + kb);
}

std::uint32_t mn_major_address(const MatrixDescriptor& d, std::uint32_t mb, std::uint32_t k) {
  if (d.swizzle == 0) return d.start + mb / 16 * d.stride + k % 8 * 16 + k / 8 * d.leading;
  const std::uint32_t row = kRow[d.swizzle];
  return swizzled(d, d.start + mb % row + mb / row * d.leading + k % 8 * row + k / 8 * d.stride);
}

}  // namespace foretrace::emulate
