#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void row_product(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = count_of(arguments[4]);
  const auto* matrix = arguments[0].elements<float>(rows * columns);
  const auto* x = arguments[1].elements<float>(columns);
  auto* y = arguments[2].elements<float>(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      sum += static_cast<double>(matrix[r * columns + c]) * static_cast<double>(x[c]);
    }
    y[r] = static_cast<float>(sum);
  }
}

void row_product_pair(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = count_of(arguments[4]);
  const auto* matrix = arguments[0].elements<double>(rows * columns);
  const auto* x = arguments[1].elements<double>(2 * columns);
  auto* y = arguments[2].elements<double>(2 * rows);
  for (std::size_t i = 0; i < 2 * rows; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += matrix[i / 2 * columns + c] * x[i % 2 * columns + c];
    y[i] = sum;
  }
}

void row_statistics(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t rows = count_of(arguments[2]);
  const std::size_t columns = count_of(arguments[3]);
  const auto* row = arguments[0].elements<float>(rows * columns);
  auto* result = arguments[1].elements<float>(4 * rows);
  for (std::size_t r = 0; r < rows; ++r, row += columns, result += 4) {
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += static_cast<double>(row[c]);
    const double mean = sum / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const double off = static_cast<double>(row[c]) - mean;
      squares += off * off;
    }
    result[0] = static_cast<float>(mean);
    result[1] = static_cast<float>(std::sqrt(squares / static_cast<double>(columns)));
    result[2] = *std::min_element(row, row + columns);
    result[3] = *std::max_element(row, row + columns);
  }
}

void tridiagonal_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t systems = count_of(arguments[4]);
  const std::size_t n = count_of(arguments[5]);
  const double diagonal = static_cast<double>(arguments[6].value<float>());
  const auto* lower = arguments[0].elements<float>(systems * n);
  const auto* upper = arguments[1].elements<float>(systems * n);
  auto* right = arguments[2].elements<float>(systems * n);
  std::vector<double> factor(n), value(n);
  for (std::size_t s = 0; s < systems; ++s, lower += n, upper += n, right += n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double a = i == 0 ? 0 : static_cast<double>(lower[i]);
      const double scale = 1 / (diagonal - (i == 0 ? 0 : a * factor[i - 1]));
      factor[i] = static_cast<double>(upper[i]) * scale;
      value[i] = (static_cast<double>(right[i]) - (i == 0 ? 0 : a * value[i - 1])) * scale;
    }
    for (std::size_t i = n - 1; i-- > 0;) value[i] -= factor[i] * value[i + 1];
    for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<float>(value[i]);
  }
}

const Registration kRegistered{
    {"row_product", row_product},
    {"row_product_pair", row_product_pair},
    {"row_statistics", row_statistics},
    {"tridiagonal_rows", tridiagonal_rows},
};

}  // namespace
}  // namespace foretrace::references
