// c = a b by the tensor cores in half precision with float sums: mma.sync m16n8k16 fed by ldmatrix. A block
// of four warps makes 64 x 64 of c, a warp 32 x 32. Rows of the shared tiles are padded by 8 halves, so
// that ldmatrix meets no bank twice. a is rows x depth, b depth x columns, all multiples of the tile.
#include <cuda_fp16.h>

#define TILE 64
#define DEPTH 32
#define PAD 8

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void load_matrix_x4(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ void load_matrix_x4_transposed(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(128) mma_f16(const __half* __restrict__ a, const __half* __restrict__ b,
                                               float* __restrict__ c, int columns, int depth) {
  __shared__ __half a_tile[TILE][DEPTH + PAD];
  __shared__ __half b_tile[DEPTH][TILE + PAD];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp_row = thread / 64 * 32;
  const int warp_col = thread / 32 % 2 * 32;
  const int row = blockIdx.y * TILE;
  const int col = blockIdx.x * TILE;
  float sum[2][4][4] = {};
  for (int first = 0; first < depth; first += DEPTH) {
    for (int i = thread; i < TILE * DEPTH / 8; i += 128) {
      const int y = i / (DEPTH / 8), x = i % (DEPTH / 8) * 8;
      *reinterpret_cast<uint4*>(&a_tile[y][x]) =
          *reinterpret_cast<const uint4*>(&a[static_cast<size_t>(row + y) * depth + first + x]);
    }
    for (int i = thread; i < TILE * DEPTH / 8; i += 128) {
      const int y = i / (TILE / 8), x = i % (TILE / 8) * 8;
      *reinterpret_cast<uint4*>(&b_tile[y][x]) =
          *reinterpret_cast<const uint4*>(&b[static_cast<size_t>(first + y) * columns + col + x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
      unsigned from_a[2][4];
      unsigned from_b[2][4];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        load_matrix_x4(from_a[m], &a_tile[warp_row + m * 16 + lane % 16][k + lane / 16 * 8]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        load_matrix_x4_transposed(from_b[n], &b_tile[k + lane % 16][warp_col + n * 16 + lane / 16 * 8]);
      }
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          multiply_add(sum[m][n], from_a[m], from_b[n / 2][n % 2 * 2], from_b[n / 2][n % 2 * 2 + 1]);
        }
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
      *reinterpret_cast<float2*>(&c[static_cast<size_t>(y) * columns + x]) =
          make_float2(sum[m][n][0], sum[m][n][1]);
      *reinterpret_cast<float2*>(&c[static_cast<size_t>(y + 8) * columns + x]) =
          make_float2(sum[m][n][2], sum[m][n][3]);
    }
  }
}
