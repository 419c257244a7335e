#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void two_opt_moves(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* tour = arguments[0].elements<std::int16_t>(2 * n);
  auto* best = arguments[1].elements<std::uint64_t>(1);
  const auto apart = [&](std::size_t a, std::size_t b) {
    const int x = tour[2 * a] - tour[2 * b], y = tour[2 * a + 1] - tour[2 * b + 1];
    return static_cast<std::int64_t>(std::sqrt(static_cast<float>(x * x + y * y)) + 0.5f);
  };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    for (std::size_t j = i + 2; j + 1 < n; ++j) {
      const std::int64_t change = apart(i, j) + apart(i + 1, j + 1) - apart(i, i + 1) - apart(j, j + 1);
      *best = std::min(*best, static_cast<std::uint64_t>(change + (1 << 20)) << 32 | i << 16 | j);
    }
  }
}

void docking_energies(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 11);
  const std::size_t protein_atoms = count_of(arguments[7]), ligand_atoms = count_of(arguments[8]);
  const std::size_t kind_count = count_of(arguments[9]), poses = count_of(arguments[10]);
  const auto* protein = arguments[0].elements<float>(4 * protein_atoms);
  const auto* protein_kind = arguments[1].elements<std::int32_t>(protein_atoms);
  const auto* ligand = arguments[2].elements<float>(4 * ligand_atoms);
  const auto* ligand_kind = arguments[3].elements<std::int32_t>(ligand_atoms);
  const auto* pose = arguments[4].elements<float>(6 * poses);
  const auto* kinds = arguments[5].elements<float>(4 * kind_count);
  auto* energies = arguments[6].elements<float>(poses);
  for (std::size_t i = 0; i < poses; ++i) {
    double s[3], c[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      s[axis] = std::sin(static_cast<double>(pose[axis * poses + i]));
      c[axis] = std::cos(static_cast<double>(pose[axis * poses + i]));
    }
    const double rows[3][3] = {
        {c[1] * c[2], s[0] * s[1] * c[2] - c[0] * s[2], c[0] * s[1] * c[2] + s[0] * s[2]},
        {c[1] * s[2], s[0] * s[1] * s[2] + c[0] * c[2], c[0] * s[1] * s[2] - s[0] * c[2]},
        {-s[1], s[0] * c[1], c[0] * c[1]}};
    double energy = 0;
    for (std::size_t l = 0; l < ligand_atoms; ++l) {
      const float* own = kinds + 4 * ligand_kind[l];
      double place[3];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        place[axis] = pose[(3 + axis) * poses + i];
        for (std::size_t k = 0; k < 3; ++k) place[axis] += rows[axis][k] * ligand[4 * l + k];
      }
      for (std::size_t r = 0; r < protein_atoms; ++r) {
        const float* its = kinds + 4 * protein_kind[r];
        double squares = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          squares += std::pow(place[axis] - protein[4 * r + axis], 2);
        const double distance = std::sqrt(squares), radii = static_cast<double>(own[0]) + its[0];
        const double between = distance - radii;
        if (between < 0) energy += (1 - distance / radii) * 2 * its[1];
        if (between < 4) energy += static_cast<double>(own[2]) * its[2] * (1 - std::max(between, 0.0) / 4);
        if (own[3] > 0.5f && its[3] > 0.5f && between < 2) energy -= 1 - std::max(between, 0.0) / 2;
      }
    }
    energies[i] = static_cast<float>(energy / 2);
  }
}

void nearest_k(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  constexpr std::size_t kList = 8, kCoordinates = 8;
  const std::size_t queries = count_of(arguments[4]), points = count_of(arguments[5]);
  const auto* query = arguments[0].elements<float>(kCoordinates * queries);
  const auto* point = arguments[1].elements<float>(kCoordinates * points);
  auto* distances = arguments[2].elements<float>(kList * queries);
  auto* indices = arguments[3].elements<std::int32_t>(kList * queries);
  std::vector<std::pair<double, std::int32_t>> all(points);
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t p = 0; p < points; ++p) {
      double sum = 0;
      for (std::size_t k = 0; k < kCoordinates; ++k) {
        const double d = static_cast<double>(query[kCoordinates * q + k]) - point[kCoordinates * p + k];
        sum += d * d;
      }
      all[p] = {sum, static_cast<std::int32_t>(p)};
    }
    std::partial_sort(all.begin(), all.begin() + kList, all.end());
    for (std::size_t k = 0; k < kList; ++k) {
      distances[k * queries + q] = static_cast<float>(all[k].first);
      indices[k * queries + q] = all[k].second;
    }
  }
}

const Registration kRegistered{
    {"two_opt_moves", two_opt_moves},
    {"docking_energies", docking_energies},
    {"nearest_k", nearest_k},
};

}  // namespace
}  // namespace foretrace::references
