#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

constexpr std::size_t kTile = 16;

/// A square matrix and the place of the step's tile on its diagonal.
struct Matrix {
  float* m;
  std::size_t n, offset;

  float& at(std::size_t row, std::size_t col) const { return m[(offset + row) * n + offset + col]; }
};

Matrix matrix_of(const Arguments& arguments) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[1]);
  return {arguments[0].elements<float>(n * n), n, count_of(arguments[2])};
}

void lud_dominant(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[1]);
  auto* m = arguments[0].elements<float>(n * n);
  for (std::size_t i = 0; i < n; ++i) m[i * n + i] += arguments[2].value<float>();
}

/// row less the products of l and u above it, each of `count`.
double less(const Matrix& matrix, std::size_t row, std::size_t col, std::size_t count) {
  double sum = matrix.at(row, col);
  for (std::size_t k = 0; k < count; ++k) {
    sum -= static_cast<double>(matrix.at(row, k)) * static_cast<double>(matrix.at(k, col));
  }
  return sum;
}

void lud_diagonal(const Arguments& arguments, Dim3, Dim3) {
  const Matrix matrix = matrix_of(arguments);
  for (std::size_t row = 1; row < kTile; ++row) {
    for (std::size_t col = 0; col < kTile; ++col) {
      const double rest = less(matrix, row, col, std::min(row, col));
      matrix.at(row, col) = static_cast<float>(col < row ? rest / matrix.at(col, col) : rest);
    }
  }
}

void lud_perimeter(const Arguments& arguments, Dim3, Dim3) {
  const Matrix matrix = matrix_of(arguments);
  for (std::size_t away = kTile; away < matrix.n - matrix.offset; ++away) {
    for (std::size_t i = 0; i < kTile; ++i) {
      matrix.at(i, away) = static_cast<float>(less(matrix, i, away, i));
      matrix.at(away, i) = static_cast<float>(less(matrix, away, i, i) / matrix.at(i, i));
    }
  }
}

void lud_internal(const Arguments& arguments, Dim3, Dim3) {
  const Matrix matrix = matrix_of(arguments);
  const std::size_t rest = matrix.n - matrix.offset;
  for (std::size_t row = kTile; row < rest; ++row) {
    for (std::size_t col = kTile; col < rest; ++col) {
      matrix.at(row, col) = static_cast<float>(less(matrix, row, col, kTile));
    }
  }
}

void fan_multipliers(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]), t = count_of(arguments[3]);
  const auto* a = arguments[0].elements<float>(n * n);
  auto* multipliers = arguments[1].elements<float>(n * n);
  for (std::size_t row = t + 1; row < n; ++row) multipliers[n * row + t] = a[n * row + t] / a[n * t + t];
}

void fan_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]), t = count_of(arguments[4]);
  const auto* multipliers = arguments[0].elements<float>(n * n);
  auto* a = arguments[1].elements<float>(n * n);
  auto* b = arguments[2].elements<float>(n);
  for (std::size_t row = t + 1; row < n; ++row) {
    const double factor = multipliers[n * row + t];
    for (std::size_t col = t; col < n; ++col) {
      a[n * row + col] = static_cast<float>(a[n * row + col] - factor * a[n * t + col]);
    }
    b[row] = static_cast<float>(b[row] - factor * b[t]);
  }
}

const Registration kRegistered{
    {"lud_dominant", lud_dominant}, {"lud_diagonal", lud_diagonal},       {"lud_perimeter", lud_perimeter},
    {"lud_internal", lud_internal}, {"fan_multipliers", fan_multipliers}, {"fan_rows", fan_rows},
};

}  // namespace
}  // namespace foretrace::references
