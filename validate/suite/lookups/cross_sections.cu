// Look-ups of nuclear data as in transport codes: a bisection of a common grid of energies, then for each nuclide of a material
// the two points around it, five values of them interpolated and added. Everything in double precision.

struct Point {
  double energy, total, elastic, absorption, fission, neutrons;
};

__global__ void cross_sections(const double* __restrict__ grid, const int* __restrict__ index,
                               const Point* __restrict__ points, const int* __restrict__ counts,
                               const int* __restrict__ nuclides, const double* __restrict__ density,
                               const double* __restrict__ energies, const int* __restrict__ materials,
                               double* __restrict__ out, int lookups, int grid_points, int isotopes,
                               int points_each, int widest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lookups) return;
  const double energy = energies[i];
  const int material = materials[i];
  int low = 0, high = grid_points - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (grid[middle] > energy) {
      high = middle;
    } else {
      low = middle;
    }
  }
  double sums[5] = {0, 0, 0, 0, 0};
  for (int j = 0; j < counts[material]; j++) {
    const int nuclide = nuclides[material * widest + j];
    const double amount = density[material * widest + j];
    const Point* below = &points[(size_t)nuclide * points_each + index[low * isotopes + nuclide]];
    const Point* above = below + 1;
    const double part = (above->energy + 0.25) / (above->energy + below->energy + 1.0);
    sums[0] += amount * (above->total - part * (above->total - below->total));
    sums[1] += amount * (above->elastic - part * (above->elastic - below->elastic));
    sums[2] += amount * (above->absorption - part * (above->absorption - below->absorption));
    sums[3] += amount * (above->fission - part * (above->fission - below->fission));
    sums[4] += amount * (above->neutrons - part * (above->neutrons - below->neutrons));
  }
  for (int k = 0; k < 5; k++) out[i * 5 + k] = sums[k];
}
