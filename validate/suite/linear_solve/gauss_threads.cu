// Many small systems of linear equations, 7 x 7, a thread a system in registers: Gaussian elimination without
// exchanges (diagonals are large) and substitution from below. Entry k of all systems stands together, so that the
// threads of a warp read side by side.

#define SIZE 7

__global__ void gauss_threads(const float* __restrict__ matrix, const float* __restrict__ right,
                              float* __restrict__ solution, int systems, float shift) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float a[SIZE][SIZE], b[SIZE];
#pragma unroll
  for (int row = 0; row < SIZE; ++row) {
#pragma unroll
    for (int col = 0; col < SIZE; ++col) {
      a[row][col] = matrix[static_cast<size_t>(row * SIZE + col) * systems + s];
      if (row == col) a[row][col] += shift;
    }
    b[row] = right[static_cast<size_t>(row) * systems + s];
  }
#pragma unroll
  for (int k = 0; k < SIZE - 1; ++k) {
#pragma unroll
    for (int row = k + 1; row < SIZE; ++row) {
      const float factor = a[row][k] / a[k][k];
#pragma unroll
      for (int col = k + 1; col < SIZE; ++col) a[row][col] -= factor * a[k][col];
      b[row] -= factor * b[k];
    }
  }
#pragma unroll
  for (int row = SIZE - 1; row >= 0; --row) {
#pragma unroll
    for (int col = row + 1; col < SIZE; ++col) b[row] -= a[row][col] * b[col];
    b[row] /= a[row][row];
    solution[static_cast<size_t>(row) * systems + s] = b[row];
  }
}
