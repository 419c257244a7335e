#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void gauss_seidel_rows(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t height = count_of(arguments[1]);
  const std::size_t sweeps = count_of(arguments[2]);
  const std::size_t width = block.x;
  auto* all = arguments[0].elements<float>(grid.x * height * width);
  std::vector<float> next(width);
  for (std::size_t g = 0; g < grid.x; ++g) {
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t row = 1; row + 1 < height; ++row) {
        float* here = all + (g * height + row) * width;
        for (std::size_t c = 1; c + 1 < width; ++c) {
          next[c] = ((*(here + c - width) + here[c + width]) + (here[c - 1] + here[c + 1])) * 0.25f;
        }
        std::copy(next.begin() + 1, next.end() - 1, here + 1);
      }
    }
  }
}

void lu_in_place(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[1]);
  const float shift = arguments[2].value<float>();
  auto* all = arguments[0].elements<float>(grid.x * n * n);
  std::vector<double> a(n * n);
  for (std::size_t g = 0; g < grid.x; ++g) {
    float* matrix = all + g * n * n;
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += shift;
    for (std::size_t i = 0; i < n * n; ++i) a[i] = static_cast<double>(matrix[i]);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = k + 1; i < n; ++i) {
        a[i * n + k] /= a[k * n + k];
        for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
    }
    for (std::size_t i = 0; i < n * n; ++i) matrix[i] = static_cast<float>(a[i]);
  }
}

void closure_in_place(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  const std::size_t n = count_of(arguments[1]);
  auto* d = arguments[0].elements<std::int32_t>(grid.x * n * n);
  for (std::size_t g = 0; g < grid.x; ++g, d += n * n) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
      }
    }
  }
}

void prefix_both_ways(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  const std::size_t n = count_of(arguments[1]);
  auto* image = arguments[0].elements<std::uint32_t>(grid.x * n * n);
  for (std::size_t g = 0; g < grid.x; ++g, image += n * n) {
    for (std::size_t row = 0; row < n; ++row) {
      std::uint32_t sum = 0;
      for (std::size_t column = 0; column < n; ++column) {
        sum += image[row * n + column];
        image[row * n + column] = sum + (row > 0 ? image[(row - 1) * n + column] : 0);
      }
    }
  }
}

void smooth(const Arguments& arguments, bool along) {
  need(arguments, 4);
  const std::size_t lines = count_of(arguments[1]);
  const std::size_t length = count_of(arguments[2]);
  const std::size_t sweeps = count_of(arguments[3]);
  auto* field = arguments[0].elements<float>(lines * length);
  const std::size_t stride = along ? 1 : lines;
  for (std::size_t l = 0; l < lines; ++l) {
    float* line = field + (along ? l * length : l);
    for (std::size_t s = 0; s < sweeps; ++s) {
      float left = line[0];
      for (std::size_t i = 1; i < length; ++i) line[i * stride] = left = (left + line[i * stride]) * 0.5f;
      for (std::size_t i = length - 1; i-- > 0;) line[i * stride] = left = (left + line[i * stride]) * 0.5f;
    }
  }
}

void smooth_along(const Arguments& arguments, Dim3, Dim3) { smooth(arguments, true); }
void smooth_down(const Arguments& arguments, Dim3, Dim3) { smooth(arguments, false); }

const Registration kRegistered{
    {"gauss_seidel_rows", gauss_seidel_rows}, {"lu_in_place", lu_in_place},
    {"closure_in_place", closure_in_place},   {"prefix_both_ways", prefix_both_ways},
    {"smooth_along", smooth_along},           {"smooth_down", smooth_down},
};

}  // namespace
}  // namespace foretrace::references
