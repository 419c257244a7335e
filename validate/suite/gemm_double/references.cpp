#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void multiply(const double* a, const double* b, double* c, std::size_t rows, std::size_t columns,
              std::size_t depth) {
  std::fill(c, c + rows * columns, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < depth; ++i) {
      for (std::size_t col = 0; col < columns; ++col) {
        c[row * columns + col] += a[row * depth + i] * b[i * columns + col];
      }
    }
  }
}

void dgemm_tiled(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = count_of(arguments[4]);
  const std::size_t depth = count_of(arguments[5]);
  multiply(arguments[0].elements<double>(rows * depth), arguments[1].elements<double>(depth * columns),
           arguments[2].elements<double>(rows * columns), rows, columns, depth);
}

void dgemm_mma(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t rows = grid.y * 32;
  const std::size_t columns = count_of(arguments[3]);
  const std::size_t depth = count_of(arguments[4]);
  multiply(arguments[0].elements<double>(rows * depth), arguments[1].elements<double>(depth * columns),
           arguments[2].elements<double>(rows * columns), rows, columns, depth);
}

const Registration kGemmDouble{{"dgemm_tiled", dgemm_tiled}, {"dgemm_mma", dgemm_mma}};

}  // namespace
}  // namespace foretrace::references
