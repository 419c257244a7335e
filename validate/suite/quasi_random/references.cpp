#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void sobol_points(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* directions = arguments[0].elements<std::uint32_t>(32 * grid.y);
  auto* out = arguments[1].elements<float>(n * grid.y);
  for (std::size_t dimension = 0; dimension < grid.y; ++dimension, directions += 32) {
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t x = 0;
      for (std::size_t k = 0; k < 32; ++k) {
        if (((i ^ i >> 1) >> k & 1) != 0) x ^= directions[k];
      }
      *out++ = static_cast<float>(x) * 0x1p-32f;
    }
  }
}

void philox_normals(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t quads = count_of(arguments[1]);
  auto* out = arguments[0].elements<float>(4 * quads);
  const auto seed = arguments[2].value<std::uint64_t>();
  const double mean = arguments[3].value<float>(), deviation = arguments[4].value<float>();
  for (std::size_t i = 0; i < quads; ++i) {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(i), 0, 7, 0};
    std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t first = std::uint64_t{0xd2511f53} * c[0], second = std::uint64_t{0xcd9e8d57} * c[2];
      const std::uint32_t next[4] = {
          static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(second),
          static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(first)};
      std::copy(next, next + 4, c);
      key[0] += 0x9e3779b9u;
      key[1] += 0xbb67ae85u;
    }
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const auto unit = [](std::uint32_t bits) {
        return std::fma(static_cast<float>(bits), 2.3283064e-10f, 1.1641532e-10f);
      };
      const double radius = std::sqrt(-2 * std::log(static_cast<double>(unit(c[2 * pair]))));
      const double angle = 2 * std::acos(-1.0) * static_cast<double>(unit(c[2 * pair + 1]));
      *out++ = static_cast<float>(radius * std::sin(angle) * deviation + mean);
      *out++ = static_cast<float>(radius * std::cos(angle) * deviation + mean);
    }
  }
}

const Registration kRegistered{
    {"sobol_points", sobol_points},
    {"philox_normals", philox_normals},
};

}  // namespace
}  // namespace foretrace::references
