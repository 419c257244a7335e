#include "validate/kernels/references.h"

#include <cmath>
#include <complex>

namespace foretrace::references {
namespace {

void cross_sections(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 14);
  const std::size_t lookups = count_of(arguments[9]), grid_points = count_of(arguments[10]);
  const std::size_t isotopes = count_of(arguments[11]), each = count_of(arguments[12]);
  const std::size_t widest = count_of(arguments[13]);
  const auto* grid = arguments[0].elements<double>(grid_points);
  const auto* index = arguments[1].elements<std::int32_t>(grid_points * isotopes);
  const auto* points = arguments[2].elements<double>(6 * isotopes * each);
  const auto* counts = arguments[3].elements<std::int32_t>(12);
  const auto* nuclides = arguments[4].elements<std::int32_t>(12 * widest);
  const auto* density = arguments[5].elements<double>(12 * widest);
  const auto* energies = arguments[6].elements<double>(lookups);
  const auto* materials = arguments[7].elements<std::int32_t>(lookups);
  auto* out = arguments[8].elements<double>(5 * lookups);
  for (std::size_t i = 0; i < lookups; ++i) {
    const auto above_it = std::upper_bound(grid + 1, grid + grid_points - 1, energies[i]);
    const auto low = static_cast<std::size_t>(above_it - grid) - 1;
    const auto material = static_cast<std::size_t>(materials[i]);
    double sums[5] = {};
    for (std::size_t j = 0; j < static_cast<std::size_t>(counts[material]); ++j) {
      const auto nuclide = static_cast<std::size_t>(nuclides[material * widest + j]);
      const double amount = density[material * widest + j];
      const double* below =
          points + 6 * (nuclide * each + static_cast<std::size_t>(index[low * isotopes + nuclide]));
      const double* above = below + 6;
      const double part = (above[0] + 0.25) / (above[0] + below[0] + 1);
      for (std::size_t k = 0; k < 5; ++k) {
        sums[k] += amount * (above[1 + k] - part * (above[1 + k] - below[1 + k]));
      }
    }
    std::copy(sums, sums + 5, out + 5 * i);
  }
}

void pole_sums(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t lookups = count_of(arguments[7]);
  const auto* poles = static_cast<const double*>(arguments[0].data);
  const auto* residues = static_cast<const double*>(arguments[1].data);
  const auto* window_start = static_cast<const std::int32_t*>(arguments[2].data);
  const auto* radius = static_cast<const double*>(arguments[3].data);
  const auto* energies = arguments[4].elements<double>(lookups);
  const auto* windows = arguments[5].elements<std::int32_t>(lookups);
  auto* out = arguments[6].elements<double>(2 * lookups);
  for (std::size_t i = 0; i < lookups; ++i) {
    const double energy = energies[i], root = std::sqrt(energy);
    const auto window = static_cast<std::size_t>(windows[i]);
    std::complex<double> factors[4];
    for (std::size_t l = 0; l < 4; ++l) {
      double phase = radius[4 * window + l] * root;
      if (l == 1) phase -= std::atan(phase);
      if (l == 2) phase -= std::atan(3 * phase / (3 - phase * phase));
      factors[l] = std::polar(1.0, -2 * phase);
    }
    double total = 0, absorbed = 0;
    for (auto p = static_cast<std::size_t>(window_start[window]);
         p < static_cast<std::size_t>(window_start[window + 1]); ++p) {
      const std::complex<double> pole(poles[2 * p], poles[2 * p + 1]);
      const std::complex<double> residue(residues[2 * p], residues[2 * p + 1]);
      const std::complex<double> g =
          residue * (std::complex<double>(0, 1) / (pole - std::complex<double>(root, 0)) / energy);
      total += (g * factors[p % 4]).real();
      absorbed += g.real();
    }
    out[2 * i] = total;
    out[2 * i + 1] = absorbed;
  }
}

std::uint32_t mix(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

/// The j-th bit of a key in a table of mask + 1 bits.
std::uint32_t bit_of(std::uint32_t key, std::uint32_t j, std::uint32_t mask) {
  const std::uint32_t first = mix(key);
  return (first + j * (mix(first ^ 0x9e3779b9u) | 1u)) & mask;
}

void bloom_insert(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[2]);
  const auto mask = arguments[3].value<std::uint32_t>();
  const auto k = arguments[4].value<std::uint32_t>();
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  auto* bits = arguments[1].elements<std::uint32_t>(mask / 32 + 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < k; ++j) {
      const std::uint32_t bit = bit_of(keys[i], j, mask);
      bits[bit / 32] |= 1u << bit % 32;
    }
  }
}

void bloom_query(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t n = count_of(arguments[4]);
  const auto mask = arguments[5].value<std::uint32_t>();
  const auto k = arguments[6].value<std::uint32_t>();
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  const auto* bits = arguments[1].elements<std::uint32_t>(mask / 32 + 1);
  auto* found = arguments[2].elements<std::uint8_t>(n);
  auto* count = arguments[3].elements<std::uint32_t>(1);
  for (std::size_t i = 0; i < n; ++i) {
    bool all = true;
    for (std::uint32_t j = 0; j < k; ++j) {
      const std::uint32_t bit = bit_of(keys[i], j, mask);
      all = all && (bits[bit / 32] >> bit % 32 & 1u) != 0;
    }
    found[i] = all;
    *count += all;
  }
}

const Registration kRegistered{
    {"cross_sections", cross_sections},
    {"pole_sums", pole_sums},
    {"bloom_insert", bloom_insert},
    {"bloom_query", bloom_query},
};

}  // namespace
}  // namespace foretrace::references
