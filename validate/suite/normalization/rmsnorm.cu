// Normalisation by the root of the mean square, in bfloat16 with float sums: a row a warp, eight elements
// an access.
#include <cuda_bf16.h>

struct alignas(16) Eight {
  __nv_bfloat162 pair[4];
};

__global__ void rmsnorm(const Eight* __restrict__ in, const Eight* __restrict__ weight,
                        Eight* __restrict__ out, int rows, int eighths, float epsilon) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const Eight* from = in + static_cast<size_t>(row) * eighths;
  float sum = 0.0f;
  for (int i = lane; i < eighths; i += 32) {
    const Eight v = from[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 f = __bfloat1622float2(v.pair[k]);
      sum += f.x * f.x + f.y * f.y;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = rsqrtf(sum / (8.0f * eighths) + epsilon);
  for (int i = lane; i < eighths; i += 32) {
    const Eight v = from[i];
    const Eight w = weight[i];
    Eight result;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 f = __bfloat1622float2(v.pair[k]);
      const float2 g = __bfloat1622float2(w.pair[k]);
      result.pair[k] = __floats2bfloat162_rn(f.x * scale * g.x, f.y * scale * g.y);
    }
    out[static_cast<size_t>(row) * eighths + i] = result;
  }
}
