// The memory traffic of one step of a lattice-Boltzmann method in 19 directions, in place: a cell reads its own value of one direction
// of each pair and its neighbour's of the other, mixes them, and writes each where the other stood. With a byte of flags a cell takes
// 153 bytes. Bandwidth is the difference of two numbers of cells.

__global__ void fluid(float* __restrict__ f, const unsigned char* __restrict__ flags, int cells, int row, int plane) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells || flags[i] == 1) return;
  const int away[9] = {1, row, plane, row + 1, plane + 1, plane + row, row - 1, plane - 1, plane - row};
  float own[10], other[9];
  int at[9];
  float sum = own[9] = f[i];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    at[k] = i + away[k] < cells ? i + away[k] : i + away[k] - cells;
    own[k] = f[(size_t)(2 * k + 1) * cells + i];
    other[k] = f[(size_t)(2 * k + 2) * cells + at[k]];
    sum += own[k] + other[k];
  }
  f[i] = 0.5f * own[9] + 0.02f * sum;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    f[(size_t)(2 * k + 1) * cells + i] = 0.5f * other[k] + 0.02f * sum;
    f[(size_t)(2 * k + 2) * cells + at[k]] = 0.5f * own[k] + 0.02f * sum;
  }
}
