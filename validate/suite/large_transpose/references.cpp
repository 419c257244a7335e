#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

template <typename T>
void turn(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const auto* in = arguments[0].elements<T>(width * height);
  auto* out = arguments[1].elements<T>(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) out[x * height + y] = in[y * width + x];
  }
}

void planes_to_pixels(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t pixels = count_of(arguments[2]);
  const auto* planes = arguments[0].elements<float>(8 * pixels);
  auto* out = arguments[1].elements<float>(8 * pixels);
  for (std::size_t i = 0; i < 8 * pixels; ++i) out[i] = planes[i % 8 * pixels + i / 8];
}

const Registration kRegistered{
    {"turn_single", turn<float>},
    {"turn_double", turn<double>},
    {"planes_to_pixels", planes_to_pixels},
};

}  // namespace
}  // namespace foretrace::references
