#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void sampled_products(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t rows = count_of(arguments[6]), width = count_of(arguments[7]);
  const auto* first = arguments[0].elements<std::int32_t>(rows + 1);
  const auto* column = static_cast<const std::int32_t*>(arguments[1].data);
  const auto* weight = static_cast<const float*>(arguments[2].data);
  const auto* a = arguments[3].elements<float>(rows * width);
  const auto* b = arguments[4].elements<float>(rows * width);
  auto* out = static_cast<float*>(arguments[5].data);
  for (std::size_t row = 0; row < rows; ++row, a += width) {
    for (std::int32_t i = first[row]; i < first[row + 1]; ++i) {
      const float* other = b + static_cast<std::size_t>(column[i]) * width;
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += static_cast<double>(a[k]) * other[k];
      out[i] = static_cast<float>(weight[i] * sum);
    }
  }
}

void block_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  constexpr std::size_t kSide = 16;
  const std::size_t rows = grid.y, width = count_of(arguments[5]);
  const auto* first = arguments[0].elements<std::int32_t>(rows + 1);
  const auto* column = static_cast<const std::int32_t*>(arguments[1].data);
  const auto* blocks = static_cast<const float*>(arguments[2].data);
  const auto* dense = arguments[3].elements<float>(kSide * rows * width);
  auto* out = arguments[4].elements<float>(kSide * rows * width);
  std::vector<double> sums(width);
  for (std::size_t row = 0; row < kSide * rows; ++row, out += width) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (auto i = static_cast<std::size_t>(first[row / kSide]);
         i < static_cast<std::size_t>(first[row / kSide + 1]); ++i) {
      for (std::size_t k = 0; k < kSide; ++k) {
        const double left = blocks[(i * kSide + row % kSide) * kSide + k];
        const float* right = dense + (static_cast<std::size_t>(column[i]) * kSide + k) * width;
        for (std::size_t x = 0; x < width; ++x) sums[x] += left * right[x];
      }
    }
    for (std::size_t x = 0; x < width; ++x) out[x] = static_cast<float>(sums[x]);
  }
}

void segment_sums(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]), segments = arguments[2].bytes / sizeof(float);
  const auto* segment = arguments[0].elements<std::int32_t>(n);
  const auto* value = arguments[1].elements<float>(n);
  auto* sums = arguments[2].elements<float>(segments);
  std::vector<double> wide(sums, sums + segments);
  for (std::size_t i = 0; i < n; ++i) wide[static_cast<std::size_t>(segment[i])] += value[i];
  for (std::size_t s = 0; s < segments; ++s) sums[s] = static_cast<float>(wide[s]);
}

const Registration kRegistered{
    {"sampled_products", sampled_products},
    {"block_rows", block_rows},
    {"segment_sums", segment_sums},
};

}  // namespace
}  // namespace foretrace::references
