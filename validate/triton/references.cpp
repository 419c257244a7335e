#include "validate/kernels/references.h"

#include <cmath>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

using frontend::ElementType;
using Doubles = std::vector<double>;

Doubles widened(ElementType type, const ArgumentView& argument, std::size_t count) {
  Doubles result(count);
  if (type == ElementType::f32) {
    const auto* values = argument.elements<float>(count);
    std::copy(values, values + count, result.begin());
  } else {
    const auto* values = argument.elements<std::uint16_t>(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = frontend::float_value(type, values[i]);
  }
  return result;
}

std::uint16_t half_of(double value) {
  return static_cast<std::uint16_t>(frontend::float_bits(ElementType::f16, value));
}

/// What a tensor core takes of an f32: the low 13 bits are ignored.
double tf32_of(double value) {
  const float whole = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &whole, sizeof bits);
  bits &= ~std::uint32_t{0x1fff};
  float cut = 0;
  std::memcpy(&cut, &bits, sizeof cut);
  return static_cast<double>(cut);
}

/// e4m3, finite numbers alone.
double e4m3_value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

/// Adds a b to c; a is rows x depth, b depth x columns.
void multiply(const double* a, const double* b, double* c, std::size_t rows, std::size_t columns,
              std::size_t depth) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < depth; ++i) {
      const double from_a = a[row * depth + i];
      for (std::size_t col = 0; col < columns; ++col) c[row * columns + col] += from_a * b[i * columns + col];
    }
  }
}

void add(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t n = count_of(arguments[3]);
  const auto *x = arguments[0].elements<float>(n), *y = arguments[1].elements<float>(n);
  auto* out = arguments[2].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
}

void gelu(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t columns = count_of(arguments[3]), n = count_of(arguments[4]);
  const Doubles x = widened(ElementType::f16, arguments[0], n);
  const Doubles bias = widened(ElementType::f16, arguments[1], columns);
  auto* out = arguments[2].elements<std::uint16_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double v = x[i] + bias[i % columns];
    out[i] = half_of(0.5 * v * (1 + std::erf(v * std::sqrt(0.5))));
  }
}

/// First word of Philox4x32-10 of the counter {counter, 0, 0, 0} and the key {seed, 0}: Salmon et al., SC11.
std::uint32_t philox(std::uint32_t counter, std::uint32_t seed) {
  std::uint32_t c[4] = {counter, 0, 0, 0}, key[2] = {seed, 0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53} * c[0], right = std::uint64_t{0xCD9E8D57} * c[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(right >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(right),
        static_cast<std::uint32_t>(left >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(left)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c[0];
}

void dropout(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t n = count_of(arguments[2]);
  const float p = arguments[3].value<float>();
  const auto seed = static_cast<std::uint32_t>(count_of(arguments[4]));
  const auto* x = arguments[0].elements<float>(n);
  auto* out = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto word = static_cast<std::int32_t>(philox(static_cast<std::uint32_t>(i), seed));
    const float uniform = static_cast<float>(word < 0 ? -word - 1 : word) * 4.6566127342e-10f;
    out[i] = uniform > p ? x[i] / (1 - p) : 0;
  }
}

void softmax(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t columns = count_of(arguments[2]);
  const auto* x = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row, x += columns, out += columns) {
    const double most = static_cast<double>(*std::max_element(x, x + columns));
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(x[i]) - most);
    for (std::size_t i = 0; i < columns; ++i)
      out[i] = static_cast<float>(std::exp(static_cast<double>(x[i]) - most) / sum);
  }
}

void layer_norm(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t columns = count_of(arguments[4]);
  const Doubles x = widened(ElementType::f16, arguments[0], grid.x * columns);
  const auto *weight = arguments[1].elements<float>(columns), *bias = arguments[2].elements<float>(columns);
  auto* out = arguments[3].elements<std::uint16_t>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row) {
    const double* values = x.data() + row * columns;
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < columns; ++i) mean += values[i] / static_cast<double>(columns);
    for (std::size_t i = 0; i < columns; ++i) square += (values[i] - mean) * (values[i] - mean);
    const double scale = 1 / std::sqrt(square / static_cast<double>(columns) + 1e-5);
    for (std::size_t i = 0; i < columns; ++i) {
      out[row * columns + i] =
          half_of((values[i] - mean) * scale * static_cast<double>(weight[i]) + static_cast<double>(bias[i]));
    }
  }
}

