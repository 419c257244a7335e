// y = a x with a matrix in half precision, as the linear layers of a language model are at one token: a warp a row,
// eight halves a lane and step, sums in float. The vector is kept in shared memory by the whole block.
#include <cuda_fp16.h>

__device__ float2 widened(unsigned two) { return __half22float2(*reinterpret_cast<const __half2*>(&two)); }

__device__ float product(unsigned a, unsigned x, float sum) {
  const float2 from_a = widened(a), from_x = widened(x);
  return fmaf(from_a.y, from_x.y, fmaf(from_a.x, from_x.x, sum));
}

__global__ void gemv_half(const uint4* __restrict__ a, const uint4* __restrict__ x, __half* __restrict__ y,
                          int rows, int eighths) {
  extern __shared__ uint4 vector[];
  for (int i = threadIdx.x; i < eighths; i += blockDim.x) vector[i] = x[i];
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const uint4* from = a + static_cast<size_t>(row) * eighths;
  float sum = 0.0f;
  for (int i = lane; i < eighths; i += 32) {
    const uint4 m = from[i], v = vector[i];
    sum = product(m.x, v.x, sum);
    sum = product(m.y, v.y, sum);
    sum = product(m.z, v.z, sum);
    sum = product(m.w, v.w, sum);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = __float2half(sum);
}
