#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// In double precision, rounded once.
void sgemm_warp_tiled(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t rows = count_of(arguments[0]);
  const std::size_t columns = count_of(arguments[1]);
  const std::size_t depth = count_of(arguments[2]);
  const auto alpha = static_cast<double>(arguments[3].value<float>());
  const auto beta = static_cast<double>(arguments[6].value<float>());
  const auto* a = arguments[4].elements<float>(rows * depth);
  const auto* b = arguments[5].elements<float>(depth * columns);
  auto* c = arguments[7].elements<float>(rows * columns);
  std::vector<double> sum(columns);
  for (std::size_t row = 0; row < rows; ++row, c += columns) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto from_a = static_cast<double>(a[row * depth + i]);
      const float* from_b = b + i * columns;
      for (std::size_t col = 0; col < columns; ++col) sum[col] += from_a * static_cast<double>(from_b[col]);
    }
    for (std::size_t col = 0; col < columns; ++col) {
      c[col] = static_cast<float>(alpha * sum[col] + beta * static_cast<double>(c[col]));
    }
  }
}

const Registration kGemmFloat{{"sgemm_warp_tiled", sgemm_warp_tiled}};

}  // namespace
}  // namespace foretrace::references
