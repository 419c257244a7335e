#include <cmath>

#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

template <typename Real>
std::int32_t iterations_of(Real x, Real y, Real cx, Real cy, std::int32_t limit) {
  std::int32_t i = 0;
  for (; i < limit; ++i) {
    const Real xx = x * x;
    const Real yy = y * y;
    if (xx + yy > 4) break;
    y = std::fma(x + x, y, cy);
    x = xx - yy + cx;
  }
  return i;
}

void mandelbrot(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t width = count_of(arguments[1]);
  const std::size_t height = count_of(arguments[2]);
  const auto left = arguments[3].value<float>();
  const auto top = arguments[4].value<float>();
  const auto step = arguments[5].value<float>();
  const auto limit = arguments[6].value<std::int32_t>();
  auto* out = arguments[0].elements<std::uint16_t>(width * height);
  for (std::size_t py = 0; py < height; ++py) {
    for (std::size_t px = 0; px < width; ++px) {
      const float cx = std::fma(static_cast<float>(px), step, left);
      const float cy = std::fma(static_cast<float>(py), step, top);
      out[py * width + px] = static_cast<std::uint16_t>(iterations_of(0.0f, 0.0f, cx, cy, limit));
    }
  }
}

void julia_double(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t width = count_of(arguments[1]);
  const std::size_t height = count_of(arguments[2]);
  const auto cx = arguments[3].value<double>();
  const auto cy = arguments[4].value<double>();
  const auto extent = arguments[5].value<double>();
  const auto limit = arguments[6].value<std::int32_t>();
  auto* out = arguments[0].elements<std::uint32_t>(width * height);
  for (std::size_t p = 0; p < width * height; ++p) {
    const double x =
        std::fma(static_cast<double>(p % width), extent / static_cast<double>(width), -0.5 * extent);
    const double y =
        std::fma(static_cast<double>(p / width), extent / static_cast<double>(height), -0.5 * extent);
    out[p] = static_cast<std::uint32_t>(iterations_of(x, y, cx, cy, limit));
  }
}

const Registration kRegistered{
    {"julia_double", julia_double},
    {"mandelbrot", mandelbrot},
};

}  // namespace
}  // namespace foretrace::references
