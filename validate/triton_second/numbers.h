// Numbers of the buffers that Triton's kernels of this folder work on, as doubles: for their references.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/frontend/launch/buffer_values.h"
#include "validate/kernels/references.h"

namespace foretrace::references::triton_second {

using frontend::ElementType;
using Doubles = std::vector<double>;
constexpr ElementType kF16 = ElementType::f16, kBF16 = ElementType::bf16, kF32 = ElementType::f32;

/// All elements of a buffer.
inline Doubles read(ElementType type, const ArgumentView& argument) {
  Doubles result(argument.bytes / frontend::element_bytes(type));
  if (type == kF32) {
    const auto* values = argument.elements<float>(result.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(values[i]);
  } else {
    const auto* values = argument.elements<std::uint16_t>(result.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = frontend::float_value(type, values[i]);
  }
  return result;
}

/// Rounds to nearest even.
inline void write(ElementType type, const ArgumentView& argument, const Doubles& from) {
  if (type == kF32) {
    auto* values = argument.elements<float>(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) values[i] = static_cast<float>(from[i]);
  } else {
    auto* values = argument.elements<std::uint16_t>(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      values[i] = static_cast<std::uint16_t>(frontend::float_bits(type, from[i]));
  }
}

inline std::vector<std::size_t> indices(const ArgumentView& argument) {
  const std::size_t count = argument.bytes / sizeof(std::int32_t);
  const auto* values = argument.elements<std::int32_t>(count);
  return std::vector<std::size_t>(values, values + count);
}

inline double number(const ArgumentView& argument) { return static_cast<double>(argument.value<float>()); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Adds a b to c; a is rows x depth, b depth x columns.
inline void multiply(const double* a, const double* b, double* c, std::size_t rows, std::size_t columns,
                     std::size_t depth) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < depth; ++i) {
      const double from_a = a[row * depth + i];
      for (std::size_t col = 0; col < columns; ++col) c[row * columns + col] += from_a * b[i * columns + col];
    }
  }
}

inline Doubles transposed(const double* x, std::size_t rows, std::size_t columns) {
  Doubles result(rows * columns);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < columns; ++col) result[col * rows + row] = x[row * columns + col];
  return result;
}

}  // namespace foretrace::references::triton_second
