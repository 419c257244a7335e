#include <cmath>

#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

std::uint32_t xorshift(std::uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

float unit(std::uint32_t random) { return static_cast<float>(random >> 8) * (1.0f / 16777216.0f); }

void monte_carlo_pi(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t points = count_of(arguments[1]);
  const auto seed = arguments[2].value<std::uint32_t>();
  std::uint64_t hits = 0;
  for (std::uint32_t thread = 0; thread < grid.x * block.x; ++thread) {
    std::uint32_t state = (thread + 1) * 2654435761u ^ seed;
    if (state == 0) state = 1;
    for (std::size_t p = 0; p < points; ++p) {
      const float x = unit(xorshift(state));
      const float y = unit(xorshift(state));
      hits += std::fma(x, x, y * y) <= 1.0f;
    }
  }
  *arguments[0].elements<std::uint64_t>(1) += hits;
}

std::uint32_t permuted(std::uint32_t& state) {
  state = state * 747796405u + 2891336453u;
  const std::uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return word >> 22 ^ word;
}

// In double precision, the random numbers as the kernel has them.
void random_walk(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t paths = count_of(arguments[1]);
  const std::size_t steps = count_of(arguments[2]);
  const auto drift = static_cast<double>(arguments[3].value<float>());
  const auto deviation = static_cast<double>(arguments[4].value<float>());
  auto* value = arguments[0].elements<float>(paths);
  constexpr double kPi = 3.14159265358979323846;
  for (std::size_t path = 0; path < paths; ++path) {
    std::uint32_t state = static_cast<std::uint32_t>(path) * 2u + 1u;
    double exponent = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      const float u = (static_cast<float>(permuted(state) >> 8) + 0.5f) * (1.0f / 16777216.0f);
      const float v = unit(permuted(state));
      const double radius = std::sqrt(-2 * std::log(static_cast<double>(u)));
      const double angle = 2 * kPi * static_cast<double>(v);
      exponent += 2 * drift + deviation * radius * (std::cos(angle) + std::sin(angle));
    }
    value[path] = static_cast<float>(std::exp(exponent));
  }
}

const Registration kRegistered{
    {"monte_carlo_pi", monte_carlo_pi},
    {"random_walk", random_walk},
};

}  // namespace
}  // namespace foretrace::references
