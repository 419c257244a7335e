// The loss of a language model and its gradient in place of the logits, bfloat16, a block a row: largest and sum in one pass that
// goes backwards, eight logits a load, then the gradients.
#include <cuda_bf16.h>

struct alignas(16) Eight {
  __nv_bfloat16 v[8];
};

__device__ __forceinline__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

__global__ void __launch_bounds__(1024) fused_classifier(__nv_bfloat16* logits, float* losses, const int* targets,
                                                         float dloss, int vocabulary, int padded) {
  __shared__ float shared_max[32];
  __shared__ float shared_sum[32];
  const int row = blockIdx.x;
  __nv_bfloat16* mine = logits + (size_t)row * padded;
  float most = -INFINITY, sum = 0.0f;
  for (int i = vocabulary / 8 - 1 - (int)threadIdx.x; i >= 0; i -= blockDim.x) {
    const Eight eight = *reinterpret_cast<const Eight*>(mine + 8 * i);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float v = __bfloat162float(eight.v[k]);
      const float before = most;
      most = fmaxf(most, v);
      sum *= expf(before - most);
      sum += expf(v - most);
    }
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float warp_most = warp_max(most);
  if (lane == 0) shared_max[warp] = warp_most;
  __syncthreads();
  const float row_most = warp_max(lane < warps ? shared_max[lane] : -INFINITY);
  sum = warp_sum(most == -INFINITY ? 0.0f : sum * expf(most - row_most));
  if (lane == 0) shared_sum[warp] = sum;
  __syncthreads();
  const float row_sum = warp_sum(lane < warps ? shared_sum[lane] : 0.0f);
  const float scale = 1.0f / row_sum;
  const int target = targets[row];
  if (threadIdx.x == 0) losses[row] -= logf(expf(__bfloat162float(mine[target]) - row_most) * scale);
  __syncthreads();
  for (int i = threadIdx.x; i < vocabulary / 8; i += blockDim.x) {
    Eight eight = *reinterpret_cast<const Eight*>(mine + 8 * i);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float p = expf(__bfloat162float(eight.v[k]) - row_most) * scale;
      eight.v[k] = __float2bfloat16((p - (8 * i + k == target ? 1.0f : 0.0f)) * dloss);
    }
    *reinterpret_cast<Eight*>(mine + 8 * i) = eight;
  }
}
