// What stands between two layers of a language model, in half precision: the layer's output is added to the residual
// stream, which is written back, and the sum is normalised by the root of its mean square. A block a row; each thread
// keeps VECTORS times eight halves in registers between the two passes.
#include <cuda_fp16.h>

union Vector8 {
  uint4 bits;
  __half2 pair[4];
};

__device__ __forceinline__ float block_sum(float value) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor_sync(0xffffffffu, value, mask);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  value = lane < (blockDim.x >> 5) ? of_warp[lane] : 0.0f;
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

template <int VECTORS>
__global__ void residual_rmsnorm(const uint4* __restrict__ in, uint4* __restrict__ residual,
                                 const uint4* __restrict__ weight, uint4* __restrict__ out, float epsilon) {
  const int row_vectors = VECTORS * blockDim.x;
  const size_t row = static_cast<size_t>(blockIdx.x) * row_vectors;

  Vector8 sum[VECTORS];
  float squares = 0.0f;
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const size_t at = row + v * blockDim.x + threadIdx.x;
    Vector8 x, r;
    x.bits = in[at];
    r.bits = residual[at];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      sum[v].pair[p] = __hadd2(x.pair[p], r.pair[p]);
      const float2 f = __half22float2(sum[v].pair[p]);
      squares += f.x * f.x + f.y * f.y;
    }
    residual[at] = sum[v].bits;
  }

  const float scale = rsqrtf(block_sum(squares) / (8 * row_vectors) + epsilon);
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const int column = v * blockDim.x + threadIdx.x;
    Vector8 w, y;
    w.bits = __ldg(&weight[column]);
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float2 f = __half22float2(sum[v].pair[p]);
      y.pair[p] = __hmul2(__floats2half2_rn(f.x * scale, f.y * scale), w.pair[p]);
    }
    out[row + column] = y.bits;
  }
}

template __global__ void residual_rmsnorm<2>(const uint4*, uint4*, const uint4*, uint4*, float);
