#include "validate/kernels/references.h"

#include <cmath>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

void gelu_erf(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  auto* out = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(in[i]);
    out[i] = static_cast<float>(0.5 * x * (1 + std::erf(x * std::sqrt(0.5))));
  }
}

void gelu_tanh(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  auto* out = arguments[1].elements<float>(n);
  const double factor = std::sqrt(2 / std::acos(-1.0));
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(in[i]);
    out[i] = static_cast<float>(0.5 * x * (1 + std::tanh(factor * (x + 0.044715 * x * x * x))));
  }
}

// The same additions and the same maximum, each rounded to float: the same bits.
void residual_add(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[4]);
  const std::size_t columns = 4 * count_of(arguments[5]);
  const auto* x = arguments[0].elements<float>(rows * columns);
  const auto* bias = arguments[1].elements<float>(columns);
  const auto* residual = arguments[2].elements<float>(rows * columns);
  auto* out = arguments[3].elements<float>(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t at = row * columns + i;
      out[at] = residual[at] + std::max(x[at] + bias[i], 0.0f);
    }
  }
}

void swiglu(const Arguments& arguments, Dim3, Dim3) {
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 4);
  const std::size_t n = 2 * count_of(arguments[3]);
  const auto* gate = arguments[0].elements<std::uint16_t>(n);
  const auto* up = arguments[1].elements<std::uint16_t>(n);
  auto* out = arguments[2].elements<std::uint16_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double g = frontend::float_value(kType, gate[i]);
    const double value = g / (1 + std::exp(-g)) * frontend::float_value(kType, up[i]);
    out[i] = static_cast<std::uint16_t>(frontend::float_bits(kType, value));
  }
}

const Registration kActivation{
    {"gelu_erf", gelu_erf}, {"gelu_tanh", gelu_tanh}, {"residual_add", residual_add}, {"swiglu", swiglu}};

}  // namespace
}  // namespace foretrace::references
