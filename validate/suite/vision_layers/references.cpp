#include "validate/kernels/references.h"

#include <cmath>
#include <limits>

namespace foretrace::references {
namespace {

void maxpool_indices(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 11);
  const std::size_t count = count_of(arguments[3]);
  const auto height = static_cast<std::int64_t>(count_of(arguments[4]));
  const auto width = static_cast<std::int64_t>(count_of(arguments[5]));
  const auto rows = static_cast<std::int64_t>(count_of(arguments[6]));
  const auto cols = static_cast<std::int64_t>(count_of(arguments[7]));
  const std::int64_t kernel = arguments[8].value<std::int32_t>(), stride = arguments[9].value<std::int32_t>();
  const std::int64_t pad = arguments[10].value<std::int32_t>();
  const auto planes = static_cast<std::int64_t>(count) / (rows * cols);
  const auto* in = arguments[0].elements<float>(static_cast<std::size_t>(planes * height * width));
  auto* out = arguments[1].elements<float>(count);
  auto* index = arguments[2].elements<std::int64_t>(count);
  for (std::int64_t p = 0; p < planes; ++p, in += height * width) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < cols; ++col) {
        float most = -std::numeric_limits<float>::infinity();
        for (std::int64_t y = std::max<std::int64_t>(row * stride - pad, 0);
             y < std::min(row * stride - pad + kernel, height); ++y) {
          for (std::int64_t x = std::max<std::int64_t>(col * stride - pad, 0);
               x < std::min(col * stride - pad + kernel, width); ++x) {
            if (in[y * width + x] > most) {
              most = in[y * width + x];
              *index = y * width + x;
            }
          }
        }
        *out++ = most;
        ++index;
      }
    }
  }
}

/// The weight of a pixel `away` from the place that is wanted.
double cubic(double away) {
  const double a = -0.75, x = std::fabs(away);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

void bicubic_upsample(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t planes = count_of(arguments[2]);
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto width = static_cast<std::int64_t>(count_of(arguments[4]));
  const std::size_t rows = count_of(arguments[5]), cols = count_of(arguments[6]);
  const double scale_y = arguments[7].value<float>(), scale_x = arguments[8].value<float>();
  const auto* in = arguments[0].elements<float>(planes * static_cast<std::size_t>(height * width));
  auto* out = arguments[1].elements<float>(planes * rows * cols);
  for (std::size_t plane = 0; plane < planes; ++plane, in += height * width) {
    for (std::size_t row = 0; row < rows; ++row) {
      const double at_y = scale_y * (static_cast<double>(row) + 0.5) - 0.5;
      const auto y0 = static_cast<std::int64_t>(std::floor(at_y));
      for (std::size_t col = 0; col < cols; ++col) {
        const double at_x = scale_x * (static_cast<double>(col) + 0.5) - 0.5;
        const auto x0 = static_cast<std::int64_t>(std::floor(at_x));
        double sum = 0;
        for (std::int64_t y = y0 - 1; y <= y0 + 2; ++y) {
          for (std::int64_t x = x0 - 1; x <= x0 + 2; ++x) {
            sum += cubic(at_y - static_cast<double>(y)) * cubic(at_x - static_cast<double>(x)) *
                   in[std::clamp<std::int64_t>(y, 0, height - 1) * width +
                      std::clamp<std::int64_t>(x, 0, width - 1)];
          }
        }
        *out++ = static_cast<float>(sum);
      }
    }
  }
}

/// x, y, width and height.
float overlap(const std::int32_t* a, const std::int32_t* b) {
  const std::int32_t width = std::min(a[0] + a[2], b[0] + b[2]) - std::max(a[0], b[0]);
  const std::int32_t height = std::min(a[1] + a[3], b[1] + b[3]) - std::max(a[1], b[1]);
  const std::int32_t both = std::max(width, 0) * std::max(height, 0);
  return static_cast<float>(both) / static_cast<float>(a[2] * a[3] + b[2] * b[3] - both);
}

void nms_bitmask(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const auto* boxes = arguments[0].elements<std::int32_t>(4 * n);
  auto* mask = arguments[1].elements<std::uint64_t>(n * grid.x);
  const auto threshold = arguments[3].value<float>();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t word = i / 64; word < grid.x; ++word) {
      std::uint64_t bits = 0;
      for (std::size_t j = std::max(i + 1, 64 * word); j < std::min(n, 64 * (word + 1)); ++j) {
        if (overlap(boxes + 4 * i, boxes + 4 * j) > threshold) bits |= std::uint64_t{1} << j % 64;
      }
      mask[i * grid.x + word] = bits;
    }
  }
}

