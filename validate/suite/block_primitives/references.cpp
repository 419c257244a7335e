#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void scan_tiles(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t length = count_of(arguments[2]) * block.x;
  const auto* in = arguments[0].elements<std::uint32_t>(grid.x * length);
  auto* out = arguments[1].elements<std::uint32_t>(grid.x * length);
  for (std::size_t b = 0; b < grid.x; ++b) {
    std::uint32_t sum = 0;
    for (std::size_t i = b * length; i < (b + 1) * length; ++i) out[i] = sum += in[i];
  }
}

void reduce_tiles(const Arguments& arguments, Dim3, Dim3 block) {
  need(arguments, 3);
  const std::size_t segments = count_of(arguments[2]);
  const auto* in = arguments[0].elements<std::int32_t>(segments * block.x);
  auto* out = arguments[1].elements<std::int32_t>(3 * segments);
  for (std::size_t s = 0; s < segments; ++s, in += block.x, out += 3) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < block.x; ++i) sum += static_cast<std::uint32_t>(in[i]);
    out[0] = static_cast<std::int32_t>(sum);
    out[1] = *std::min_element(in, in + block.x);
    out[2] = *std::max_element(in, in + block.x);
  }
}

void warp_sort_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 2);
  const std::size_t rows = count_of(arguments[1]);
  auto* keys = arguments[0].elements<std::uint32_t>(64 * rows);
  for (std::size_t r = 0; r < rows; ++r) std::sort(keys + 64 * r, keys + 64 * (r + 1));
}

const Registration kRegistered{
    {"scan_tiles", scan_tiles},
    {"reduce_tiles", reduce_tiles},
    {"warp_sort_rows", warp_sort_rows},
};

}  // namespace
}  // namespace foretrace::references
