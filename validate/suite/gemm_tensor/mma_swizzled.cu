// c = a b by the tensor cores in bfloat16 with float sums, c in bfloat16 too: mma.sync m16n8k16 fed by ldmatrix from
// tiles that cp.async brings in three stages ahead. A block of eight warps makes 128 x 64 of c, a warp 32 x 32.
// Rows are not padded: pieces of 16 bytes change places by row, so that ldmatrix meets no bank twice. a is
// rows x depth, b depth x columns, all multiples of the tile.
#include <cuda_bf16.h>

#define ROWS 128
#define COLUMNS 64
#define DEPTH 32
#define STAGES 3

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_16_bytes(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

// Where piece `piece` of a row of four (a) or eight (b) pieces lies, in elements.
__device__ int place_a(int row, int piece) { return row * DEPTH + (piece ^ (row / 2 % 4)) * 8; }
__device__ int place_b(int row, int piece) { return row * COLUMNS + (piece ^ (row % 8)) * 8; }

__device__ void load_matrix_x4(unsigned (&r)[4], const __nv_bfloat16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ void load_matrix_x4_transposed(unsigned (&r)[4], const __nv_bfloat16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256)
    mma_swizzled(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                 __nv_bfloat16* __restrict__ c, int columns, int depth) {
  __shared__ __align__(128) __nv_bfloat16 a_tile[STAGES][ROWS * DEPTH];
  __shared__ __align__(128) __nv_bfloat16 b_tile[STAGES][DEPTH * COLUMNS];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp_row = thread / 64 * 32;
  const int warp_col = thread / 32 % 2 * 32;
  const int row = blockIdx.y * ROWS;
  const int col = blockIdx.x * COLUMNS;
  const int tiles = depth / DEPTH;

  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int stage = tile % STAGES;
#pragma unroll
      for (int i = thread; i < ROWS * 4; i += 256) {
        copy_16_bytes(&a_tile[stage][place_a(i / 4, i % 4)],
                      &a[static_cast<size_t>(row + i / 4) * depth + tile * DEPTH + i % 4 * 8]);
      }
      copy_16_bytes(&b_tile[stage][place_b(thread / 8, thread % 8)],
                    &b[static_cast<size_t>(tile * DEPTH + thread / 8) * columns + col + thread % 8 * 8]);
    }
    asm volatile("cp.async.commit_group;");
  };

  float sum[2][4][4] = {};
  fetch(0);
  fetch(1);
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    fetch(tile + 2);
    const __nv_bfloat16* from_tile_a = a_tile[tile % STAGES];
    const __nv_bfloat16* from_tile_b = b_tile[tile % STAGES];
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
      unsigned from_a[2][4];
      unsigned from_b[2][4];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        load_matrix_x4(from_a[m], from_tile_a + place_a(warp_row + m * 16 + lane % 16, k / 8 + lane / 16));
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        load_matrix_x4_transposed(from_b[n],
                                  from_tile_b + place_b(k + lane % 16, (warp_col + n * 16) / 8 + lane / 16));
      }
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          multiply_add(sum[m][n], from_a[m], from_b[n / 2][n % 2 * 2], from_b[n / 2][n % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int y = row + warp_row + m * 16 + lane / 4;
      const int x = col + warp_col + n * 8 + lane % 4 * 2;
      *reinterpret_cast<__nv_bfloat162*>(&c[static_cast<size_t>(y) * columns + x]) =
          __floats2bfloat162_rn(sum[m][n][0], sum[m][n][1]);
      *reinterpret_cast<__nv_bfloat162*>(&c[static_cast<size_t>(y + 8) * columns + x]) =
          __floats2bfloat162_rn(sum[m][n][2], sum[m][n][3]);
    }
  }
}
