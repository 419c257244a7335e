#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

constexpr std::size_t kHead = 64;  // floats of a head

double dot(const float* a, const float* b) {
  double sum = 0;
  for (std::size_t i = 0; i < kHead; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

void attention_scores(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t sequence = count_of(arguments[3]);
  const auto scale = static_cast<double>(arguments[4].value<float>());
  const auto* q = arguments[0].elements<float>(grid.z * sequence * kHead);
  const auto* k = arguments[1].elements<float>(grid.z * sequence * kHead);
  auto* scores = arguments[2].elements<float>(grid.z * sequence * sequence);
  for (std::size_t head = 0; head < grid.z * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      float* row = scores + (head + query) * sequence;
      for (std::size_t key = 0; key < sequence; ++key) {
        row[key] =
            key > query
                ? -1e30f
                : static_cast<float>(scale * dot(q + (head + query) * kHead, k + (head + key) * kHead));
      }
    }
  }
}

void attention_softmax(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t rows = count_of(arguments[1]);
  const std::size_t columns = count_of(arguments[2]);
  auto* row = arguments[0].elements<float>(rows * columns);
  std::vector<double> power(columns);
  for (std::size_t i = 0; i < rows; ++i, row += columns) {
    const auto largest = static_cast<double>(*std::max_element(row, row + columns));
    double sum = 0;
    for (std::size_t k = 0; k < columns; ++k)
      sum += power[k] = std::exp(static_cast<double>(row[k]) - largest);
    for (std::size_t k = 0; k < columns; ++k) row[k] = static_cast<float>(power[k] / sum);
  }
}

void attention_values(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t sequence = count_of(arguments[3]);
  const auto* p = arguments[0].elements<float>(grid.z * sequence * sequence);
  const auto* v = arguments[1].elements<float>(grid.z * sequence * kHead);
  auto* out = arguments[2].elements<float>(grid.z * sequence * kHead);
  for (std::size_t head = 0; head < grid.z * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      double sum[kHead] = {};
      for (std::size_t key = 0; key <= query; ++key) {
        const auto weight = static_cast<double>(p[(head + query) * sequence + key]);
        for (std::size_t i = 0; i < kHead; ++i)
          sum[i] += weight * static_cast<double>(v[(head + key) * kHead + i]);
      }
      for (std::size_t i = 0; i < kHead; ++i) out[(head + query) * kHead + i] = static_cast<float>(sum[i]);
    }
  }
}

void attention_tiled(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t sequence = count_of(arguments[4]);
  const auto scale = static_cast<double>(arguments[5].value<float>());
  const std::size_t floats = grid.y * sequence * kHead;
  const auto* q = arguments[0].elements<float>(floats);
  const auto* k = arguments[1].elements<float>(floats);
  const auto* v = arguments[2].elements<float>(floats);
  auto* out = arguments[3].elements<float>(floats);
  std::vector<double> weight(sequence);
  for (std::size_t head = 0; head < grid.y * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      double largest = -HUGE_VAL;
      for (std::size_t key = 0; key <= query; ++key) {
        weight[key] = scale * dot(q + (head + query) * kHead, k + (head + key) * kHead);
        largest = std::max(largest, weight[key]);
      }
      double total = 0;
      double sum[kHead] = {};
      for (std::size_t key = 0; key <= query; ++key) {
        const double power = std::exp(weight[key] - largest);
        total += power;
        for (std::size_t i = 0; i < kHead; ++i)
          sum[i] += power * static_cast<double>(v[(head + key) * kHead + i]);
      }
      for (std::size_t i = 0; i < kHead; ++i)
        out[(head + query) * kHead + i] = static_cast<float>(sum[i] / total);
    }
  }
}

const Registration kAttention{
    {"attention_scores", attention_scores},
    {"attention_softmax", attention_softmax},
    {"attention_values", attention_values},
    {"attention_tiled", attention_tiled},
};

}  // namespace
}  // namespace foretrace::references
