// C = A B in half precision with sums in single, by the compiler's fragments: a block of four warps has a tile of 64 x 64, each
// warp 32 x 32 of it, 32 deep through padded shared memory. Sizes are multiples of 64.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define SIDE 64
#define DEEP 32

__global__ void __launch_bounds__(128)
    product_wmma(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int rows, int columns,
                 int depth) {
  __shared__ __align__(16) half left[SIDE][DEEP + 8];
  __shared__ __align__(16) half above[DEEP][SIDE + 8];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
  for (int first = 0; first < depth; first += DEEP) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int chunk = threadIdx.x + 128 * i;
      *reinterpret_cast<uint4*>(&left[chunk / 4][chunk % 4 * 8]) = *reinterpret_cast<const uint4*>(
          a + static_cast<size_t>(row + chunk / 4) * depth + first + chunk % 4 * 8);
      *reinterpret_cast<uint4*>(&above[chunk / 8][chunk % 8 * 8]) = *reinterpret_cast<const uint4*>(
          b + static_cast<size_t>(first + chunk / 8) * columns + column + chunk % 8 * 8);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEEP; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(x[i], &left[warp_row + 16 * i][k], DEEP + 8);
        wmma::load_matrix_sync(y[i], &above[k][warp_column + 16 * i], SIDE + 8);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* to = c + static_cast<size_t>(row + warp_row + i / 2 * 16) * columns + column + warp_column + i % 2 * 16;
    wmma::store_matrix_sync(to, sum[i / 2][i % 2], columns, wmma::mem_row_major);
  }
}
