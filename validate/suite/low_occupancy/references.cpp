#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void state_machine(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 4);
  const std::size_t threads = std::size_t{grid.x} * block.x;
  const std::size_t words = count_of(arguments[3]);
  const auto* next = arguments[0].elements<std::uint32_t>(384 * 64);
  const auto* text = arguments[1].elements<std::uint32_t>(words * threads);
  auto* matches = arguments[2].elements<std::uint32_t>(threads);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    std::uint32_t state = 0;
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint32_t symbols = text[i * threads + thread];
      for (unsigned k = 0; k < 4; ++k) {
        state = next[state % 384 * 64 + (symbols >> (8 * k)) % 64];
        found += state % 16 == 0;
      }
    }
    matches[thread] = found;
  }
}

struct Point {
  double x, y, z;
};

Point slope(Point p) { return {10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 8.0 / 3.0 * p.z}; }

Point along(Point p, Point d, double h) { return {p.x + h * d.x, p.y + h * d.y, p.z + h * d.z}; }

void lorenz(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[2]);
  const std::size_t steps = count_of(arguments[3]);
  const auto h = static_cast<double>(arguments[4].value<float>());
  const auto* start = arguments[0].elements<float>(3 * n);
  auto* end = arguments[1].elements<float>(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    Point p{static_cast<double>(start[i]), static_cast<double>(start[n + i]),
            static_cast<double>(start[2 * n + i])};
    for (std::size_t step = 0; step < steps; ++step) {
      const Point k1 = slope(p);
      const Point k2 = slope(along(p, k1, h / 2));
      const Point k3 = slope(along(p, k2, h / 2));
      const Point k4 = slope(along(p, k3, h));
      p.x += h / 6 * (k1.x + 2 * (k2.x + k3.x) + k4.x);
      p.y += h / 6 * (k1.y + 2 * (k2.y + k3.y) + k4.y);
      p.z += h / 6 * (k1.z + 2 * (k2.z + k3.z) + k4.z);
    }
    end[i] = static_cast<float>(p.x);
    end[n + i] = static_cast<float>(p.y);
    end[2 * n + i] = static_cast<float>(p.z);
  }
}

const Registration kLowOccupancy{{"state_machine", state_machine}, {"lorenz", lorenz}};

}  // namespace
}  // namespace foretrace::references