void rms_norm(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[3]);
  const Doubles x = widened(ElementType::f32, arguments[0], grid.x * columns);
  const auto* weight = arguments[1].elements<float>(columns);
  auto* out = arguments[2].elements<float>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row) {
    double square = 0;
    for (std::size_t i = 0; i < columns; ++i) square += x[row * columns + i] * x[row * columns + i];
    const double scale = 1 / std::sqrt(square / static_cast<double>(columns) + 1e-6);
    for (std::size_t i = 0; i < columns; ++i)
      out[row * columns + i] =
          static_cast<float>(x[row * columns + i] * scale * static_cast<double>(weight[i]));
  }
}

void row_sum(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t columns = count_of(arguments[2]);
  const auto* x = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(x[row * columns + i]);
    out[row] = static_cast<float>(sum);
  }
}

void cumsum(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t columns = count_of(arguments[2]);
  const auto* x = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row) {
    double sum = 0;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i)
      out[i] = static_cast<float>(sum += static_cast<double>(x[i]));
  }
}

void atomic_sum(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[2]);
  const auto* x = arguments[0].elements<std::int32_t>(n);
  auto* out = arguments[1].elements<std::int32_t>(1);
  for (std::size_t i = 0; i < n; ++i) *out += x[i];
}

void transpose(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[2]), columns = count_of(arguments[3]);
  const auto* x = arguments[0].elements<float>(rows * columns);
  auto* out = arguments[1].elements<float>(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < columns; ++col) out[col * rows + row] = x[row * columns + col];
  }
}

void embedding(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[3]);
  const auto* index = arguments[1].elements<std::int32_t>(grid.x);
  auto* out = arguments[2].elements<std::uint16_t>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row) {
    const auto at = static_cast<std::size_t>(index[row]);
    const auto* table = arguments[0].elements<std::uint16_t>((at + 1) * columns);
    std::copy(table + at * columns, table + (at + 1) * columns, out + row * columns);
  }
}

/// a, b, c, rows, columns, depth.
void product(ElementType type, const Arguments& arguments) {
  need(arguments, 8);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  Doubles a = widened(type, arguments[0], m * k), b = widened(type, arguments[1], k * n), sums(m * n);
  if (type == ElementType::f32) {
    std::transform(a.begin(), a.end(), a.begin(), tf32_of);
    std::transform(b.begin(), b.end(), b.begin(), tf32_of);
  }
  multiply(a.data(), b.data(), sums.data(), m, n, k);
  auto* c = arguments[2].elements<float>(m * n);
  for (std::size_t i = 0; i < m * n; ++i) c[i] = static_cast<float>(sums[i]);
}
void matmul_f16(const Arguments& arguments, Dim3, Dim3) { product(ElementType::f16, arguments); }
void matmul_bf16(const Arguments& arguments, Dim3, Dim3) { product(ElementType::bf16, arguments); }
void matmul_f32(const Arguments& arguments, Dim3, Dim3) { product(ElementType::f32, arguments); }

void matmul_i8(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const auto *a = arguments[0].elements<std::int8_t>(m * k), *b = arguments[1].elements<std::int8_t>(k * n);
  auto* c = arguments[2].elements<std::int32_t>(m * n);
  std::fill(c, c + m * n, 0);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t col = 0; col < n; ++col) c[row * n + col] += a[row * k + i] * b[i * n + col];
    }
  }
}

