#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void cholesky_solve(const Arguments& arguments, Dim3, Dim3) {
  constexpr std::size_t kSize = 9;
  need(arguments, 4);
  const std::size_t count = count_of(arguments[3]);
  const auto* matrices = arguments[0].elements<float>(kSize * kSize * count);
  const auto* right = arguments[1].elements<float>(kSize * count);
  auto* solution = arguments[2].elements<float>(kSize * count);
  for (std::size_t i = 0; i < count; ++i) {
    double l[kSize][kSize];
    double x[kSize];
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t col = 0; col <= row; ++col) {
        double value =
            static_cast<double>(matrices[(row * kSize + col) * count + i]) + (row == col ? 9.0 : 0.0);
        for (std::size_t k = 0; k < col; ++k) value -= l[row][k] * l[col][k];
        l[row][col] = row == col ? std::sqrt(value) : value / l[col][col];
      }
      x[row] = static_cast<double>(right[row * count + i]);
      for (std::size_t k = 0; k < row; ++k) x[row] -= l[row][k] * x[k];
      x[row] /= l[row][row];
    }
    for (std::size_t row = kSize; row-- > 0;) {
      for (std::size_t k = row + 1; k < kSize; ++k) x[row] -= l[k][row] * x[k];
      x[row] /= l[row][row];
      solution[row * count + i] = static_cast<float>(x[row]);
    }
  }
}

// The same subtractions, rounded to float: the same bits.
void k_smallest(const Arguments& arguments, Dim3, Dim3) {
  constexpr std::size_t kBest = 16;
  need(arguments, 5);
  const std::size_t count = count_of(arguments[3]);
  const std::size_t candidates = count_of(arguments[4]);
  const auto* queries = arguments[0].elements<float>(count);
  const auto* points = arguments[1].elements<float>(candidates);
  auto* best = arguments[2].elements<float>(kBest * count);
  std::vector<float> distance(std::max(candidates, kBest), HUGE_VALF);
  for (std::size_t query = 0; query < count; ++query) {
    for (std::size_t c = 0; c < candidates; ++c) distance[c] = std::fabs(points[c] - queries[query]);
    for (std::size_t c = candidates; c < kBest; ++c) distance[c] = HUGE_VALF;
    std::partial_sort(distance.begin(), distance.begin() + kBest, distance.end());
    for (std::size_t i = 0; i < kBest; ++i) best[i * count + query] = distance[i];
  }
}

const Registration kSpilling{{"cholesky_solve", cholesky_solve}, {"k_smallest", k_smallest}};

}  // namespace
}  // namespace foretrace::references
