// c = a b in double precision on the tensor cores: mma m8n8k4. A block of four warps makes 32 x 32 of c, a
// warp 16 x 16, from shared tiles of a depth of 16; all sizes are multiples of the tile.
#include <mma.h>

#define TILE 32
#define DEPTH 16

__global__ void __launch_bounds__(128) dgemm_mma(const double* __restrict__ a, const double* __restrict__ b,
                                                 double* __restrict__ c, int columns, int depth) {
  using namespace nvcuda;
  __shared__ __align__(32) double a_tile[TILE][DEPTH + 4];
  __shared__ __align__(32) double b_tile[DEPTH][TILE + 4];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 16;
  const int warp_col = warp % 2 * 16;
  const int row = blockIdx.y * TILE;
  const int col = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) wmma::fill_fragment(sum[m][n], 0.0);
  }
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 128) {
      a_tile[i / DEPTH][i % DEPTH] = a[static_cast<size_t>(row + i / DEPTH) * depth + first + i % DEPTH];
      b_tile[i / TILE][i % TILE] = b[static_cast<size_t>(first + i / TILE) * columns + col + i % TILE];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k += 4) {
      wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> from_a[2];
      wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> from_b[2];
      for (int m = 0; m < 2; ++m) wmma::load_matrix_sync(from_a[m], &a_tile[warp_row + m * 8][k], DEPTH + 4);
      for (int n = 0; n < 2; ++n) wmma::load_matrix_sync(from_b[n], &b_tile[k][warp_col + n * 8], TILE + 4);
      for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) wmma::mma_sync(sum[m][n], from_a[m], from_b[n], sum[m][n]);
      }
    }
    __syncthreads();
  }
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      const size_t at = static_cast<size_t>(row + warp_row + m * 8) * columns + col + warp_col + n * 8;
      wmma::store_matrix_sync(c + at, sum[m][n], columns, wmma::mem_row_major);
    }
  }
}
