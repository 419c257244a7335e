#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

double wide_of_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float number;
  std::memcpy(&number, &wide, sizeof number);
  return static_cast<double>(number);
}

double wide_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

double wide(float x) { return static_cast<double>(x); }
double wide(double x) { return x; }

/// C = A B; with `turned`, B is stored column by column.
template <typename In, typename Out, typename Wide>
void product(const Arguments& arguments, bool turned, Wide wide_of) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = count_of(arguments[4]);
  const std::size_t depth = count_of(arguments[5]);
  const auto* a = arguments[0].elements<In>(rows * depth);
  const auto* b = arguments[1].elements<In>(depth * columns);
  auto* c = arguments[2].elements<Out>(rows * columns);
  std::vector<double> sums(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < depth; ++k) {
      const double x = wide_of(a[i * depth + k]);
      for (std::size_t j = 0; j < columns; ++j) {
        sums[j] += x * wide_of(b[turned ? j * depth + k : k * columns + j]);
      }
    }
    for (std::size_t j = 0; j < columns; ++j) c[i * columns + j] = static_cast<Out>(sums[j]);
  }
}

void product_single(const Arguments& arguments, Dim3, Dim3) {
  product<float, float>(arguments, false, [](float x) { return wide(x); });
}

void product_in_double(const Arguments& arguments, Dim3, Dim3) {
  product<double, double>(arguments, false, [](double x) { return wide(x); });
}

void product_half(const Arguments& arguments, Dim3, Dim3) {
  product<std::uint16_t, float>(arguments, false, wide_of_half);
}

void product_bfloat16(const Arguments& arguments, Dim3, Dim3) {
  product<std::uint16_t, float>(arguments, true, wide_of_bfloat16);
}

const Registration kRegistered{
    {"product_single", product_single},
    {"product_in_double", product_in_double},
    {"product_half", product_half},
    {"product_bfloat16", product_bfloat16},
};

}  // namespace
}  // namespace foretrace::references
