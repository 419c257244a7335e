// C = A B' in bfloat16 with sums in single: tiles of 128 x 128 a block of eight warps, 32 deep, two stages filled by cp.async,
// fragments by ldmatrix, mma.m16n8k16. B is stored as columns x depth. Sizes are multiples of 128 (depth: of 32).
#include <cuda_bf16.h>

#define SIDE 128
#define DEEP 32
#define PITCH 40

__device__ void copy_async(void* to, const void* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
}

__device__ void load_four(unsigned (&r)[4], const void* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(place));
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256)
    product_mma(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int rows,
                int columns, int depth) {
  __shared__ __align__(16) __nv_bfloat16 left[2][SIDE][PITCH], right[2][SIDE][PITCH];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const __nv_bfloat16* from_a = a + static_cast<size_t>(blockIdx.y) * SIDE * depth;
  const __nv_bfloat16* from_b = b + static_cast<size_t>(blockIdx.x) * SIDE * depth;
  const auto fetch = [&](int stage, int first) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = (threadIdx.x + 256 * i) / 4, part = threadIdx.x % 4 * 8;
      copy_async(&left[stage][row][part], from_a + static_cast<size_t>(row) * depth + first + part);
      copy_async(&right[stage][row][part], from_b + static_cast<size_t>(row) * depth + first + part);
    }
    asm volatile("cp.async.commit_group;");
  };
  float sum[4][4][4] = {};
  fetch(0, 0);
  for (int first = 0, stage = 0; first < depth; first += DEEP, stage ^= 1) {
    if (first + DEEP < depth) {
      fetch(stage ^ 1, first + DEEP);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEEP; k += 16) {
      unsigned x[4][4], y[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) load_four(x[i], &left[stage][warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        load_four(y[j], &right[stage][warp_column + 16 * j + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = blockIdx.y * SIDE + warp_row + 16 * i + lane / 4;
      const int column = blockIdx.x * SIDE + warp_column + 8 * j + lane % 4 * 2;
      float* to = c + static_cast<size_t>(row) * columns + column;
      *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
      *reinterpret_cast<float2*>(to + 8 * columns) = make_float2(sum[i][j][2], sum[i][j][3]);
    }
  }
}
