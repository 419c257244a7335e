#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void bilateral_filter(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const std::int64_t radius = arguments[4].value<std::int32_t>();
  const double sigma = arguments[5].value<float>(), edge = arguments[6].value<float>();
  const auto* in = arguments[0].elements<std::uint8_t>(static_cast<std::size_t>(4 * width * height));
  auto* out = arguments[1].elements<float>(static_cast<std::size_t>(4 * width * height));
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x, out += 4) {
      const auto* centre = in + 4 * (y * width + x);
      double sums[4] = {}, weights = 0;
      for (std::int64_t i = -radius; i <= radius; ++i) {
        for (std::int64_t j = -radius; j <= radius; ++j) {
          const auto* p = in + 4 * (std::clamp<std::int64_t>(y + i, 0, height - 1) * width +
                                    std::clamp<std::int64_t>(x + j, 0, width - 1));
          double apart = 0;
          for (std::size_t k = 0; k < 3; ++k) apart += std::pow((p[k] - centre[k]) / 255.0, 2);
          const double weight =
              std::exp(-static_cast<double>(i * i + j * j) / (2 * sigma * sigma) - apart / (2 * edge * edge));
          for (std::size_t k = 0; k < 4; ++k) sums[k] += weight * p[k] / 255.0;
          weights += weight;
        }
      }
      for (std::size_t k = 0; k < 4; ++k) out[k] = static_cast<float>(sums[k] / weights);
    }
  }
}

void dct(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t pixels = arguments[0].bytes / sizeof(float);
  const auto* in = arguments[0].elements<float>(pixels);
  auto* out = arguments[1].elements<float>(pixels);
  double cosines[8][8];
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 8; ++i) {
      cosines[k][i] = (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * i + 1) * k * std::acos(-1.0) / 16);
    }
  }
  for (std::size_t top = 0; top < pixels / width; top += 8) {
    for (std::size_t left = 0; left < width; left += 8) {
      double rows[8][8] = {};
      for (std::size_t i = 0; i < 512; ++i) {
        const std::size_t y = i / 64, k = i / 8 % 8, x = i % 8;
        rows[y][k] += cosines[k][x] * in[(top + y) * width + left + x];
      }
      for (std::size_t i = 0; i < 64; ++i) {
        double sum = 0;
        for (std::size_t y = 0; y < 8; ++y) sum += cosines[i / 8][y] * rows[y][i % 8];
        out[(top + i / 8) * width + left + i % 8] = static_cast<float>(sum);
      }
    }
  }
}

/// Sums and differences of numbers `stride` apart.
template <typename T>
void butterflies(T* data, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    if ((i & stride) != 0) continue;
    const T a = data[i], b = data[i + stride];
    data[i] = a + b;
    data[i + stride] = a - b;
  }
}

void walsh_pass(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 2);
  const std::size_t count = std::size_t{4} * grid.x * block.x, stride = count_of(arguments[1]);
  auto* data = arguments[0].elements<float>(count);
  butterflies(data, count, 2 * stride);
  butterflies(data, count, stride);
}

void walsh_lines(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  const std::size_t n = std::size_t{1} << count_of(arguments[1]);
  auto* data = arguments[0].elements<float>(grid.x * n);
  for (std::size_t line = 0; line < grid.x; ++line, data += n) {
    std::vector<double> wide(data, data + n);
    for (std::size_t stride = 1; stride < n; stride *= 2) butterflies(wide.data(), n, stride);
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<float>(wide[i]);
  }
}

void recursive_gaussian(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t width = 4 * count_of(arguments[2]), height = count_of(arguments[3]);
  const auto* in = arguments[0].elements<std::uint8_t>(width * height);
  auto* out = arguments[1].elements<float>(width * height);
  double a[4], b[2];
  for (std::size_t i = 0; i < 4; ++i) a[i] = arguments[4 + i].value<float>();
  for (std::size_t i = 0; i < 2; ++i) b[i] = arguments[8 + i].value<float>();
  for (std::size_t x = 0; x < width; ++x) {
    std::vector<double> down(height);
    for (std::size_t y = 0; y < height; ++y) {
      down[y] = a[0] * in[y * width + x];
      if (y > 0) down[y] += a[1] * in[(y - 1) * width + x] - b[0] * down[y - 1];
      if (y > 1) down[y] -= b[1] * down[y - 2];
    }
    std::vector<double> up(height + 2);
    for (std::size_t y = height; y-- > 0;) {
      up[y] = -b[0] * up[y + 1] - b[1] * up[y + 2];
      if (y + 1 < height) up[y] += a[2] * in[(y + 1) * width + x];
      if (y + 2 < height) up[y] += a[3] * in[(y + 2) * width + x];
      out[y * width + x] = static_cast<float>(down[y] + up[y]);
    }
  }
}

const Registration kRegistered{
    {"bilateral_filter", bilateral_filter},
    {"dct", dct},
    {"walsh_pass", walsh_pass},
    {"walsh_lines", walsh_lines},
    {"recursive_gaussian", recursive_gaussian},
};

}  // namespace
}  // namespace foretrace::references
