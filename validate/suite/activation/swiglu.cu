// The gate of a transformer's feed-forward layer in half precision: out = gate / (1 + exp(-gate)) * up, two
// elements a thread. The exponential and the quotient are the fast ones, in float.
#include <cuda_fp16.h>

__device__ float silu(float x) { return __fdividef(x, 1.0f + __expf(-x)); }

__global__ void swiglu(const __half2* __restrict__ gate, const __half2* __restrict__ up,
                       __half2* __restrict__ out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const float2 g = __half22float2(gate[i]);
  const float2 u = __half22float2(up[i]);
  out[i] = __floats2half2_rn(silu(g.x) * u.x, silu(g.y) * u.y);
}