float distance(const std::int32_t* a, const std::int32_t* b) {
  const std::int32_t x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return static_cast<float>(x * x + y * y + z * z);
}

void farthest_points(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]), m = count_of(arguments[4]);
  const auto* points = arguments[0].elements<std::int32_t>(3 * n * grid.x);
  auto* nearest = arguments[1].elements<float>(n * grid.x);
  auto* samples = arguments[2].elements<std::int32_t>(m * grid.x);
  for (std::size_t cloud = 0; cloud < grid.x; ++cloud, points += 3 * n, nearest += n) {
    std::size_t last = 0;
    *samples++ = 0;
    for (std::size_t j = 1; j < m; ++j) {
      for (std::size_t k = 0; k < n; ++k)
        nearest[k] = std::min(nearest[k], distance(points + 3 * k, points + 3 * last));
      last = static_cast<std::size_t>(std::max_element(nearest, nearest + n) - nearest);
      *samples++ = static_cast<std::int32_t>(last);
    }
  }
}

void ball_query(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t n = count_of(arguments[3]), m = count_of(arguments[4]), samples = count_of(arguments[5]);
  const auto* centres = arguments[0].elements<std::int32_t>(3 * m * grid.y);
  const auto* points = arguments[1].elements<std::int32_t>(3 * n * grid.y);
  auto* lists = arguments[2].elements<std::int32_t>(samples * m * grid.y);
  const auto radius = arguments[6].value<float>();
  for (std::size_t c = 0; c < m * grid.y; ++c, centres += 3, lists += samples) {
    const std::int32_t* cloud = points + 3 * n * (c / m);
    std::size_t found = 0;
    for (std::size_t k = 0; k < n && found < samples; ++k) {
      if (!(distance(centres, cloud + 3 * k) < radius)) continue;
      const auto number = static_cast<std::int32_t>(k);
      if (found == 0) std::fill(lists, lists + samples, number);
      lists[found++] = number;
    }
  }
}

void winograd_input(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  static constexpr double kTurn[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  const std::size_t channels = count_of(arguments[2]), height = count_of(arguments[3]);
  const std::size_t width = count_of(arguments[4]);
  const std::size_t tiles_y = count_of(arguments[5]), tiles_x = count_of(arguments[6]);
  const std::size_t plane = channels * tiles_y * tiles_x;
  const auto* in = arguments[0].elements<float>(channels * height * width);
  auto* out = arguments[1].elements<float>(16 * plane);
  for (std::size_t at = 0; at < plane; ++at) {
    const float* from = in + at / (tiles_y * tiles_x) * height * width;
    double d[4][4], t[4][4] = {};
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t y = at / tiles_x % tiles_y * 2 + i / 4,
                        x = at % tiles_x * 2 + i % 4;  // one more than the pixel's
      const bool inside = y > 0 && y <= height && x > 0 && x <= width;
      d[i / 4][i % 4] = inside ? from[(y - 1) * width + x - 1] : 0.0;
    }
    for (std::size_t i = 0; i < 64; ++i) t[i / 16][i / 4 % 4] += kTurn[i / 16][i % 4] * d[i % 4][i / 4 % 4];
    for (std::size_t i = 0; i < 16; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += t[i / 4][k] * kTurn[i % 4][k];
      out[i * plane + at] = static_cast<float>(sum);
    }
  }
}

const Registration kRegistered{
    {"maxpool_indices", maxpool_indices}, {"bicubic_upsample", bicubic_upsample},
    {"nms_bitmask", nms_bitmask},         {"farthest_points", farthest_points},
    {"ball_query", ball_query},           {"winograd_input", winograd_input},
};

}  // namespace
}  // namespace foretrace::references
