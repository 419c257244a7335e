// C = A B in double precision, tiles of 64 x 64 a block of 256 threads, 4 x 4 results a thread, 16 deep. Sizes are multiples of
// 64.

#define SIDE 64
#define DEEP 16

__global__ void __launch_bounds__(256)
    product_double(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c, int rows, int columns,
                   int depth) {
  __shared__ double left[DEEP][SIDE + 1], above[DEEP][SIDE];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
  double sum[4][4] = {};
  for (int first = 0; first < depth; first += DEEP) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = threadIdx.x + 256 * i;
      left[at % 16][at / 16] = a[static_cast<size_t>(row + at / 16) * depth + first + at % 16];
      above[at / 64][at % 64] = b[static_cast<size_t>(first + at / 64) * columns + column + at % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      double x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = left[k][ty + 16 * i];
        y[i] = above[k][tx + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < 16; ++i) sum[i / 4][i % 4] += x[i / 4] * y[i % 4];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    c[static_cast<size_t>(row + ty + 16 * (i / 4)) * columns + column + tx + 16 * (i % 4)] = sum[i / 4][i % 4];
  }
}
