#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void products(const Arguments& arguments, std::size_t count, std::size_t n) {
  const auto* a = arguments[0].elements<float>(count * n * n);
  const auto* b = arguments[1].elements<float>(count * n * n);
  auto* c = arguments[2].elements<float>(count * n * n);
  for (std::size_t matrix = 0; matrix < count; ++matrix, a += n * n, b += n * n, c += n * n) {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t col = 0; col < n; ++col) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          sum += static_cast<double>(a[row * n + i]) * static_cast<double>(b[i * n + col]);
        }
        c[row * n + col] = static_cast<float>(sum);
      }
    }
  }
}

void batched_product_16(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  products(arguments, grid.x, 16);
}

void batched_product_8(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  products(arguments, count_of(arguments[3]), 8);
}

const Registration kBatchedMatrix{{"batched_product_16", batched_product_16},
                                  {"batched_product_8", batched_product_8}};

}  // namespace
}  // namespace foretrace::references
