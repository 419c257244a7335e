// The density of particles of a fluid: a thread a particle over those of the 27 cells around its own, particles in the order of
// their cells, which every block of threads reads from lists of cells' beginnings.

__global__ void fluid_density(const float4* __restrict__ particles, const int* __restrict__ cell_start, float* __restrict__ density,
                              int cells_x, int cells_y, int cells_z, float radius_squared, float scale) {
  const int cell = blockIdx.x;
  const int cx = cell % cells_x, cy = cell / cells_x % cells_y, cz = cell / cells_x / cells_y;
  for (int i = cell_start[cell] + threadIdx.x; i < cell_start[cell + 1]; i += blockDim.x) {
    const float4 own = particles[i];
    float sum = 0.0f;
    for (int z = max(cz - 1, 0); z <= min(cz + 1, cells_z - 1); z++) {
      for (int y = max(cy - 1, 0); y <= min(cy + 1, cells_y - 1); y++) {
        // The three cells of a line follow each other.
        const int line = (z * cells_y + y) * cells_x;
        const int begin = cell_start[line + max(cx - 1, 0)];
        const int end = cell_start[line + min(cx + 1, cells_x - 1) + 1];
        for (int j = begin; j < end; j++) {
          const float4 other = particles[j];
          const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
          const float rest = radius_squared - (dx * dx + dy * dy + dz * dz);
          if (rest > 0.0f) sum += other.w * rest * rest * rest;
        }
      }
    }
    density[i] = scale * sum;
  }
}
