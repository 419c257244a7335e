#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

std::uint32_t hashed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

void option_paths(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 7);
  const std::size_t paths = std::size_t{grid.x} * block.x;
  const auto steps = static_cast<std::uint32_t>(count_of(arguments[1]));
  const auto number = [&](std::size_t i) { return static_cast<double>(arguments[i].value<float>()); };
  const double start = number(2), strike = number(3), drift = number(4), spread = number(5);
  const double turn = 2 * std::acos(-1.0);
  auto* payoffs = arguments[0].elements<float>(paths);
  for (std::size_t path = 0; path < paths; ++path) {
    const std::uint32_t counter =
        hashed(static_cast<std::uint32_t>(path) ^ arguments[6].value<std::uint32_t>());
    double x = 0;
    for (std::uint32_t step = 0; step < steps; step += 2) {
      const double u =
          (static_cast<double>(static_cast<float>(hashed(counter + step) >> 8) + 0.5f)) * 0x1p-24;
      const double v = static_cast<double>(hashed(counter + step + 1) >> 8) * 0x1p-24;
      const double radius = std::sqrt(-2 * std::log(u)) * spread;
      x += 2 * drift + radius * (std::sin(turn * v) + std::cos(turn * v));
    }
    payoffs[path] = static_cast<float>(std::max(start * std::exp(x) - strike, 0.0));
  }
}

void circle_hits(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t threads = std::size_t{grid.x} * block.x;
  const auto tries = static_cast<std::uint32_t>(count_of(arguments[1]));
  auto* hits = arguments[0].elements<std::uint32_t>(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::uint32_t state = hashed(static_cast<std::uint32_t>(t) ^ arguments[2].value<std::uint32_t>());
    hits[t] = 0;
    for (std::uint32_t i = 0; i < tries; ++i) {
      const std::uint32_t bits = hashed(state + i);
      const std::uint32_t x = bits & 0x7fff, y = bits >> 17;
      hits[t] += x * x + y * y < (1u << 30) ? 1 : 0;
    }
  }
}

void spin_lattice(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t width = count_of(arguments[1]);
  const std::size_t height = count_of(arguments[2]);
  const std::size_t colour = count_of(arguments[3]);
  const std::uint32_t limit[] = {arguments[4].value<std::uint32_t>(), arguments[5].value<std::uint32_t>()};
  auto* spins = arguments[0].elements<std::uint8_t>(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = (y + colour) % 2; x < width; x += 2) {
      const std::size_t i = y * width + x;
      const int ones = spins[(y + height - 1) % height * width + x] + spins[(y + 1) % height * width + x] +
                       spins[y * width + (x + width - 1) % width] + spins[y * width + (x + 1) % width];
      const int like = spins[i] != 0 ? ones : 4 - ones;
      const std::uint32_t chance =
          hashed(static_cast<std::uint32_t>(i) ^ arguments[6].value<std::uint32_t>());
      if (like <= 2 || chance < limit[like - 3]) spins[i] = static_cast<std::uint8_t>(1 - spins[i]);
    }
  }
}

const Registration kRegistered{
    {"option_paths", option_paths},
    {"circle_hits", circle_hits},
    {"spin_lattice", spin_lattice},
};

}  // namespace
}  // namespace foretrace::references
