// c = a b in float on the tensor cores, which keep 11 bits of each factor: every element is rounded to TF32
// on its way into shared memory. A block of four warps makes 64 x 64 of c, a warp 32 x 32.
#include <mma.h>

#define TILE 64
#define DEPTH 16

__global__ void __launch_bounds__(128) wmma_tf32(const float* __restrict__ a, const float* __restrict__ b,
                                                 float* __restrict__ c, int columns, int depth) {
  using namespace nvcuda;
  __shared__ __align__(32) float a_tile[TILE][DEPTH + 4];
  __shared__ __align__(32) float b_tile[DEPTH][TILE + 4];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32;
  const int warp_col = warp % 2 * 32;
  const int row = blockIdx.y * TILE;
  const int col = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) wmma::fill_fragment(sum[m][n], 0.0f);
  }
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 128) {
      const int y = i / DEPTH, x = i % DEPTH;
      a_tile[y][x] = wmma::__float_to_tf32(a[static_cast<size_t>(row + y) * depth + first + x]);
    }
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 128) {
      const int y = i / TILE, x = i % TILE;
      b_tile[y][x] = wmma::__float_to_tf32(b[static_cast<size_t>(first + y) * columns + col + x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k += 8) {
      wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> from_a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> from_b[2];
      for (int m = 0; m < 2; ++m) wmma::load_matrix_sync(from_a[m], &a_tile[warp_row + m * 16][k], DEPTH + 4);
      for (int n = 0; n < 2; ++n) wmma::load_matrix_sync(from_b[n], &b_tile[k][warp_col + n * 16], TILE + 4);
      for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) wmma::mma_sync(sum[m][n], from_a[m], from_b[n], sum[m][n]);
      }
    }
    __syncthreads();
  }
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      const size_t at = static_cast<size_t>(row + warp_row + m * 16) * columns + col + warp_col + n * 16;
      wmma::store_matrix_sync(c + at, sum[m][n], columns, wmma::mem_row_major);
    }
  }
}
