#include "validate/kernels/references.h"

#include <cstdlib>

namespace foretrace::references {
namespace {

void filter_square(const Arguments& arguments, int reach) {
  need(arguments, 4);
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto pixels = static_cast<std::size_t>(width * height);
  const auto* in = arguments[0].elements<float>(pixels);
  auto* out = arguments[1].elements<float>(pixels);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -reach; dy <= reach; ++dy) {
        const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, height - 1);
        for (int dx = -reach; dx <= reach; ++dx) {
          const std::int64_t column = std::clamp<std::int64_t>(x + dx, 0, width - 1);
          sum += static_cast<double>(in[row * width + column]) / (1 + std::abs(dx) + std::abs(dy));
        }
      }
      out[y * width + x] = static_cast<float>(sum);
    }
  }
}

void filter_square_3(const Arguments& arguments, Dim3, Dim3) { filter_square(arguments, 3); }
void filter_square_7(const Arguments& arguments, Dim3, Dim3) { filter_square(arguments, 7); }

void filter_line(const Arguments& arguments, bool along_rows) {
  need(arguments, 4);
  const auto width = static_cast<std::int64_t>(count_of(arguments[2]));
  const auto height = static_cast<std::int64_t>(count_of(arguments[3]));
  const auto pixels = static_cast<std::size_t>(width * height);
  const auto* in = arguments[0].elements<float>(pixels);
  auto* out = arguments[1].elements<float>(pixels);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (int d = -16; d <= 16; ++d) {
        const std::int64_t column = along_rows ? x + d : x, row = along_rows ? y : y + d;
        if (column < 0 || row < 0 || column >= width || row >= height) continue;
        sum += static_cast<double>(in[row * width + column]);
      }
      out[y * width + x] = static_cast<float>(sum / 33);
    }
  }
}

void filter_along_rows(const Arguments& arguments, Dim3, Dim3) { filter_line(arguments, true); }
void filter_along_columns(const Arguments& arguments, Dim3, Dim3) { filter_line(arguments, false); }

void layer_square(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t channels = count_of(arguments[3]);
  const std::size_t results = count_of(arguments[4]);
  const std::size_t size = count_of(arguments[5]);
  const auto* in = arguments[0].elements<float>(grid.z * channels * size * size);
  const auto* weights = arguments[1].elements<float>(results * channels * 9);
  auto* out = arguments[2].elements<float>(grid.z * results * size * size);
  for (std::size_t p = 0; p < grid.z * results; ++p) {
    for (std::size_t at = 0; at < size * size; ++at) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c) {
        const float* picture = in + (p / results * channels + c) * size * size;
        for (std::size_t k = 0; k < 9; ++k) {
          const std::size_t y = at / size + k / 3 - 1,
                            x = at % size + k % 3 - 1;  // -1 wraps to beyond the picture
          if (x >= size || y >= size) continue;
          sum += static_cast<double>(picture[y * size + x]) *
                 static_cast<double>(weights[(p % results * channels + c) * 9 + k]);
        }
      }
      out[p * size * size + at] = static_cast<float>(sum);
    }
  }
}

const Registration kRegistered{
    {"filter_square_3", filter_square_3},     {"filter_square_7", filter_square_7},
    {"filter_along_rows", filter_along_rows}, {"filter_along_columns", filter_along_columns},
    {"layer_square", layer_square},
};

}  // namespace
}  // namespace foretrace::references
