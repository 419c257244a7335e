#include "validate/kernels/references.h"

#include <cmath>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

// Everything in double precision, rounded once at the end; the launch files say how far the kernels may be from it.

void softmax_rows(const float* in, float* out, std::size_t rows, std::size_t columns) {
  std::vector<double> power(columns);
  for (std::size_t row = 0; row < rows; ++row, in += columns, out += columns) {
    const auto largest = static_cast<double>(*std::max_element(in, in + columns));
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      power[i] = std::exp(static_cast<double>(in[i]) - largest);
      sum += power[i];
    }
    for (std::size_t i = 0; i < columns; ++i) out[i] = static_cast<float>(power[i] / sum);
  }
}

void softmax_block(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t columns = count_of(arguments[2]);
  softmax_rows(arguments[0].elements<float>(grid.x * columns), arguments[1].elements<float>(grid.x * columns),
               grid.x, columns);
}

template <std::size_t COLUMNS>
void softmax_warp(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t rows = count_of(arguments[2]);
  softmax_rows(arguments[0].elements<float>(rows * COLUMNS), arguments[1].elements<float>(rows * COLUMNS),
               rows, COLUMNS);
}

void layernorm(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t columns = 4 * count_of(arguments[4]);
  const auto epsilon = static_cast<double>(arguments[5].value<float>());
  const auto* in = arguments[0].elements<float>(grid.x * columns);
  const auto* gamma = arguments[1].elements<float>(columns);
  const auto* beta = arguments[2].elements<float>(columns);
  auto* out = arguments[3].elements<float>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row, in += columns, out += columns) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(in[i]);
    const double mean = sum / static_cast<double>(columns);
    double squares = 0;
    for (std::size_t i = 0; i < columns; ++i) squares += std::pow(static_cast<double>(in[i]) - mean, 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (std::size_t i = 0; i < columns; ++i) {
      out[i] =
          static_cast<float>((static_cast<double>(in[i]) - mean) * scale * static_cast<double>(gamma[i]) +
                             static_cast<double>(beta[i]));
    }
  }
}

void rmsnorm(const Arguments& arguments, Dim3, Dim3) {
  constexpr auto kType = frontend::ElementType::bf16;
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = 8 * count_of(arguments[4]);
  const auto epsilon = static_cast<double>(arguments[5].value<float>());
  const auto* in = arguments[0].elements<std::uint16_t>(rows * columns);
  const auto* weight = arguments[1].elements<std::uint16_t>(columns);
  auto* out = arguments[2].elements<std::uint16_t>(rows * columns);
  for (std::size_t row = 0; row < rows; ++row, in += columns, out += columns) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::pow(frontend::float_value(kType, in[i]), 2);
    const double scale = 1 / std::sqrt(sum / static_cast<double>(columns) + epsilon);
    for (std::size_t i = 0; i < columns; ++i) {
      const double value =
          frontend::float_value(kType, in[i]) * scale * frontend::float_value(kType, weight[i]);
      out[i] = static_cast<std::uint16_t>(frontend::float_bits(kType, value));
    }
  }
}

void batch_norm_statistics(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t images = count_of(arguments[2]);
  const std::size_t pixels = 4 * count_of(arguments[3]);
  const auto epsilon = static_cast<double>(arguments[4].value<float>());
  const auto* in = arguments[0].elements<float>(images * grid.x * pixels);
  auto* statistics = arguments[1].elements<float>(std::size_t{grid.x} * 2);
  for (std::size_t channel = 0; channel < grid.x; ++channel) {
    double sum = 0, squares = 0;
    for (std::size_t image = 0; image < images; ++image) {
      const float* plane = in + (image * grid.x + channel) * pixels;
      for (std::size_t i = 0; i < pixels; ++i) {
        sum += static_cast<double>(plane[i]);
        squares += std::pow(static_cast<double>(plane[i]), 2);
      }
    }
    const double mean = sum / static_cast<double>(images * pixels);
    const double variance = squares / static_cast<double>(images * pixels) - mean * mean;
    statistics[2 * channel] = static_cast<float>(mean);
    statistics[2 * channel + 1] = static_cast<float>(1 / std::sqrt(variance + epsilon));
  }
}

void batch_norm_apply(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t pixels = 4 * count_of(arguments[5]);
  const std::size_t planes = std::size_t{grid.x} * grid.y;
  const auto* in = arguments[0].elements<float>(planes * pixels);
  const auto* statistics = arguments[1].elements<float>(std::size_t{grid.x} * 2);
  const auto* gamma = arguments[2].elements<float>(grid.x);
  const auto* beta = arguments[3].elements<float>(grid.x);
  auto* out = arguments[4].elements<float>(planes * pixels);
  for (std::size_t i = 0; i < planes * pixels; ++i) {
    const std::size_t channel = i / pixels % grid.x;
    const double scale =
        static_cast<double>(gamma[channel]) * static_cast<double>(statistics[2 * channel + 1]);
    const double centred = static_cast<double>(in[i]) - static_cast<double>(statistics[2 * channel]);
    out[i] = static_cast<float>(std::fmax(centred * scale + static_cast<double>(beta[channel]), 0.0));
  }
}

/// Two vectors of eight halves a thread; the sum is rounded to half precision before anything else is made of it.
void residual_rmsnorm(const Arguments& arguments, Dim3 grid, Dim3 block) {
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 5);
  const std::size_t width = std::size_t{16} * block.x;
  const auto* in = arguments[0].elements<std::uint16_t>(grid.x * width);
  auto* residual = arguments[1].elements<std::uint16_t>(grid.x * width);
  const auto* weight = arguments[2].elements<std::uint16_t>(width);
  auto* out = arguments[3].elements<std::uint16_t>(grid.x * width);
  const auto epsilon = static_cast<double>(arguments[4].value<float>());
  const auto wide = [](std::uint16_t bits) { return frontend::float_value(kType, bits); };
  const auto half = [](double value) {
    return static_cast<std::uint16_t>(frontend::float_bits(kType, value));
  };
  for (std::size_t row = 0; row < grid.x; ++row, in += width, residual += width, out += width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      residual[i] = half(wide(in[i]) + wide(residual[i]));
      squares += wide(residual[i]) * wide(residual[i]);
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t i = 0; i < width; ++i) {
      out[i] = half(wide(half(wide(residual[i]) * scale)) * wide(weight[i]));
    }
  }
}

const Registration kNormalization{
    {"softmax_block", softmax_block},
    {"softmax_warp_128", softmax_warp<128>},
    {"softmax_warp_1024", softmax_warp<1024>},
    {"layernorm", layernorm},
    {"rmsnorm", rmsnorm},
    {"batch_norm_statistics", batch_norm_statistics},
    {"batch_norm_apply", batch_norm_apply},
    {"residual_rmsnorm", residual_rmsnorm},
};

}  // namespace
}  // namespace foretrace::references
