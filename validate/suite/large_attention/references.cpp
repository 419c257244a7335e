#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

constexpr std::size_t kWidth = 64;

double scalar(const float* a, const float* b) {
  double sum = 0;
  for (std::size_t i = 0; i < kWidth; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

void head_scores(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t length = count_of(arguments[3]);
  const double scale = static_cast<double>(arguments[4].value<float>());
  const auto* q = arguments[0].elements<float>(grid.z * length * kWidth);
  const auto* k = arguments[1].elements<float>(grid.z * length * kWidth);
  auto* scores = arguments[2].elements<float>(grid.z * length * length);
  for (std::size_t row = 0; row < grid.z * length; ++row) {
    const float* key = k + row / length * length * kWidth;
    for (std::size_t j = 0; j < length; ++j) {
      scores[row * length + j] = static_cast<float>(scalar(q + row * kWidth, key + j * kWidth) * scale);
    }
  }
}

void head_values(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t length = count_of(arguments[3]);
  const auto* weights = arguments[0].elements<float>(grid.z * length * length);
  const auto* values = arguments[1].elements<float>(grid.z * length * kWidth);
  auto* out = arguments[2].elements<float>(grid.z * length * kWidth);
  for (std::size_t row = 0; row < grid.z * length; ++row) {
    double sums[kWidth] = {};
    for (std::size_t j = 0; j < length; ++j) {
      const double weight = static_cast<double>(weights[row * length + j]);
      const float* value = values + (row / length * length + j) * kWidth;
      for (std::size_t i = 0; i < kWidth; ++i) sums[i] += weight * static_cast<double>(value[i]);
    }
    for (std::size_t i = 0; i < kWidth; ++i) out[row * kWidth + i] = static_cast<float>(sums[i]);
  }
}

void attention_whole(const Arguments& arguments, Dim3 grid, bool causal) {
  need(arguments, 6);
  const std::size_t length = count_of(arguments[4]);
  const double scale = static_cast<double>(arguments[5].value<float>());
  const std::size_t rows = grid.y * length;
  const auto* q = arguments[0].elements<float>(rows * kWidth);
  const auto* k = arguments[1].elements<float>(rows * kWidth);
  const auto* v = arguments[2].elements<float>(rows * kWidth);
  auto* out = arguments[3].elements<float>(rows * kWidth);
  std::vector<double> scores(length);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t head = row / length * length;
    const std::size_t end = causal ? row - head + 1 : length;
    for (std::size_t j = 0; j < end; ++j)
      scores[j] = scalar(q + row * kWidth, k + (head + j) * kWidth) * scale;
    const double most = *std::max_element(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(end));
    double sums[kWidth] = {}, total = 0;
    for (std::size_t j = 0; j < end; ++j) {
      const double weight = std::exp(scores[j] - most);
      total += weight;
      for (std::size_t i = 0; i < kWidth; ++i)
        sums[i] += weight * static_cast<double>(v[(head + j) * kWidth + i]);
    }
    for (std::size_t i = 0; i < kWidth; ++i) out[row * kWidth + i] = static_cast<float>(sums[i] / total);
  }
}

void attention_full(const Arguments& arguments, Dim3 grid, Dim3) { attention_whole(arguments, grid, false); }
void attention_causal(const Arguments& arguments, Dim3 grid, Dim3) { attention_whole(arguments, grid, true); }

const Registration kRegistered{
    {"head_scores", head_scores},
    {"head_values", head_values},
    {"attention_full", attention_full},
    {"attention_causal", attention_causal},
};

}  // namespace
}  // namespace foretrace::references
