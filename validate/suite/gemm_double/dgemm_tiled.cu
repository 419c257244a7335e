// c = a b in double precision on the FP64 pipe: 32 x 32 of c for 16 x 16 threads, four elements each, from
// shared tiles of a depth of 16. a is rows x depth, b depth x columns.

#define TILE 32
#define DEPTH 16

__global__ void dgemm_tiled(const double* __restrict__ a, const double* __restrict__ b,
                            double* __restrict__ c, int rows, int columns, int depth) {
  __shared__ double a_tile[DEPTH][TILE + 1];
  __shared__ double b_tile[DEPTH][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int thread = y * 16 + x;
  const int row = blockIdx.y * TILE;
  const int col = blockIdx.x * TILE;
  double sum[2][2] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = thread; i < TILE * DEPTH; i += 256) {
      const int ay = i / DEPTH, ax = i % DEPTH;
      a_tile[ax][ay] = row + ay < rows && first + ax < depth ? a[(row + ay) * depth + first + ax] : 0.0;
      const int by = i / TILE, bx = i % TILE;
      b_tile[by][bx] = first + by < depth && col + bx < columns ? b[(first + by) * columns + col + bx] : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const double a0 = a_tile[k][y], a1 = a_tile[k][y + 16];
      const double b0 = b_tile[k][x], b1 = b_tile[k][x + 16];
      sum[0][0] += a0 * b0;
      sum[0][1] += a0 * b1;
      sum[1][0] += a1 * b0;
      sum[1][1] += a1 * b1;
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (row + y + i * 16 < rows && col + x + j * 16 < columns) {
        c[(row + y + i * 16) * columns + col + x + j * 16] = sum[i][j];
      }
    }
  }
}
