#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void plane_five(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const double rate = static_cast<double>(arguments[4].value<float>());
  const auto* in = arguments[0].elements<float>(width * height);
  auto* out = arguments[1].elements<float>(width * height);
  const auto at = [&](std::size_t i) { return static_cast<double>(in[i]); };
  for (std::size_t y = 1; y + 1 < height; ++y) {
    for (std::size_t x = 1; x + 1 < width; ++x) {
      const std::size_t i = y * width + x;
      out[i] = static_cast<float>(at(i) +
                                  rate * (at(i - 1) + at(i + 1) + at(i - width) + at(i + width) - 4 * at(i)));
    }
  }
}

void plane_nine(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const double near = static_cast<double>(arguments[4].value<float>());
  const double far = static_cast<double>(arguments[5].value<float>());
  const auto* in = arguments[0].elements<float>(width * height);
  auto* out = arguments[1].elements<float>(width * height);
  const auto at = [&](std::size_t i) { return static_cast<double>(in[i]); };
  for (std::size_t y = 1; y + 1 < height; ++y) {
    for (std::size_t x = 1; x + 1 < width; ++x) {
      const std::size_t i = y * width + x;
      const double sides = at(i - 1) + at(i + 1) + at(i - width) + at(i + width);
      const double corners = at(i - width - 1) + at(i - width + 1) + at(i + width - 1) + at(i + width + 1);
      out[i] = static_cast<float>(at(i) + near * (sides - 4 * at(i)) + far * (corners - 4 * at(i)));
    }
  }
}

struct Volume {
  std::size_t nx, ny, nz;
};

Volume volume_of(const Arguments& arguments) {
  need(arguments, 6);
  return {count_of(arguments[2]), count_of(arguments[3]), count_of(arguments[4])};
}

void volume_seven(const Arguments& arguments, Dim3, Dim3) {
  const Volume v = volume_of(arguments);
  const double rate = static_cast<double>(arguments[5].value<float>());
  const auto* in = arguments[0].elements<float>(v.nx * v.ny * v.nz);
  auto* out = arguments[1].elements<float>(v.nx * v.ny * v.nz);
  const auto at = [&](std::size_t i) { return static_cast<double>(in[i]); };
  const std::size_t plane = v.nx * v.ny;
  for (std::size_t z = 1; z + 1 < v.nz; ++z) {
    for (std::size_t y = 1; y + 1 < v.ny; ++y) {
      for (std::size_t x = 1; x + 1 < v.nx; ++x) {
        const std::size_t i = z * plane + y * v.nx + x;
        const double around =
            at(i - 1) + at(i + 1) + at(i - v.nx) + at(i + v.nx) + at(i - plane) + at(i + plane);
        out[i] = static_cast<float>(at(i) + rate * (around - 6 * at(i)));
      }
    }
  }
}

void wave_star(const Arguments& arguments, Dim3, Dim3) {
  const Volume v = volume_of(arguments);
  const double rate = static_cast<double>(arguments[5].value<float>());
  const auto* now = arguments[0].elements<float>(v.nx * v.ny * v.nz);
  auto* before = arguments[1].elements<float>(v.nx * v.ny * v.nz);
  const auto at = [&](std::size_t i) { return static_cast<double>(now[i]); };
  constexpr double kWeight[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  const std::size_t plane = v.nx * v.ny;
  for (std::size_t z = 4; z + 4 < v.nz; ++z) {
    for (std::size_t y = 4; y + 4 < v.ny; ++y) {
      for (std::size_t x = 4; x + 4 < v.nx; ++x) {
        const std::size_t i = z * plane + y * v.nx + x;
        double star = 3 * kWeight[0] * at(i);
        for (std::size_t r = 1; r <= 4; ++r) {
          star += kWeight[r] * (at(i - r) + at(i + r) + at(i - r * v.nx) + at(i + r * v.nx) +
                                at(i - r * plane) + at(i + r * plane));
        }
        before[i] = static_cast<float>(2 * at(i) - static_cast<double>(before[i]) + rate * star);
      }
    }
  }
}

const Registration kRegistered{
    {"plane_five", plane_five},
    {"plane_nine", plane_nine},
    {"volume_seven", volume_seven},
    {"wave_star", wave_star},
};

}  // namespace
}  // namespace foretrace::references
