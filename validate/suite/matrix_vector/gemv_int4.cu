// y = W x of a language model's linear layer with weights of four bits: eight in a word, groups of 128 along a row
// with one scale in half precision, the zero point 8. Nibbles p and p + 4 of a word are weights 2p and 2p + 1, so that
// a mask and an or make a half2 of 1024 + nibble, from which 1032 is subtracted exactly. ROWS warps a block, a warp a
// row; a lane takes 32 weights at once.
#include <cuda_fp16.h>

#define WARP 32

__device__ __forceinline__ __half2 as_half2(unsigned bits) { return *reinterpret_cast<__half2*>(&bits); }

__device__ __forceinline__ float word_dot(unsigned word, const uint4& x, float sum) {
  const __half2 bias = as_half2(0x64086408u);  // 1032 twice
  const unsigned xs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
  for (int p = 0; p < 4; p++) {
    const __half2 w = __hsub2(as_half2(((word >> (4 * p)) & 0x000f000fu) | 0x64006400u), bias);
    const float2 wide = __half22float2(w);
    const float2 activation = __half22float2(as_half2(xs[p]));
    sum = fmaf(wide.x, activation.x, sum);
    sum = fmaf(wide.y, activation.y, sum);
  }
  return sum;
}

template <int ROWS>
__global__ void __launch_bounds__(ROWS* WARP)
    gemv_int4(const uint4* __restrict__ weights, const __half* __restrict__ scales,
              const uint4* __restrict__ x, __half* __restrict__ y, int rows, int columns) {
  const int lane = threadIdx.x & (WARP - 1);
  const int row = blockIdx.x * ROWS + (threadIdx.x >> 5);
  if (row >= rows) return;

  const uint4* w_row = weights + (size_t)row * (columns / 32);
  const __half* scale_row = scales + (size_t)row * (columns / 128);
  float total = 0.0f;
  for (int chunk = lane; chunk < columns / 32; chunk += WARP) {
    const uint4 w = __ldg(w_row + chunk);
    const float scale = __half2float(scale_row[chunk / 4]);
    float sum = word_dot(w.x, x[4 * chunk], 0.0f);
    sum = word_dot(w.y, x[4 * chunk + 1], sum);
    sum = word_dot(w.z, x[4 * chunk + 2], sum);
    sum = word_dot(w.w, x[4 * chunk + 3], sum);
    total = fmaf(scale, sum, total);
  }
#pragma unroll
  for (int offset = WARP / 2; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
  if (lane == 0) y[row] = __float2half_rn(total);
}

template __global__ void gemv_int4<4>(const uint4*, const __half*, const uint4*, __half*, int, int);
