// Forces between near particles by a list of cells, a warp a cell: each lane takes a particle of the cell and goes
// through all particles of the nine cells around it. Positions are relative to the corner of a particle's own cell,
// in cells; particles farther away than one cell have no part.

__global__ void cell_forces(const int* __restrict__ start, const float2* __restrict__ position,
                            float2* __restrict__ force, float* __restrict__ density, int columns, int rows) {
  const int lane = threadIdx.x % 32;
  const int cell = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (cell >= columns * rows) return;
  const int column = cell % columns, row = cell / columns;
  const int end = start[cell + 1];
  for (int i = start[cell] + lane; i < end; i += 32) {
    const float2 own = position[i];
    float2 sum = make_float2(0.0f, 0.0f);
    float near = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
      if (row + dy < 0 || row + dy >= rows) continue;
      for (int dx = -1; dx <= 1; ++dx) {
        if (column + dx < 0 || column + dx >= columns) continue;
        const int other = cell + dy * columns + dx;
        const int last = start[other + 1];
        for (int j = start[other]; j < last; ++j) {
          const float2 p = position[j];
          const float x = own.x - (p.x + dx);
          const float y = own.y - (p.y + dy);
          const float square = x * x + y * y;
          if (square < 1.0f && j != i) {
            const float weight = 1.0f - square;
            const float push = weight * weight * rsqrtf(square + 0.01f);
            near += weight * weight * weight;
            sum.x += push * x;
            sum.y += push * y;
          }
        }
      }
    }
    force[i] = sum;
    density[i] = near;
  }
}
