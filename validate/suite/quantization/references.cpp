#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

// Single operations, each rounded to float as the kernel's: the same bits.

void quantize_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t columns = 4 * count_of(arguments[3]);
  const auto* in = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<std::int8_t>(grid.x * columns);
  auto* scales = arguments[2].elements<float>(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row, in += columns, out += columns) {
    float largest = 0;
    for (std::size_t i = 0; i < columns; ++i) largest = std::max(largest, std::fabs(in[i]));
    const float scale = largest / 127.0f;
    scales[row] = scale;
    for (std::size_t i = 0; i < columns; ++i)
      out[i] = static_cast<std::int8_t>(std::nearbyint(in[i] / scale));
  }
}

void dequantize(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t columns = 4 * count_of(arguments[3]);
  const std::size_t rows = count_of(arguments[4]);
  const auto* in = arguments[0].elements<std::int8_t>(rows * columns);
  const auto* scales = arguments[1].elements<float>(rows);
  auto* out = arguments[2].elements<float>(rows * columns);
  for (std::size_t i = 0; i < rows * columns; ++i) out[i] = static_cast<float>(in[i]) * scales[i / columns];
}

const Registration kQuantization{{"quantize_rows", quantize_rows}, {"dequantize", dequantize}};

}  // namespace
}  // namespace foretrace::references
