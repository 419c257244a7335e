#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void sgemm_cp_async(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t rows = grid.y * 64;
  const std::size_t columns = count_of(arguments[3]);
  const std::size_t depth = count_of(arguments[4]);
  const auto* a = arguments[0].elements<float>(rows * depth);
  const auto* b = arguments[1].elements<float>(depth * columns);
  auto* c = arguments[2].elements<float>(rows * columns);
  std::vector<double> sum(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto from_a = static_cast<double>(a[row * depth + i]);
      for (std::size_t col = 0; col < columns; ++col)
        sum[col] += from_a * static_cast<double>(b[i * columns + col]);
    }
    for (std::size_t col = 0; col < columns; ++col) c[row * columns + col] = static_cast<float>(sum[col]);
  }
}

void column_filter_async(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[2]);
  const std::size_t columns = count_of(arguments[3]);
  const auto decay = static_cast<double>(arguments[4].value<float>());
  const auto* in = arguments[0].elements<float>(rows * columns);
  auto* out = arguments[1].elements<float>(rows * columns);
  std::vector<double> value(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < columns; ++col) {
      value[col] = static_cast<double>(in[row * columns + col]) + decay * value[col];
      out[row * columns + col] = static_cast<float>(value[col]);
    }
  }
}

const Registration kAsyncCopy{{"sgemm_cp_async", sgemm_cp_async},
                              {"column_filter_async", column_filter_async}};

}  // namespace
}  // namespace foretrace::references
