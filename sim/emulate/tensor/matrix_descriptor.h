// The 64-bit descriptor of a matrix in shared memory that wgmma takes.
//
// Models:  start, leading and stride byte offsets, base offset and swizzle, K-major and transposed. Source: 224 maps of 1024 elements
//          each, asked of an H100 with halves, all four swizzles, both majors; other element widths by the same bytes.
#pragma once

#include <cstdint>

namespace foretrace::emulate {

struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< byte address in the block's shared memory, 18 bits
  std::uint32_t leading = 0;  ///< bytes
  std::uint32_t stride = 0;   ///< bytes
  std::uint32_t base = 0;     ///< base offset, 0..7
  int swizzle = 0;            ///< 0 none, 1 128 bytes, 2 64, 3 32
};
MatrixDescriptor matrix_descriptor(std::uint64_t bits);

/// By swizzle: bytes of a swizzled row, and the bits of (address / 128) that are xored into (address / 16).
inline constexpr std::uint32_t kSwizzledRow[] = {16, 128, 64, 32};
inline constexpr std::uint32_t kSwizzleMask[] = {0, 7, 3, 1};
inline std::uint32_t swizzled(const MatrixDescriptor& d, std::uint32_t linear) {
  return linear ^ ((((linear >> 7) - d.base) & kSwizzleMask[d.swizzle]) << 4);
}

/// Address of 16 bytes: for a K-major operand of row `r` (a row of A, a column of B) and bytes [kb, kb + 16) of K, kb a multiple of 16.
inline std::uint32_t k_major_address(const MatrixDescriptor& d, std::uint32_t r, std::uint32_t kb) {
  const std::uint32_t rows = d.start + r % 8 * kSwizzledRow[d.swizzle] + r / 8 * d.stride;
  return d.swizzle == 0 ? rows + kb / 16 * d.leading : swizzled(d, rows + kb);
}
/// For a transposed operand of 16-bit elements: of bytes [mb, mb + 16) along M or N, and index `k`.
std::uint32_t mn_major_address(const MatrixDescriptor& d, std::uint32_t mb, std::uint32_t k);

}  // namespace foretrace::emulate
