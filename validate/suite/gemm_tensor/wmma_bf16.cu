// c = a b in bfloat16 with float sums, written with the compiler's own fragments: a block of eight warps
// makes 64 x 128 of c, a warp 32 x 32, from shared tiles of a depth of 32.
#include <cuda_bf16.h>
#include <mma.h>

#define ROWS 64
#define COLUMNS 128
#define DEPTH 32

__global__ void __launch_bounds__(256)
    wmma_bf16(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c,
              int columns, int depth) {
  using namespace nvcuda;
  __shared__ __align__(16) __nv_bfloat16 a_tile[ROWS][DEPTH + 8];
  __shared__ __align__(16) __nv_bfloat16 b_tile[DEPTH][COLUMNS + 8];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 4 * 32;
  const int warp_col = warp % 4 * 32;
  const int row = blockIdx.y * ROWS;
  const int col = blockIdx.x * COLUMNS;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) wmma::fill_fragment(sum[m][n], 0.0f);
  }
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = threadIdx.x; i < ROWS * DEPTH / 8; i += 256) {
      const int y = i / (DEPTH / 8), x = i % (DEPTH / 8) * 8;
      *reinterpret_cast<uint4*>(&a_tile[y][x]) =
          *reinterpret_cast<const uint4*>(&a[static_cast<size_t>(row + y) * depth + first + x]);
    }
    for (int i = threadIdx.x; i < DEPTH * COLUMNS / 8; i += 256) {
      const int y = i / (COLUMNS / 8), x = i % (COLUMNS / 8) * 8;
      *reinterpret_cast<uint4*>(&b_tile[y][x]) =
          *reinterpret_cast<const uint4*>(&b[static_cast<size_t>(first + y) * columns + col + x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> from_a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> from_b[2];
      for (int m = 0; m < 2; ++m) wmma::load_matrix_sync(from_a[m], &a_tile[warp_row + m * 16][k], DEPTH + 8);
      for (int n = 0; n < 2; ++n)
        wmma::load_matrix_sync(from_b[n], &b_tile[k][warp_col + n * 16], COLUMNS + 8);
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
