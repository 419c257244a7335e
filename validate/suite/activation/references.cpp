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

/// Philox 4x32 with ten rounds: two products of 64 bits per round, whose halves change places.
void philox(std::uint32_t (&counter)[4], std::uint64_t seed) {
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter[0] = static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0];
    counter[1] = static_cast<std::uint32_t>(second);
    counter[2] = static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1];
    counter[3] = static_cast<std::uint32_t>(first);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
}

void bias_gelu_dropout(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t quarters = count_of(arguments[5]);
  const std::size_t width = 4 * count_of(arguments[6]);
  const auto threshold = arguments[7].value<std::uint32_t>();
  const auto scale = static_cast<double>(arguments[8].value<float>());
  const auto seed = arguments[9].value<std::uint64_t>();
  const auto* in = arguments[0].elements<float>(4 * quarters);
  const auto* bias = arguments[1].elements<float>(width);
  const auto* residual = arguments[2].elements<float>(4 * quarters);
  auto* out = arguments[3].elements<float>(4 * quarters);
  auto* mask = arguments[4].elements<std::uint8_t>(4 * quarters);
  const double factor = std::sqrt(2 / std::acos(-1.0));
  for (std::size_t quarter = 0; quarter < quarters; ++quarter) {
    std::uint32_t random[4] = {static_cast<std::uint32_t>(quarter), 0, 0, 0};
    philox(random, seed);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t i = 4 * quarter + k;
      const double x = static_cast<double>(in[i]) + static_cast<double>(bias[i % width]);
      const double gelu = 0.5 * x * (1 + std::tanh(factor * (x + 0.044715 * x * x * x)));
      mask[i] = random[k] >= threshold ? 1 : 0;
      out[i] = static_cast<float>(static_cast<double>(residual[i]) + mask[i] * gelu * scale);
    }
  }
}

const Registration kActivation{
    {"gelu_erf", gelu_erf},
    {"gelu_tanh", gelu_tanh},
    {"residual_add", residual_add},
    {"swiglu", swiglu},
    {"bias_gelu_dropout", bias_gelu_dropout},
};

}  // namespace
}  // namespace foretrace::references
