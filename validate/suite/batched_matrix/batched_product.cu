// Many small products c = a b: 16 x 16 in the shared memory of a block of 256 threads, and 8 x 8 in a
// warp's registers, whose lanes pass their elements around by shuffles.

__global__ void batched_product_16(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ c) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const size_t at = static_cast<size_t>(blockIdx.x) * 256 + y * 16 + x;
  a_tile[y][x] = a[at];
  b_tile[y][x] = b[at];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += a_tile[y][i] * b_tile[i][x];
  c[at] = sum;
}

// A lane holds elements (lane / 8, lane % 8) and (lane / 8 + 4, lane % 8).
__global__ void batched_product_8(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int count) {
  const int lane = threadIdx.x % 32;
  const int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (matrix >= count) return;
  const size_t at = static_cast<size_t>(matrix) * 64 + lane;
  const float a0 = a[at], a1 = a[at + 32], b0 = b[at], b1 = b[at + 32];
  float upper = 0.0f, lower = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float from_b = __shfl_sync(0xffffffffu, i < 4 ? b0 : b1, i % 4 * 8 + lane % 8);
    upper += __shfl_sync(0xffffffffu, a0, lane / 8 * 8 + i) * from_b;
    lower += __shfl_sync(0xffffffffu, a1, lane / 8 * 8 + i) * from_b;
  }
  c[at] = upper;
  c[at + 32] = lower;
}
