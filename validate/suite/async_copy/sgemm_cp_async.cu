// c = a b in float with two buffers a tile: while the threads multiply out of one, cp.async fills the other
// without passing through registers. 64 x 64 of c for 16 x 16 threads, 4 x 4 each, from tiles of a depth of
// 16; all sizes are multiples of these.
#include <cuda_pipeline.h>

#define TILE 64
#define DEPTH 16

__global__ void __launch_bounds__(256)
    sgemm_cp_async(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   int columns, int depth) {
  __shared__ __align__(16) float a_tile[2][TILE][DEPTH];
  __shared__ __align__(16) float b_tile[2][DEPTH][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int thread = y * 16 + x;
  const int a_row = thread / 4, a_col = thread % 4 * 4;
  const int b_row = thread / 16, b_col = thread % 16 * 4;
  const float* a_from = a + static_cast<size_t>(blockIdx.y * TILE + a_row) * depth + a_col;
  const float* b_from = b + static_cast<size_t>(b_row) * columns + blockIdx.x * TILE + b_col;
  const int tiles = depth / DEPTH;

  __pipeline_memcpy_async(&a_tile[0][a_row][a_col], a_from, 16);
  __pipeline_memcpy_async(&b_tile[0][b_row][b_col], b_from, 16);
  __pipeline_commit();
  float sum[4][4] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    const int now = tile % 2;
    if (tile + 1 < tiles) {
      __pipeline_memcpy_async(&a_tile[1 - now][a_row][a_col], a_from + (tile + 1) * DEPTH, 16);
      __pipeline_memcpy_async(&b_tile[1 - now][b_row][b_col],
                              b_from + static_cast<size_t>(tile + 1) * DEPTH * columns, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float from_a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) from_a[i] = a_tile[now][y * 4 + i][k];
      const float4 from_b = *reinterpret_cast<const float4*>(&b_tile[now][k][x * 4]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum[i][0] += from_a[i] * from_b.x;
        sum[i][1] += from_a[i] * from_b.y;
        sum[i][2] += from_a[i] * from_b.z;
        sum[i][3] += from_a[i] * from_b.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const size_t at =
        static_cast<size_t>(blockIdx.y * TILE + y * 4 + i) * columns + blockIdx.x * TILE + x * 4;
    *reinterpret_cast<float4*>(&c[at]) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}
