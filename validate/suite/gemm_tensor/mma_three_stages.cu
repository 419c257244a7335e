// C = A B in half precision by the tensor cores with float sums. A block of eight warps makes 128 x 128 of C, a warp
// 64 x 32, in steps of 32 along K. Three stages of both tiles lie in dynamic shared memory, filled by cp.async two
// steps ahead; rows are padded by 16 bytes. The fragments of the next 16 along K are read by ldmatrix while the
// current ones are multiplied. C goes through shared memory, so that it is stored 16 bytes a thread. M and N are
// multiples of 128, K of 32.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int BM = 128;
constexpr int BN = 128;
constexpr int BK = 32;
constexpr int kStages = 3;
constexpr int kPitchA = BK + 8;
constexpr int kPitchB = BN + 8;
constexpr int kPitchC = BN + 8;
constexpr int kStageA = BM * kPitchA;
constexpr int kStageB = BK * kPitchB;

__device__ __forceinline__ uint32_t smem_u32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(smem_u32(dst)), "l"(src));
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
}

__device__ __forceinline__ void ldsm_x4(uint32_t (&r)[4], const __half* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(p)));
}
__device__ __forceinline__ void ldsm_x4_trans(uint32_t (&r)[4], const __half* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(p)));
}
__device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256)
    mma_three_stages(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C,
                     int N, int K) {
  extern __shared__ __align__(128) __half smem[];
  __half* const As = smem;
  __half* const Bs = smem + kStages * kStageA;

  const int tid = threadIdx.x;
  const int lane = tid & 31, warp = tid >> 5;
  const int warp_m = (warp >> 2) * 64;
  const int warp_n = (warp & 3) * 32;
  const __half* const A_block = A + (size_t)blockIdx.y * BM * K;
  const __half* const B_block = B + blockIdx.x * BN;
  const int k_tiles = K / BK;

  auto issue = [&](int tile, int stage) {
    __half* const a_to = As + stage * kStageA;
    __half* const b_to = Bs + stage * kStageB;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int c = tid + i * 256;
      const int row = c >> 2, col = (c & 3) * 8;
      cp_async16(a_to + row * kPitchA + col, A_block + (size_t)row * K + tile * BK + col);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int c = tid + i * 256;
      const int row = c >> 4, col = (c & 15) * 8;
      cp_async16(b_to + row * kPitchB + col, B_block + (size_t)(tile * BK + row) * N + col);
    }
  };

  float acc[4][4][4] = {};
  uint32_t a_frag[2][4][4];
  uint32_t b_frag[2][2][4];

  auto load_fragments = [&](int buffer, int stage, int k) {
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      ldsm_x4(a_frag[buffer][m],
              As + stage * kStageA + (warp_m + m * 16 + (lane & 15)) * kPitchA + k + (lane >> 4) * 8);
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      ldsm_x4_trans(b_frag[buffer][n],
                    Bs + stage * kStageB + (k + (lane & 15)) * kPitchB + warp_n + n * 16 + (lane >> 4) * 8);
    }
  };

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < k_tiles) issue(s, s);
    cp_async_commit();
  }
  cp_async_wait<kStages - 2>();
  __syncthreads();
  load_fragments(0, 0, 0);

  int stage = 0, ahead = kStages - 1;
  for (int tile = 0; tile < k_tiles; ++tile) {
    const int next_stage = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (int step = 0; step < BK / 16; ++step) {
      if (step + 1 < BK / 16) {
        load_fragments((step + 1) & 1, stage, (step + 1) * 16);
        if (tile + kStages - 1 < k_tiles) issue(tile + kStages - 1, ahead);
        cp_async_commit();
      } else {
        cp_async_wait<kStages - 2>();
        __syncthreads();
        if (tile + 1 < k_tiles) load_fragments((step + 1) & 1, next_stage, 0);
      }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          mma16816(acc[m][n], a_frag[step & 1][m], b_frag[step & 1][n >> 1][(n & 1) * 2],
                   b_frag[step & 1][n >> 1][(n & 1) * 2 + 1]);
        }
      }
    }
    stage = next_stage;
    ahead = ahead + 1 == kStages ? 0 : ahead + 1;
  }

  // The tiles are no longer needed (the last step ended in a barrier): C takes their place.
  cp_async_wait<0>();
  __syncthreads();
#pragma unroll
  for (int m = 0; m < 4; ++m) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      __half* const to = smem + (warp_m + m * 16 + (lane >> 2)) * kPitchC + warp_n + n * 8 + (lane & 3) * 2;
      *reinterpret_cast<__half2*>(to) = __floats2half2_rn(acc[m][n][0], acc[m][n][1]);
      *reinterpret_cast<__half2*>(to + 8 * kPitchC) = __floats2half2_rn(acc[m][n][2], acc[m][n][3]);
    }
  }
  __syncthreads();
  for (int c = tid; c < BM * BN / 8; c += 256) {
    const int row = c / (BN / 8), col = c % (BN / 8) * 8;
    *reinterpret_cast<uint4*>(&C[(size_t)(blockIdx.y * BM + row) * N + blockIdx.x * BN + col]) =
        *reinterpret_cast<const uint4*>(smem + row * kPitchC + col);
  }
}
