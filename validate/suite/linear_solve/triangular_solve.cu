// L x = b for lower triangles of 32 x 32 with ones on the diagonal, a warp a system: lane i owns row i, and
// the solved unknown is broadcast by a shuffle, 31 times one after the other.

__global__ void triangular_solve(const float* __restrict__ lower, const float* __restrict__ right,
                                 float* __restrict__ solution, int count) {
  __shared__ float tile[4][32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int system = blockIdx.x * 4 + warp;
  if (system >= count) return;
  for (int row = 0; row < 32; ++row)
    tile[warp][row][lane] = lower[(static_cast<size_t>(system) * 32 + row) * 32 + lane];
  __syncwarp();
  float x = right[static_cast<size_t>(system) * 32 + lane];
#pragma unroll
  for (int k = 0; k < 31; ++k) {
    const float solved = __shfl_sync(0xffffffffu, x, k);
    if (lane > k) x -= tile[warp][lane][k] * solved;
  }
  solution[static_cast<size_t>(system) * 32 + lane] = x;
}
