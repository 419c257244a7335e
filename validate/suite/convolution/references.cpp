#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

// Sums are made in double precision; the launch files say how far the kernels' own may be from them.

/// The pixel, or zero outside the image.
double pixel(const float* in, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  return x >= 0 && x < width && y >= 0 && y < height ? static_cast<double>(in[y * width + x]) : 0.0;
}

void filter_image(const float* in, const float* filter, float* out, std::int64_t width, std::int64_t height,
                  std::int64_t radius) {
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      const float* weight = filter;
      for (std::int64_t dy = -radius; dy <= radius; ++dy) {
        for (std::int64_t dx = -radius; dx <= radius; ++dx) {
          sum += static_cast<double>(*weight++) * pixel(in, x + dx, y + dy, width, height);
        }
      }
      out[y * width + x] = static_cast<float>(sum);
    }
  }
}

/// in, filter, out, width, height, and a radius where it is no constant of the kernel.
void conv2d(const Arguments& arguments, std::size_t radius) {
  const std::size_t width = count_of(arguments[3]);
  const std::size_t height = count_of(arguments[4]);
  filter_image(arguments[0].elements<float>(width * height),
               arguments[1].elements<float>((2 * radius + 1) * (2 * radius + 1)),
               arguments[2].elements<float>(width * height), static_cast<std::int64_t>(width),
               static_cast<std::int64_t>(height), static_cast<std::int64_t>(radius));
}

void conv2d_direct(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  conv2d(arguments, count_of(arguments[5]));
}

void conv2d_tile(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  conv2d(arguments, 2);
}

void conv2d_constant(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  constexpr double kBinomial[] = {1, 6, 15, 20, 15, 6, 1};
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto pixels = static_cast<std::size_t>(width * height);
  const auto* in = arguments[0].elements<float>(pixels);
  auto* out = arguments[1].elements<float>(pixels);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::int64_t dy = -3; dy <= 3; ++dy) {
        const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, height - 1);
        for (std::int64_t dx = -3; dx <= 3; ++dx) {
          const std::int64_t col = std::clamp<std::int64_t>(x + dx, 0, width - 1);
          sum += kBinomial[dy + 3] * kBinomial[dx + 3] * static_cast<double>(in[row * width + col]);
        }
      }
      out[y * width + x] = static_cast<float>(sum / 4096);
    }
  }
}

/// The 17-tap triangle along x (step 1) or along y.
void convolve_line(const Arguments& arguments, std::int64_t step_x, std::int64_t step_y) {
  need(arguments, 4);
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto pixels = static_cast<std::size_t>(width * height);
  const auto* in = arguments[0].elements<float>(pixels);
  auto* out = arguments[1].elements<float>(pixels);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::int64_t tap = -8; tap <= 8; ++tap) {
        sum += static_cast<double>(9 - std::abs(tap)) *
               pixel(in, x + tap * step_x, y + tap * step_y, width, height);
      }
      out[y * width + x] = static_cast<float>(sum / 81);
    }
  }
}

void convolve_rows(const Arguments& arguments, Dim3, Dim3) { convolve_line(arguments, 1, 0); }

void convolve_columns(const Arguments& arguments, Dim3, Dim3) { convolve_line(arguments, 0, 1); }

void conv_layer(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t channels = count_of(arguments[4]);
  const std::size_t width = count_of(arguments[5]);
  const std::size_t height = count_of(arguments[6]);
  const std::size_t filters = std::size_t{grid.z} * 4;
  const std::size_t pixels = width * height;
  const auto* in = arguments[0].elements<float>(channels * pixels);
  const auto* weights = arguments[1].elements<float>(filters * channels * 9);
  const auto* bias = arguments[2].elements<float>(filters);
  auto* out = arguments[3].elements<float>(filters * pixels);
  std::vector<double> sum(pixels);
  for (std::size_t k = 0; k < filters; ++k) {
    std::fill(sum.begin(), sum.end(), static_cast<double>(bias[k]));
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t tap = 0; tap < 9; ++tap) {
        const auto weight = static_cast<double>(weights[(k * channels + c) * 9 + tap]);
        for (std::size_t y = 0; y < height; ++y) {
          const std::size_t py = y + tap / 3 - 1;  // wraps above the image, and is then not below `height`
          if (py >= height) continue;
          for (std::size_t x = 0; x < width; ++x) {
            const std::size_t px = x + tap % 3 - 1;
            if (px < width)
              sum[y * width + x] += weight * static_cast<double>(in[c * pixels + py * width + px]);
          }
        }
      }
    }
    for (std::size_t i = 0; i < pixels; ++i) out[k * pixels + i] = static_cast<float>(std::fmax(sum[i], 0.0));
  }
}

const Registration kConvolution{
    {"conv2d_direct", conv2d_direct},       {"conv2d_tile", conv2d_tile},
    {"conv2d_constant", conv2d_constant},   {"convolve_rows", convolve_rows},
    {"convolve_columns", convolve_columns}, {"conv_layer", conv_layer},
};

}  // namespace
}  // namespace foretrace::references
