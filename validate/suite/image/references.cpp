#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

struct Place {
  std::size_t first, second;
  double weight;  // of the second
};

/// Where pixel `i` of `out` lies among `in` pixels.
Place place_of(std::size_t i, std::size_t in, std::size_t out) {
  const double exact =
      (static_cast<double>(i) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
  const double from = std::clamp(exact, 0.0, static_cast<double>(in - 1));
  const auto first = static_cast<std::size_t>(from);
  return {first, std::min(first + 1, in - 1), from - static_cast<double>(first)};
}

void bilinear_resize(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t planes = count_of(arguments[2]);
  const std::size_t in_width = count_of(arguments[3]), in_height = count_of(arguments[4]);
  const std::size_t out_width = count_of(arguments[5]), out_height = count_of(arguments[6]);
  const auto* in = arguments[0].elements<float>(planes * in_width * in_height);
  auto* out = arguments[1].elements<float>(planes * out_width * out_height);
  for (std::size_t plane = 0; plane < planes; ++plane, in += in_width * in_height) {
    for (std::size_t y = 0; y < out_height; ++y) {
      const Place row = place_of(y, in_height, out_height);
      for (std::size_t x = 0; x < out_width; ++x) {
        const Place col = place_of(x, in_width, out_width);
        const auto mix = [&](std::size_t line) {
          return (1 - col.weight) * static_cast<double>(in[line * in_width + col.first]) +
                 col.weight * static_cast<double>(in[line * in_width + col.second]);
        };
        *out++ = static_cast<float>((1 - row.weight) * mix(row.first) + row.weight * mix(row.second));
      }
    }
  }
}

void gray_sobel(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto pixels = static_cast<std::size_t>(width * height);
  const auto* in = arguments[0].elements<std::uint8_t>(4 * pixels);
  auto* out = arguments[1].elements<std::uint8_t>(pixels);
  const auto gray = [&](std::int64_t x, std::int64_t y) {
    const auto* p = in + 4 * (std::clamp<std::int64_t>(y, 0, height - 1) * width +
                              std::clamp<std::int64_t>(x, 0, width - 1));
    return (77 * p[0] + 150 * p[1] + 29 * p[2]) / 256;
  };
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      int across = 0, down = 0;
      for (std::int64_t k = -1; k <= 1; ++k) {
        const int weight = k == 0 ? 2 : 1;
        across += weight * (gray(x + 1, y + k) - gray(x - 1, y + k));
        down += weight * (gray(x + k, y + 1) - gray(x + k, y - 1));
      }
      out[y * width + x] = static_cast<std::uint8_t>(std::min((std::abs(across) + std::abs(down)) / 2, 255));
    }
  }
}

void integral_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t width = count_of(arguments[2]);
  const auto* in = arguments[0].elements<std::uint8_t>(grid.x * width);
  auto* out = arguments[1].elements<std::uint32_t>(grid.x * width);
  for (std::size_t i = 0; i < grid.x * width; ++i) out[i] = in[i] + (i % width == 0 ? 0 : out[i - 1]);
}

void integral_columns(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const auto* in = arguments[0].elements<std::uint32_t>(width * height);
  auto* out = arguments[1].elements<std::uint32_t>(width * height);
  for (std::size_t i = 0; i < width * height; ++i) out[i] = in[i] + (i < width ? 0 : out[i - width]);
}

/// Of a pixel and its neighbours, those beyond a side being the pixel itself.
struct Cross {
  std::size_t north, south, west, east;
};

Cross cross_of(std::size_t row, std::size_t col, std::size_t rows, std::size_t cols) {
  return {(row == 0 ? 0 : row - 1) * cols + col, std::min(row + 1, rows - 1) * cols + col,
          row * cols + (col == 0 ? 0 : col - 1), row * cols + std::min(col + 1, cols - 1)};
}

void srad_coefficients(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t rows = count_of(arguments[6]);
  const std::size_t cols = count_of(arguments[7]);
  const auto* image = arguments[0].elements<float>(rows * cols);
  float* derivatives[4];
  for (std::size_t side = 0; side < 4; ++side) {
    derivatives[side] = arguments[1 + side].elements<float>(rows * cols);
  }
  auto* coefficient = arguments[5].elements<float>(rows * cols);
  const auto q0 = static_cast<double>(arguments[8].value<float>());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      const std::size_t index = row * cols + col;
      const Cross near = cross_of(row, col, rows, cols);
      const std::size_t from[4] = {near.north, near.south, near.west, near.east};
      double squares = 0, sum = 0;
      const auto here = static_cast<double>(image[index]);
      for (std::size_t side = 0; side < 4; ++side) {
        derivatives[side][index] = image[from[side]] - image[index];
        const auto d = static_cast<double>(derivatives[side][index]);
        squares += d * d;
        sum += d;
      }
      const double gradient = squares / (here * here), laplacian = sum / here;
      const double denominator = 1 + 0.25 * laplacian;
      const double q = (0.5 * gradient - laplacian * laplacian / 16) / (denominator * denominator);
      const double c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
      coefficient[index] = static_cast<float>(std::clamp(c, 0.0, 1.0));
    }
  }
}

void srad_update(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t rows = count_of(arguments[6]);
  const std::size_t cols = count_of(arguments[7]);
  auto* image = arguments[0].elements<float>(rows * cols);
  const auto* north = arguments[1].elements<float>(rows * cols);
  const auto* south = arguments[2].elements<float>(rows * cols);
  const auto* west = arguments[3].elements<float>(rows * cols);
  const auto* east = arguments[4].elements<float>(rows * cols);
  const auto* coefficient = arguments[5].elements<float>(rows * cols);
  const auto lambda = static_cast<double>(arguments[8].value<float>());
  const auto product = [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      const std::size_t index = row * cols + col;
      const Cross near = cross_of(row, col, rows, cols);
      const double divergence =
          product(coefficient[index], north[index]) + product(coefficient[near.south], south[index]) +
          product(coefficient[index], west[index]) + product(coefficient[near.east], east[index]);
      image[index] = static_cast<float>(static_cast<double>(image[index]) + lambda / 4 * divergence);
    }
  }
}

const Registration kImage{
    {"bilinear_resize", bilinear_resize},     {"gray_sobel", gray_sobel},
    {"integral_rows", integral_rows},         {"integral_columns", integral_columns},
    {"srad_coefficients", srad_coefficients}, {"srad_update", srad_update},
};

}  // namespace
}  // namespace foretrace::references
