#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

/// A node of a full tree: its level, and the cell of the lattice that its number's bits lead to.
struct Cell {
  std::size_t level = 0;
  std::int32_t at[3] = {0, 0, 0};
  std::int32_t side[3] = {1, 1, 1};  // in cells of the last level
};

Cell cell_of(std::size_t node, std::size_t levels) {
  Cell cell;
  while ((std::size_t{2} << cell.level) <= node + 1) ++cell.level;
  const std::size_t code = node + 1 - (std::size_t{1} << cell.level);
  for (std::size_t k = 0; k < 3; ++k) cell.side[k] = 1 << levels / 3;
  for (std::size_t b = 0; b < cell.level; ++b) {
    const std::size_t axis = b % 3;
    cell.side[axis] /= 2;
    if ((code >> (cell.level - 1 - b) & 1) != 0) cell.at[axis] += cell.side[axis];
  }
  return cell;
}

void lay_out_tree(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t levels = count_of(arguments[3]), leaves = std::size_t{1} << levels;
  auto* boxes = arguments[0].elements<std::int16_t>(6 * (leaves - 1));
  auto* spheres = arguments[1].elements<float>(4 * leaves);
  const auto* offsets = arguments[2].elements<float>(4 * leaves);
  for (std::size_t node = 0; node < leaves - 1; ++node, boxes += 6) {
    const Cell cell = cell_of(node, levels);
    for (std::size_t k = 0; k < 3; ++k) {
      boxes[k] = static_cast<std::int16_t>(64 * cell.at[k] - 25);
      boxes[3 + k] = static_cast<std::int16_t>(64 * (cell.at[k] + cell.side[k]) + 25);
    }
  }
  for (std::size_t leaf = 0; leaf < leaves; ++leaf, spheres += 4, offsets += 4) {
    const Cell cell = cell_of(leaves - 1 + leaf, levels);
    for (std::size_t k = 0; k < 3; ++k) {
      spheres[k] = static_cast<float>(64 * (cell.at[k] + static_cast<double>(offsets[k])));
    }
    spheres[3] = static_cast<float>(8 + 16 * static_cast<double>(offsets[3]));
  }
}

/// Without the tree: every ray by every sphere.
void ray_boxes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t rays = count_of(arguments[4]), leaves = count_of(arguments[5]) + 1;
  const auto* spheres = arguments[1].elements<float>(4 * leaves);
  const auto* ray = arguments[2].elements<float>(4 * rays);
  auto* gathered = arguments[3].elements<float>(rays);
  const float extent = arguments[6].value<float>();
  for (std::size_t r = 0; r < rays; ++r) {
    const double ox = ray[r] * extent, oy = ray[rays + r] * extent;
    const double dx = ray[2 * rays + r] - 0.5f, dy = ray[3 * rays + r] - 0.5f;
    const double per_square = 1 / (dx * dx + dy * dy + 1);
    double sum = 0;
    for (std::size_t s = 0; s < leaves; ++s) {
      const float* sphere = spheres + 4 * s;
      const double x = sphere[0] - ox, y = sphere[1] - oy, z = sphere[2] + 100.0;
      const double along = (x * dx + y * dy + z) * per_square;
      const double bx = x - along * dx, by = y - along * dy, bz = z - along;
      sum += std::max(static_cast<double>(sphere[3]) * sphere[3] - (bx * bx + by * by + bz * bz), 0.0);
    }
    gathered[r] = static_cast<float>(sum);
  }
}

void fluid_density(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const auto width = arguments[3].value<std::int32_t>(), height = arguments[4].value<std::int32_t>();
  const auto depth = arguments[5].value<std::int32_t>();
  const auto* particles = static_cast<const float*>(arguments[0].data);
  const auto* cell_start =
      arguments[1].elements<std::int32_t>(static_cast<std::size_t>(width * height * depth + 1));
  auto* density = static_cast<float*>(arguments[2].data);
  const double radius = arguments[6].value<float>(), scale = arguments[7].value<float>();
  for (std::int32_t cell = 0; cell < width * height * depth; ++cell) {
    const std::int32_t x = cell % width, y = cell / width % height, z = cell / width / height;
    for (std::int32_t i = cell_start[cell]; i < cell_start[cell + 1]; ++i) {
      double sum = 0;
      for (std::int32_t other = 0; other < 27; ++other) {
        const std::int32_t ox = x + other % 3 - 1, oy = y + other / 3 % 3 - 1, oz = z + other / 9 - 1;
        if (ox < 0 || oy < 0 || oz < 0 || ox >= width || oy >= height || oz >= depth) continue;
        const std::int32_t there = (oz * height + oy) * width + ox;
        for (std::int32_t j = cell_start[there]; j < cell_start[there + 1]; ++j) {
          double square = 0;
          for (std::int32_t k = 0; k < 3; ++k) {
            const double d = static_cast<double>(particles[4 * i + k]) - particles[4 * j + k];
            square += d * d;
          }
          const double rest = std::max(radius - square, 0.0);
          sum += particles[4 * j + 3] * rest * rest * rest;
        }
      }
      density[i] = static_cast<float>(scale * sum);
    }
  }
}

const Registration kRegistered{
    {"lay_out_tree", lay_out_tree},
    {"ray_boxes", ray_boxes},
    {"fluid_density", fluid_density},
};

}  // namespace
}  // namespace foretrace::references
