#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Sums are made in double precision: the kernels add in another order, and the launch files say how far that may go.

void reduce_tree(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  auto* partial = arguments[1].elements<float>(grid.x);
  const std::size_t piece = 2 * std::size_t{block.x};
  for (std::size_t b = 0; b < grid.x; ++b) {
    double sum = 0;
    for (std::size_t i = b * piece; i < std::min(n, (b + 1) * piece); ++i) sum += static_cast<double>(in[i]);
    partial[b] = static_cast<float>(sum);
  }
}

void reduce_total(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(in[i]);
  *arguments[1].elements<float>(1) = static_cast<float>(sum);
}

void reduce_shuffle(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(in[i]);
  *arguments[1].elements<float>(1) += static_cast<float>(sum);
}

void argmax(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (in[i] > in[best]) best = i;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &in[best], sizeof(bits));
  *arguments[1].elements<std::uint64_t>(1) =
      std::uint64_t{bits} << 32 | (0xffffffffu - static_cast<std::uint32_t>(best));
}

template <typename Sum>
void dot_product(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* a = arguments[0].elements<float>(n);
  const auto* b = arguments[1].elements<float>(n);
  auto* partial = arguments[2].elements<Sum>(grid.x);
  std::vector<double> sums(grid.x);
  for (std::size_t i = 0; i < n; ++i) {
    sums[i / block.x % grid.x] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) partial[i] = static_cast<Sum>(sums[i]);
}

const Registration kRegistered{
    {"argmax", argmax},
    {"dot_product_f32", dot_product<float>},
    {"dot_product_f64", dot_product<double>},
    {"reduce_shuffle", reduce_shuffle},
    {"reduce_total", reduce_total},
    {"reduce_tree", reduce_tree},
};

}  // namespace
}  // namespace foretrace::references
