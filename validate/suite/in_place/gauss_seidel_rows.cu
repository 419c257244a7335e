// Relaxation in place, row by row: a block sweeps over a grid of its own, a thread a column, and finds the row above as it has
// just left it. Grids are `height` rows of as many columns as the block has threads.

__global__ void gauss_seidel_rows(float* __restrict__ grids, int height, int sweeps) {
  const int width = blockDim.x;
  const int column = threadIdx.x;
  float* grid = grids + static_cast<size_t>(blockIdx.x) * height * width;
  const bool inside = column > 0 && column < width - 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int row = 1; row < height - 1; ++row) {
      float* here = grid + row * width + column;
      float next = 0.0f;
      if (inside) next = ((here[-width] + here[width]) + (here[-1] + here[1])) * 0.25f;
      __syncthreads();
      if (inside) *here = next;
      __syncthreads();
    }
  }
}
