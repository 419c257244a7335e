#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void lu_shared(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t kSize = 48;
  need(arguments, 3);
  const auto shift = static_cast<double>(arguments[2].value<float>());
  const auto* in = arguments[0].elements<float>(grid.x * kSize * kSize);
  auto* out = arguments[1].elements<float>(grid.x * kSize * kSize);
  double a[kSize][kSize];
  for (std::size_t block = 0; block < grid.x; ++block) {
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t col = 0; col < kSize; ++col) {
        double value = static_cast<double>(*in++) + (row == col ? shift : 0);
        for (std::size_t k = 0; k < std::min(row, col); ++k) value -= a[row][k] * a[k][col];
        a[row][col] = row > col ? value / a[col][col] : value;
        *out++ = static_cast<float>(a[row][col]);
      }
    }
  }
}

void triangular_solve(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[3]);
  const auto* lower = arguments[0].elements<float>(count * 1024);
  const auto* right = arguments[1].elements<float>(count * 32);
  auto* solution = arguments[2].elements<float>(count * 32);
  for (std::size_t system = 0; system < count; ++system, lower += 1024, right += 32, solution += 32) {
    double x[32];
    for (std::size_t row = 0; row < 32; ++row) {
      x[row] = static_cast<double>(right[row]);
      for (std::size_t k = 0; k < row; ++k) x[row] -= static_cast<double>(lower[row * 32 + k]) * x[k];
      solution[row] = static_cast<float>(x[row]);
    }
  }
}

const Registration kLinearSolve{{"lu_shared", lu_shared}, {"triangular_solve", triangular_solve}};

}  // namespace
}  // namespace foretrace::references
