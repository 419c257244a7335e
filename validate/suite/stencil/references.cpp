#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// In double precision, rounded once: the kernels round at every step, which the launch files allow for.

void stencil_1d(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(n);
  auto* out = arguments[1].elements<float>(n);
  constexpr double kWeights[] = {0.4, 0.15, 0.1, 0.05};
  for (std::size_t i = 0; i < n; ++i) {
    if (i < 3 || i + 3 >= n) {
      out[i] = in[i];
      continue;
    }
    double sum = kWeights[0] * static_cast<double>(in[i]);
    for (std::size_t r = 1; r <= 3; ++r) {
      sum += kWeights[r] * (static_cast<double>(in[i - r]) + static_cast<double>(in[i + r]));
    }
    out[i] = static_cast<float>(sum);
  }
}

// The kernels' four additions in their own order: bit for bit.
void jacobi_2d(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const auto* in = arguments[0].elements<float>(width * height);
  auto* out = arguments[1].elements<float>(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t i = y * width + x;
      if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) {
        out[i] = in[i];
      } else {
        out[i] = 0.25f * ((in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width]));
      }
    }
  }
}

void heat_3d(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t nx = count_of(arguments[2]);
  const std::size_t ny = count_of(arguments[3]);
  const std::size_t nz = count_of(arguments[4]);
  const auto rate = static_cast<double>(arguments[5].value<float>());
  const auto* in = arguments[0].elements<float>(nx * ny * nz);
  auto* out = arguments[1].elements<float>(nx * ny * nz);
  for (std::size_t z = 1; z + 1 < nz; ++z) {
    for (std::size_t y = 1; y + 1 < ny; ++y) {
      for (std::size_t x = 1; x + 1 < nx; ++x) {
        const std::size_t i = (z * ny + y) * nx + x;
        double around = 0;
        for (const std::size_t step : {std::size_t{1}, nx, nx * ny}) {
          around += static_cast<double>(in[i - step]) + static_cast<double>(in[i + step]);
        }
        const auto centre = static_cast<double>(in[i]);
        out[i] = static_cast<float>(centre + rate * (around - 6 * centre));
      }
    }
  }
}

void grid_heat(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t width = count_of(arguments[3]);
  const std::size_t height = count_of(arguments[4]);
  const std::size_t steps = count_of(arguments[5]);
  const auto rate = static_cast<double>(arguments[6].value<float>());
  auto* from = arguments[0].elements<float>(width * height);
  auto* to = arguments[1].elements<float>(width * height);
  for (std::size_t step = 0; step < steps; ++step, std::swap(from, to)) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t i = y * width + x;
        to[i] = from[i];
        if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) continue;
        double around = 0;
        for (const std::size_t near : {i - 1, i + 1, i - width, i + width}) {
          around += static_cast<double>(from[near]);
        }
        const auto centre = static_cast<double>(from[i]);
        to[i] = static_cast<float>(centre + rate * (around - 4 * centre));
      }
    }
  }
  *arguments[2].elements<std::uint32_t>(1) += grid.x * static_cast<std::uint32_t>(steps - 1);
}

void hotspot_pyramid(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 11);
  const std::size_t steps = count_of(arguments[0]);
  const std::size_t width = count_of(arguments[4]);
  const std::size_t height = count_of(arguments[5]);
  const auto* power = arguments[1].elements<float>(width * height);
  const auto* start = arguments[2].elements<float>(width * height);
  auto* out = arguments[3].elements<float>(width * height);
  const auto number = [&](std::size_t i) { return static_cast<double>(arguments[i].value<float>()); };
  const double scale = number(6), by_x = number(7), by_y = number(8), by_z = number(9), ambient = number(10);
  std::vector<double> now(start, start + width * height), next(width * height);
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const double here = now[y * width + x];
        const double west = now[y * width + (x == 0 ? x : x - 1)];
        const double east = now[y * width + std::min(x + 1, width - 1)];
        const double north = now[(y == 0 ? y : y - 1) * width + x];
        const double south = now[std::min(y + 1, height - 1) * width + x];
        next[y * width + x] =
            here + scale * (static_cast<double>(power[y * width + x]) + (north + south - 2 * here) * by_y +
                            (west + east - 2 * here) * by_x + (ambient - here) * by_z);
      }
    }
    now.swap(next);
  }
  std::transform(now.begin(), now.end(), out, [](double value) { return static_cast<float>(value); });
}

const Registration kRegistered{
    {"heat_3d", heat_3d},
    {"jacobi_2d", jacobi_2d},
    {"stencil_1d", stencil_1d},
    {"grid_heat", grid_heat},
    {"hotspot_pyramid", hotspot_pyramid},
};

}  // namespace
}  // namespace foretrace::references
