#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

// Sums in double precision; cells are found from the same float positions as the kernels'.

/// The lower corner of a position's cell; a grid of `size` points has size - 1 cells.
std::size_t cell_of(float position, std::size_t size) {
  return std::min(static_cast<std::size_t>(position), size - 2);
}

void deposit_charge(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t particles = count_of(arguments[3]);
  const std::size_t width = count_of(arguments[4]);
  const std::size_t height = count_of(arguments[5]);
  const auto* position = arguments[0].elements<float>(2 * particles);
  const auto* charge = arguments[1].elements<float>(particles);
  auto* density = arguments[2].elements<float>(width * height);
  std::vector<double> sum(density, density + width * height);
  for (std::size_t i = 0; i < particles; ++i) {
    const std::size_t x = cell_of(position[2 * i], width);
    const std::size_t y = cell_of(position[2 * i + 1], height);
    const double east = static_cast<double>(position[2 * i]) - static_cast<double>(x);
    const double north = static_cast<double>(position[2 * i + 1]) - static_cast<double>(y);
    const auto q = static_cast<double>(charge[i]);
    double* corner = sum.data() + y * width + x;
    corner[0] += q * (1 - east) * (1 - north);
    corner[1] += q * east * (1 - north);
    corner[width] += q * (1 - east) * north;
    corner[width + 1] += q * east * north;
  }
  for (std::size_t i = 0; i < width * height; ++i) density[i] = static_cast<float>(sum[i]);
}

void push_particles(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t particles = count_of(arguments[3]);
  const std::size_t size[2] = {count_of(arguments[4]), count_of(arguments[5])};
  const auto step = static_cast<double>(arguments[6].value<float>());
  auto* position = arguments[0].elements<float>(2 * particles);
  auto* velocity = arguments[1].elements<float>(2 * particles);
  const auto* field = arguments[2].elements<float>(2 * size[0] * size[1]);
  for (std::size_t i = 0; i < particles; ++i, position += 2, velocity += 2) {
    const std::size_t x = cell_of(position[0], size[0]);
    const std::size_t y = cell_of(position[1], size[1]);
    const double east = static_cast<double>(position[0]) - static_cast<double>(x);
    const double north = static_cast<double>(position[1]) - static_cast<double>(y);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto at = [&](std::size_t dx, std::size_t dy) {
        return static_cast<double>(field[2 * ((y + dy) * size[0] + x + dx) + axis]);
      };
      const double acceleration = (1 - north) * ((1 - east) * at(0, 0) + east * at(1, 0)) +
                                  north * ((1 - east) * at(0, 1) + east * at(1, 1));
      const double v = static_cast<double>(velocity[axis]) + step * acceleration;
      const double moved = static_cast<double>(position[axis]) + step * v;
      velocity[axis] = static_cast<float>(v);
      position[axis] = static_cast<float>(std::clamp(moved, 0.0, static_cast<double>(size[axis] - 1)));
    }
  }
}

// With positions in the whole grid, and every particle of the rows near by looked at.
void cell_forces(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[4]);
  const std::size_t rows = count_of(arguments[5]);
  const auto* start = arguments[0].elements<std::int32_t>(columns * rows + 1);
  const auto particles = static_cast<std::size_t>(start[columns * rows]);
  const auto* position = arguments[1].elements<float>(2 * particles);
  auto* force = arguments[2].elements<float>(2 * particles);
  auto* density = arguments[3].elements<float>(particles);
  std::vector<double> x(particles), y(particles);
  for (std::size_t cell = 0; cell < columns * rows; ++cell) {
    for (auto i = static_cast<std::size_t>(start[cell]); i < static_cast<std::size_t>(start[cell + 1]); ++i) {
      x[i] = static_cast<double>(cell % columns) + static_cast<double>(position[2 * i]);
      y[i] = static_cast<double>(cell / columns) + static_cast<double>(position[2 * i + 1]);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::size_t>(start[row * columns]);
    const auto end = static_cast<std::size_t>(start[(row + 1) * columns]);
    const auto near_first = static_cast<std::size_t>(start[(row > 0 ? row - 1 : 0) * columns]);
    const auto near_end = static_cast<std::size_t>(start[std::min(row + 2, rows) * columns]);
    for (std::size_t i = first; i < end; ++i) {
      double sum_x = 0, sum_y = 0, near = 0;
      for (std::size_t j = near_first; j < near_end; ++j) {
        const double square = std::pow(x[i] - x[j], 2) + std::pow(y[i] - y[j], 2);
        if (j == i || square >= 1) continue;
        near += std::pow(1 - square, 3);
        sum_x += std::pow(1 - square, 2) / std::sqrt(square + 0.01) * (x[i] - x[j]);
        sum_y += std::pow(1 - square, 2) / std::sqrt(square + 0.01) * (y[i] - y[j]);
      }
      force[2 * i] = static_cast<float>(sum_x);
      force[2 * i + 1] = static_cast<float>(sum_y);
      density[i] = static_cast<float>(near);
    }
  }
}

constexpr std::size_t kPerBox = 100;

/// Particles are x, y, z and a charge, results a potential and a force; boxes are numbered x first.
template <typename Real>
void box_forces(const Arguments& arguments, Dim3 grid) {
  need(arguments, 3);
  const std::size_t boxes = std::size_t{grid.x} * grid.y * grid.z;
  const auto* particles = arguments[0].elements<Real>(boxes * kPerBox * 4);
  auto* results = arguments[1].elements<Real>(boxes * kPerBox * 4);
  const auto sharpness = static_cast<double>(arguments[2].value<Real>());
  const auto corner = [&](std::size_t box, std::size_t axis) {
    const std::size_t at[3] = {box % grid.x, box / grid.x % grid.y, box / grid.x / grid.y};
    return static_cast<double>(at[axis]);
  };
  const auto are_near = [&](std::size_t a, std::size_t b) {
    bool near = true;
    for (std::size_t axis = 0; axis < 3; ++axis) near &= std::fabs(corner(a, axis) - corner(b, axis)) < 1.5;
    return near;
  };
  for (std::size_t i = 0; i < boxes * kPerBox; ++i) {
    const std::size_t box = i / kPerBox;
    double sum[4] = {};
    for (std::size_t other = 0; other < boxes; ++other) {
      if (!are_near(box, other)) continue;
      for (std::size_t j = other * kPerBox; j < (other + 1) * kPerBox; ++j) {
        double apart[3], square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          apart[axis] = corner(box, axis) - corner(other, axis) +
                        static_cast<double>(particles[4 * i + axis]) -
                        static_cast<double>(particles[4 * j + axis]);
          square += apart[axis] * apart[axis];
        }
        const double weight = static_cast<double>(particles[4 * j + 3]) * std::exp(-sharpness * square);
        sum[0] += weight;
        for (std::size_t axis = 0; axis < 3; ++axis) sum[1 + axis] += 2 * sharpness * weight * apart[axis];
      }
    }
    for (std::size_t k = 0; k < 4; ++k) results[4 * i + k] = static_cast<Real>(sum[k]);
  }
}

void box_forces_float(const Arguments& arguments, Dim3 grid, Dim3) { box_forces<float>(arguments, grid); }
void box_forces_double(const Arguments& arguments, Dim3 grid, Dim3) { box_forces<double>(arguments, grid); }

const Registration kParticles{
    {"deposit_charge", deposit_charge},
    {"push_particles", push_particles},
    {"cell_forces", cell_forces},
    {"box_forces_float", box_forces_float},
    {"box_forces_double", box_forces_double},
};

}  // namespace
}  // namespace foretrace::references
