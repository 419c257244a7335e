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

void gauss_threads(const Arguments& arguments, Dim3, Dim3) {
  constexpr std::size_t kSize = 7;
  need(arguments, 5);
  const std::size_t systems = count_of(arguments[3]);
  const auto shift = static_cast<double>(arguments[4].value<float>());
  const auto* matrix = arguments[0].elements<float>(kSize * kSize * systems);
  const auto* right = arguments[1].elements<float>(kSize * systems);
  auto* solution = arguments[2].elements<float>(kSize * systems);
  for (std::size_t s = 0; s < systems; ++s) {
    double a[kSize][kSize + 1];
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t col = 0; col < kSize; ++col) {
        a[row][col] =
            static_cast<double>(matrix[(row * kSize + col) * systems + s]) + (row == col ? shift : 0);
      }
      a[row][kSize] = static_cast<double>(right[row * systems + s]);
    }
    // Gauss-Jordan: each step leaves one entry of a column.
    for (std::size_t k = 0; k < kSize; ++k) {
      for (std::size_t row = 0; row < kSize; ++row) {
        if (row == k) continue;
        const double factor = a[row][k] / a[k][k];
        for (std::size_t col = k; col <= kSize; ++col) a[row][col] -= factor * a[k][col];
      }
    }
    for (std::size_t row = 0; row < kSize; ++row) {
      solution[row * systems + s] = static_cast<float>(a[row][kSize] / a[row][row]);
    }
  }
}

void conjugate_gradient(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t n = 4 * count_of(arguments[5]);
  const auto alpha = static_cast<double>(arguments[6].value<float>());
  auto* solution = arguments[0].elements<float>(n);
  auto* residual = arguments[1].elements<float>(n);
  const auto* direction = arguments[2].elements<float>(n);
  const auto* image = arguments[3].elements<float>(n);
  auto* square = arguments[4].elements<float>(1);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(solution[i]) + alpha * static_cast<double>(direction[i]);
    const double r = static_cast<double>(residual[i]) - alpha * static_cast<double>(image[i]);
    solution[i] = static_cast<float>(x);
    residual[i] = static_cast<float>(r);
    sum += r * r;
  }
  *square += static_cast<float>(sum);
}

const Registration kLinearSolve{{"lu_shared", lu_shared},
                                {"triangular_solve", triangular_solve},
                                {"gauss_threads", gauss_threads},
                                {"conjugate_gradient", conjugate_gradient}};

}  // namespace
}  // namespace foretrace::references
