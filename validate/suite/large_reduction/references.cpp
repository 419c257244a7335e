#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void total_of_floats(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  auto* totals = arguments[1].elements<float>(grid.x);
  std::vector<double> sums(grid.x);
  for (std::size_t i = 0; i < n; ++i) sums[i / 4 / block.x % grid.x] += static_cast<double>(in[i]);
  for (std::size_t b = 0; b < grid.x; ++b) totals[b] = static_cast<float>(sums[b]);
}

void scalar_product(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* a = arguments[0].elements<double>(n);
  const auto* b = arguments[1].elements<double>(n);
  auto* totals = arguments[2].elements<double>(grid.x);
  std::fill(totals, totals + grid.x, 0.0);
  for (std::size_t i = 0; i < n; ++i) totals[i / block.x % grid.x] += a[i] * b[i];
}

void least_and_most(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<std::int32_t>(n);
  auto* results = arguments[1].elements<std::int32_t>(2 * std::size_t{grid.x});
  for (std::size_t b = 0; b < grid.x; ++b) {
    results[2 * b] = INT32_MAX;
    results[2 * b + 1] = INT32_MIN;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t* both = results + 2 * (i / block.x % grid.x);
    both[0] = std::min(both[0], in[i]);
    both[1] = std::max(both[1], in[i]);
  }
}

void softmax_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t columns = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x * columns);
  for (std::size_t r = 0; r < grid.x; ++r, in += columns, out += columns) {
    const double most = static_cast<double>(*std::max_element(in, in + columns));
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(in[i]) - most);
    for (std::size_t i = 0; i < columns; ++i) {
      out[i] = static_cast<float>(std::exp(static_cast<double>(in[i]) - most) / sum);
    }
  }
}

void normalize_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t columns = 4 * count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x * columns);
  for (std::size_t r = 0; r < grid.x; ++r, in += columns, out += columns) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(in[i]);
    const double mean = sum / static_cast<double>(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      squares += (static_cast<double>(in[i]) - mean) * (static_cast<double>(in[i]) - mean);
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(columns));
    for (std::size_t i = 0; i < columns; ++i)
      out[i] = static_cast<float>((static_cast<double>(in[i]) - mean) * scale);
  }
}

const Registration kRegistered{
    {"total_of_floats", total_of_floats}, {"scalar_product", scalar_product},
    {"least_and_most", least_and_most},   {"softmax_rows", softmax_rows},
    {"normalize_rows", normalize_rows},
};

}  // namespace
}  // namespace foretrace::references
