#include "validate/kernels/references.h"

#include <cmath>

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

/// Density, momentum, energy.
struct Gas {
  double of[5];

  double velocity(std::size_t axis) const { return of[1 + axis] / of[0]; }
  double square() const {
    return std::pow(velocity(0), 2) + std::pow(velocity(1), 2) + std::pow(velocity(2), 2);
  }
  double pressure() const { return 0.4 * (of[4] - 0.5 * of[0] * square()); }
  /// The fastest that anything moves in it.
  double fastest() const { return std::sqrt(square()) + std::sqrt(1.4 * pressure() / of[0]); }
  /// What quantity k goes along `axis`.
  double flux(std::size_t k, std::size_t axis) const {
    const double pushed = k == 4 ? pressure() * velocity(axis) : k == 1 + axis ? pressure() : 0;
    return of[k] * velocity(axis) + pushed;
  }
};

void euler_flux(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t cells = count_of(arguments[0]);
  const auto* neighbours = arguments[1].elements<std::int32_t>(4 * cells);
  const auto first = arguments[2].value<std::int32_t>();
  const auto* normals = arguments[3].elements<float>(12 * cells);
  const auto* density = arguments[4].elements<float>(cells);
  const auto* momentum = arguments[5].elements<float>(3 * cells);
  const auto* energy = arguments[6].elements<float>(cells);
  auto* fluxes = arguments[7].elements<float>(5 * cells);
  const auto gas_at = [&](std::size_t i) {
    Gas gas{{static_cast<double>(density[i]), 0, 0, 0, static_cast<double>(energy[i])}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      gas.of[1 + axis] = static_cast<double>(momentum[axis * cells + i]);
    }
    return gas;
  };
  for (std::size_t i = 0; i < cells; ++i) {
    const Gas own = gas_at(i);
    double sum[5] = {};
    for (std::size_t side = 0; side < 4; ++side) {
      double n[3];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        n[axis] = static_cast<double>(normals[(side * 3 + axis) * cells + i]);
      }
      const std::int32_t other = neighbours[4 * i + side] - first;
      if (other < 0) {
        for (std::size_t axis = 0; axis < 3; ++axis) sum[1 + axis] += n[axis] * own.pressure();
        continue;
      }
      const auto at = static_cast<std::size_t>(other);
      const Gas there = at < cells ? gas_at(at) : Gas{{1.4, 1.2, 0.1, 0, 3.1}};
      const double area = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      const double viscosity = 0.5 * 0.2 * area * (own.fastest() + there.fastest());
      for (std::size_t k = 0; k < 5; ++k) {
        sum[k] -= viscosity * (there.of[k] - own.of[k]);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sum[k] += 0.5 * n[axis] * (own.flux(k, axis) + there.flux(k, axis));
        }
      }
    }
    for (std::size_t k = 0; k < 5; ++k) fluxes[k * cells + i] = static_cast<float>(sum[k]);
  }
}

const Registration kFluid{
    {"lattice_boltzmann", lattice_boltzmann},
    {"euler_flux", euler_flux},
};

}  // namespace
}  // namespace foretrace::references