/// b is columns x depth.
void matmul_fp8(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const auto *left = arguments[0].elements<std::uint8_t>(m * k),
             *right = arguments[1].elements<std::uint8_t>(n * k);
  Doubles a(m * k), b(k * n), sums(m * n);
  for (std::size_t i = 0; i < m * k; ++i) a[i] = e4m3_value(left[i]);
  for (std::size_t col = 0; col < n; ++col) {
    for (std::size_t i = 0; i < k; ++i) b[i * n + col] = e4m3_value(right[col * k + i]);
  }
  multiply(a.data(), b.data(), sums.data(), m, n, k);
  auto* c = arguments[2].elements<float>(m * n);
  for (std::size_t i = 0; i < m * n; ++i) c[i] = static_cast<float>(sums[i]);
}

void grouped(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  const std::size_t n = count_of(arguments[4]), k = count_of(arguments[5]);
  const auto* begins = arguments[3].elements<std::int32_t>(grid.z + 1);
  const auto rows = static_cast<std::size_t>(begins[grid.z]);
  const Doubles a = widened(ElementType::f16, arguments[0], rows * k);
  const Doubles b = widened(ElementType::f16, arguments[1], grid.z * k * n);
  Doubles sums(rows * n);
  for (std::size_t expert = 0; expert < grid.z; ++expert) {
    const auto begin = static_cast<std::size_t>(begins[expert]),
               end = static_cast<std::size_t>(begins[expert + 1]);
    multiply(a.data() + begin * k, b.data() + expert * k * n, sums.data() + begin * n, end - begin, n, k);
  }
  auto* c = arguments[2].elements<float>(rows * n);
  for (std::size_t i = 0; i < rows * n; ++i) c[i] = static_cast<float>(sums[i]);
}

/// q, k, v, out, scale, length; heads are the grid's second dimension.
void attend(const Arguments& arguments, Dim3 grid, bool causal) {
  need(arguments, 8);
  const std::size_t length = count_of(arguments[5]), count = arguments[3].bytes / sizeof(float);
  const std::size_t width = count / (grid.y * length);
  const double scale = static_cast<double>(arguments[4].value<float>());
  const Doubles q = widened(ElementType::f16, arguments[0], count),
                k = widened(ElementType::f16, arguments[1], count),
                v = widened(ElementType::f16, arguments[2], count);
  auto* out = arguments[3].elements<float>(count);
  for (std::size_t line = 0; line < grid.y * length; ++line) {
    const std::size_t base = line / length * length, seen = causal ? line % length + 1 : length;
    Doubles scores(seen), result(width);
    for (std::size_t j = 0; j < seen; ++j) {
      for (std::size_t d = 0; d < width; ++d) scores[j] += q[line * width + d] * k[(base + j) * width + d];
      scores[j] *= scale;
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      const double weight = std::exp(scores[j] - most);
      sum += weight;
      for (std::size_t d = 0; d < width; ++d) result[d] += weight * v[(base + j) * width + d];
    }
    for (std::size_t d = 0; d < width; ++d) out[line * width + d] = static_cast<float>(result[d] / sum);
  }
}
void attention(const Arguments& arguments, Dim3 grid, Dim3) { attend(arguments, grid, false); }
void attention_causal(const Arguments& arguments, Dim3 grid, Dim3) { attend(arguments, grid, true); }

const Registration kTriton{
    {"triton_add", add},
    {"triton_gelu", gelu},
    {"triton_dropout", dropout},
    {"triton_softmax", softmax},
    {"triton_layer_norm", layer_norm},
    {"triton_rms_norm", rms_norm},
    {"triton_row_sum", row_sum},
    {"triton_cumsum", cumsum},
    {"triton_atomic_sum", atomic_sum},
    {"triton_transpose", transpose},
    {"triton_embedding", embedding},
    {"triton_matmul_f16", matmul_f16},
    {"triton_matmul_bf16", matmul_bf16},
    {"triton_matmul_f32", matmul_f32},
    {"triton_matmul_i8", matmul_i8},
    {"triton_matmul_fp8", matmul_fp8},
    {"triton_grouped", grouped},
    {"triton_attention", attention},
    {"triton_attention_causal", attention_causal},
};

}  // namespace
}  // namespace foretrace::references
