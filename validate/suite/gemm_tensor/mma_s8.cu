// c = a b^T in 8-bit integers with 32-bit sums: mma.sync m16n8k32. b is columns x depth, as weights are
// kept; a block of four warps makes 64 x 64 of c, a warp 32 x 32. The fragments are read from shared memory
// as words: rows of 64 bytes padded to 80 keep the eight rows that a load touches in different banks.

#define TILE 64
#define DEPTH 64
#define ROW 80  // bytes

__device__ void multiply_add(int (&c)[4], const int (&a)[4], const int (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(128)
    mma_s8(const signed char* __restrict__ a, const signed char* __restrict__ b, int* __restrict__ c,
           int columns, int depth) {
  __shared__ __align__(16) signed char a_tile[TILE][ROW];
  __shared__ __align__(16) signed char b_tile[TILE][ROW];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp_row = thread / 64 * 32;
  const int warp_col = thread / 32 % 2 * 32;
  const int row = blockIdx.y * TILE;
  const int col = blockIdx.x * TILE;
  int sum[2][4][4] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = thread; i < TILE * DEPTH / 16; i += 128) {
      const int y = i / (DEPTH / 16), x = i % (DEPTH / 16) * 16;
      *reinterpret_cast<int4*>(&a_tile[y][x]) =
          *reinterpret_cast<const int4*>(&a[static_cast<size_t>(row + y) * depth + first + x]);
      *reinterpret_cast<int4*>(&b_tile[y][x]) =
          *reinterpret_cast<const int4*>(&b[static_cast<size_t>(col + y) * depth + first + x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k += 32) {
      int from_a[2][4];
      int from_b[4][2];
      const int x = k + lane % 4 * 4;
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const int y = warp_row + m * 16 + lane / 4;
        from_a[m][0] = *reinterpret_cast<const int*>(&a_tile[y][x]);
        from_a[m][1] = *reinterpret_cast<const int*>(&a_tile[y + 8][x]);
        from_a[m][2] = *reinterpret_cast<const int*>(&a_tile[y][x + 16]);
        from_a[m][3] = *reinterpret_cast<const int*>(&a_tile[y + 8][x + 16]);
      }
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const int y = warp_col + n * 8 + lane / 4;
        from_b[n][0] = *reinterpret_cast<const int*>(&b_tile[y][x]);
        from_b[n][1] = *reinterpret_cast<const int*>(&b_tile[y][x + 16]);
      }
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) multiply_add(sum[m][n], from_a[m], from_b[n]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int y = row + warp_row + m * 16 + lane / 4;
      const int x = col + warp_col + n * 8 + lane % 4 * 2;
      *reinterpret_cast<int2*>(&c[static_cast<size_t>(y) * columns + x]) =
          make_int2(sum[m][n][0], sum[m][n][1]);
      *reinterpret_cast<int2*>(&c[static_cast<size_t>(y + 8) * columns + x]) =
          make_int2(sum[m][n][2], sum[m][n][3]);
    }
  }
}
