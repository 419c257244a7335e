#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// In double precision, and by tables of directions where the kernel writes each out.
void lattice_boltzmann(const Arguments& arguments, Dim3, Dim3) {
  constexpr int kEast[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  constexpr int kNorth[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  constexpr std::size_t kBack[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  need(arguments, 6);
  const std::size_t width = count_of(arguments[3]);
  const std::size_t height = count_of(arguments[4]);
  const std::size_t cells = width * height;
  const auto omega = static_cast<double>(arguments[5].value<float>());
  const auto* from = arguments[0].elements<float>(9 * cells);
  auto* to = arguments[1].elements<float>(9 * cells);
  const auto* kind = arguments[2].elements<std::uint8_t>(cells);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t here = y * width + x;
      double f[9];
      double density = 0, u = 0, v = 0;
      for (std::size_t i = 0; i < 9; ++i) {
        const std::size_t source_x = (x + width - static_cast<std::size_t>(1 + kEast[i]) + 1) % width;
        const std::size_t source_y = (y + height - static_cast<std::size_t>(1 + kNorth[i]) + 1) % height;
        f[i] = static_cast<double>(from[i * cells + source_y * width + source_x]);
        density += f[i];
        u += kEast[i] * f[i];
        v += kNorth[i] * f[i];
      }
      u /= density;
      v /= density;
      for (std::size_t i = 0; i < 9; ++i) {
        if (kind[here] < 4) {
          to[kBack[i] * cells + here] = static_cast<float>(f[i]);
          continue;
        }
        const double weight = (i == 0 ? 16.0 : i < 5 ? 4.0 : 1.0) / 36;
        const double along = kEast[i] * u + kNorth[i] * v;
        const double rest = 1 + 3 * along + 4.5 * along * along - 1.5 * (u * u + v * v);
        to[i * cells + here] = static_cast<float>(f[i] + omega * (weight * density * rest - f[i]));
      }
    }
  }
}

const Registration kFluid{{"lattice_boltzmann", lattice_boltzmann}};

}  // namespace
}  // namespace foretrace::references
