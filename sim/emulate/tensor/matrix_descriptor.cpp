#include "sim/emulate/tensor/matrix_descriptor.h"

namespace foretrace::emulate {

MatrixDescriptor matrix_descriptor(std::uint64_t bits) {
  const auto field = [&](int first, int width) {
    return static_cast<std::uint32_t>(bits >> first & ((std::uint64_t{1} << width) - 1));
  };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          static_cast<int>(field(62, 2))};
}

std::uint32_t mn_major_address(const MatrixDescriptor& d, std::uint32_t mb, std::uint32_t k) {
  if (d.swizzle == 0) return d.start + mb / 16 * d.stride + k % 8 * 16 + k / 8 * d.leading;
  const std::uint32_t row = kSwizzledRow[d.swizzle];
  return swizzled(d, d.start + mb % row + mb / row * d.leading + k % 8 * row + k / 8 * d.stride);
}

}  // namespace foretrace::emulate
