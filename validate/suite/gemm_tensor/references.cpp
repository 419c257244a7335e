#include "validate/kernels/references.h"

#include <cmath>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

using frontend::ElementType;

/// c = a b in double precision; a is rows x depth, b depth x columns.
void multiply(const std::vector<double>& a, const std::vector<double>& b, float* c, std::size_t rows,
              std::size_t columns, std::size_t depth) {
  std::vector<double> sum(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < depth; ++i) {
      const double from_a = a[row * depth + i];
      const double* from_b = b.data() + i * columns;
      for (std::size_t col = 0; col < columns; ++col) sum[col] += from_a * from_b[col];
    }
    for (std::size_t col = 0; col < columns; ++col) c[row * columns + col] = static_cast<float>(sum[col]);
  }
}

std::vector<double> widened(ElementType type, const std::uint16_t* values, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = frontend::float_value(type, values[i]);
  return result;
}

/// Rounded to TF32: 11 bits, a half away from zero.
std::vector<double> rounded_to_tf32(const float* values, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof(bits));
    bits = (bits + 0x1000u) & ~0x1fffu;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    result[i] = static_cast<double>(value);
  }
  return result;
}

struct Shape {
  std::size_t rows, columns, depth;
};

/// a, b, c, columns, depth; a grid row is `tile` rows.
Shape shape_of(const Arguments& arguments, Dim3 grid, std::size_t tile) {
  need(arguments, 5);
  return {grid.y * tile, count_of(arguments[3]), count_of(arguments[4])};
}

void half_product(ElementType type, const Arguments& arguments, Dim3 grid) {
  const auto [rows, columns, depth] = shape_of(arguments, grid, 64);
  const auto* a = arguments[0].elements<std::uint16_t>(rows * depth);
  const auto* b = arguments[1].elements<std::uint16_t>(depth * columns);
  multiply(widened(type, a, rows * depth), widened(type, b, depth * columns),
           arguments[2].elements<float>(rows * columns), rows, columns, depth);
}

void mma_f16(const Arguments& arguments, Dim3 grid, Dim3) { half_product(ElementType::f16, arguments, grid); }

void wmma_bf16(const Arguments& arguments, Dim3 grid, Dim3) {
  half_product(ElementType::bf16, arguments, grid);
}

void wmma_tf32(const Arguments& arguments, Dim3 grid, Dim3) {
  const auto [rows, columns, depth] = shape_of(arguments, grid, 64);
  const auto* a = arguments[0].elements<float>(rows * depth);
  const auto* b = arguments[1].elements<float>(depth * columns);
  multiply(rounded_to_tf32(a, rows * depth), rounded_to_tf32(b, depth * columns),
           arguments[2].elements<float>(rows * columns), rows, columns, depth);
}

void mma_s8(const Arguments& arguments, Dim3 grid, Dim3) {
  const auto [rows, columns, depth] = shape_of(arguments, grid, 64);
  const auto* a = arguments[0].elements<std::int8_t>(rows * depth);
  const auto* b = arguments[1].elements<std::int8_t>(columns * depth);
  auto* c = arguments[2].elements<std::int32_t>(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < columns; ++col) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < depth; ++i) sum += a[row * depth + i] * b[col * depth + i];
      c[row * columns + col] = sum;
    }
  }
}

void mma_swizzled(const Arguments& arguments, Dim3 grid, Dim3) {
  const auto [rows, columns, depth] = shape_of(arguments, grid, 128);
  const auto* a = arguments[0].elements<std::uint16_t>(rows * depth);
  const auto* b = arguments[1].elements<std::uint16_t>(depth * columns);
  auto* c = arguments[2].elements<std::uint16_t>(rows * columns);
  std::vector<float> sums(rows * columns);
  multiply(widened(ElementType::bf16, a, rows * depth), widened(ElementType::bf16, b, depth * columns),
           sums.data(), rows, columns, depth);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    c[i] = static_cast<std::uint16_t>(frontend::float_bits(ElementType::bf16, static_cast<double>(sums[i])));
  }
}

void mma_three_stages(const Arguments& arguments, Dim3 grid, Dim3) {
  const auto [rows, columns, depth] = shape_of(arguments, grid, 128);
  const auto* a = arguments[0].elements<std::uint16_t>(rows * depth);
  const auto* b = arguments[1].elements<std::uint16_t>(depth * columns);
  auto* c = arguments[2].elements<std::uint16_t>(rows * columns);
  std::vector<float> sums(rows * columns);
  multiply(widened(ElementType::f16, a, rows * depth), widened(ElementType::f16, b, depth * columns),
           sums.data(), rows, columns, depth);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    c[i] = static_cast<std::uint16_t>(frontend::float_bits(ElementType::f16, static_cast<double>(sums[i])));
  }
}

const Registration kGemmTensor{
    {"mma_f16", mma_f16},           {"mma_s8", mma_s8},
    {"wmma_bf16", wmma_bf16},       {"wmma_tf32", wmma_tf32},
    {"mma_swizzled", mma_swizzled}, {"mma_three_stages", mma_three_stages},
};

}  // namespace
}  // namespace foretrace::references
