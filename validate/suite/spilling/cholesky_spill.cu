// A thread factors a 9 x 9 matrix and solves with it, all in registers: 45 + 9 numbers and what computing
// them takes. The launch bounds ask for 2048 threads an SM, which leaves 32 registers a thread: the
// compiler keeps the rest in local memory. Matrices lie element by element, so that what a warp loads is
// contiguous.

#define SIZE 9

__global__ void __launch_bounds__(256, 8)
    cholesky_spill(const float* __restrict__ matrices, const float* __restrict__ right,
                   float* __restrict__ solution, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float l[SIZE][SIZE];
  float x[SIZE];
#pragma unroll
  for (int row = 0; row < SIZE; ++row) {
#pragma unroll
    for (int col = 0; col <= row; ++col) {
      l[row][col] = matrices[static_cast<size_t>(row * SIZE + col) * count + i];
    }
    l[row][row] += SIZE;  // makes it positive definite
    x[row] = right[static_cast<size_t>(row) * count + i];
  }
#pragma unroll
  for (int col = 0; col < SIZE; ++col) {
#pragma unroll
    for (int k = 0; k < col; ++k) l[col][col] -= l[col][k] * l[col][k];
    l[col][col] = rsqrtf(l[col][col]);  // the inverse of the factor's diagonal
#pragma unroll
    for (int row = col + 1; row < SIZE; ++row) {
#pragma unroll
      for (int k = 0; k < col; ++k) l[row][col] -= l[row][k] * l[col][k];
      l[row][col] *= l[col][col];
    }
  }
#pragma unroll
  for (int row = 0; row < SIZE; ++row) {
#pragma unroll
    for (int k = 0; k < row; ++k) x[row] -= l[row][k] * x[k];
    x[row] *= l[row][row];
  }
#pragma unroll
  for (int row = SIZE - 1; row >= 0; --row) {
#pragma unroll
    for (int k = row + 1; k < SIZE; ++k) x[row] -= l[k][row] * x[k];
    x[row] *= l[row][row];
    solution[static_cast<size_t>(row) * count + i] = x[row];
  }
}
