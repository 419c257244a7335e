#include "validate/kernels/references.h"

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

void gemv_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = 4 * count_of(arguments[4]);
  const auto* a = arguments[0].elements<float>(rows * columns);
  const auto* x = arguments[1].elements<float>(columns);
  auto* y = arguments[2].elements<float>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      sum += static_cast<double>(a[row * columns + i]) * static_cast<double>(x[i]);
    }
    y[row] = static_cast<float>(sum);
  }
}

void gemv_columns(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = count_of(arguments[4]);
  const auto* a = arguments[0].elements<float>(rows * columns);
  const auto* x = arguments[1].elements<float>(rows);
  auto* y = arguments[2].elements<float>(columns);
  std::vector<double> sum(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns; ++i) {
      sum[i] += static_cast<double>(a[row * columns + i]) * static_cast<double>(x[row]);
    }
  }
  for (std::size_t i = 0; i < columns; ++i) y[i] += static_cast<float>(sum[i]);
}

// A half a row, rounded once.
void gemv_half(const Arguments& arguments, Dim3, Dim3) {
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = 8 * count_of(arguments[4]);
  const auto* a = arguments[0].elements<std::uint16_t>(rows * columns);
  const auto* x = arguments[1].elements<std::uint16_t>(columns);
  auto* y = arguments[2].elements<std::uint16_t>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      sum += frontend::float_value(kType, a[row * columns + i]) * frontend::float_value(kType, x[i]);
    }
    y[row] = static_cast<std::uint16_t>(frontend::float_bits(kType, sum));
  }
}

/// Eight weights a word: nibbles p and p + 4 are weights 2p and 2p + 1. Groups of 128 have one scale.
void gemv_int4(const Arguments& arguments, Dim3, Dim3) {
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[4]);
  const std::size_t columns = count_of(arguments[5]);
  const auto* weights = arguments[0].elements<std::uint32_t>(rows * columns / 8);
  const auto* scales = arguments[1].elements<std::uint16_t>(rows * columns / 128);
  const auto* x = arguments[2].elements<std::uint16_t>(columns);
  auto* y = arguments[3].elements<std::uint16_t>(rows);
  std::vector<double> vector(columns);
  for (std::size_t i = 0; i < columns; ++i) vector[i] = frontend::float_value(kType, x[i]);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::uint32_t word = weights[(row * columns + i) / 8];
      const std::size_t nibble = i % 8 / 2 + i % 2 * 4;
      const double weight = static_cast<double>(word >> (4 * nibble) & 15u) - 8;
      sum += frontend::float_value(kType, scales[(row * columns + i) / 128]) * weight * vector[i];
    }
    y[row] = static_cast<std::uint16_t>(frontend::float_bits(kType, sum));
  }
}

const Registration kMatrixVector{
    {"gemv_rows", gemv_rows},
    {"gemv_columns", gemv_columns},
    {"gemv_half", gemv_half},
    {"gemv_int4", gemv_int4},
};

}  // namespace
}  // namespace foretrace::references
