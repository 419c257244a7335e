// Matrix times vector with weights of four bits in blocks of 32 and a vector that is quantized to eight bits first: products of
// four bytes at once, a scale a block.
#include <cuda_fp16.h>

// A warp a block of 32 numbers.
__global__ void quantize_blocks(const float* __restrict__ x, signed char* __restrict__ q, float2* __restrict__ scale_sum,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  float most = fabsf(value);
  float sum = value;
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
    sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  }
  const float d = most / 127.0f;
  q[i] = most == 0.0f ? 0 : (signed char)roundf(value / d);
  if (i % 32 == 0) scale_sum[i / 32] = make_float2(d, sum);
}

// A row a block of four warps, four lanes a block of weights; nibbles of byte k are weights k and k + 16.
__global__ void quant_matvec(const unsigned* __restrict__ weights, const __half* __restrict__ scales,
                             const int* __restrict__ q, const float2* __restrict__ scale_sum, float* __restrict__ y,
                             int blocks_per_row) {
  const int row = blockIdx.x;
  const int quarter = threadIdx.x % 4;
  float sum = 0.0f;
  for (int b = threadIdx.x / 4; b < blocks_per_row; b += blockDim.x / 4) {
    const unsigned packed = weights[((size_t)row * blocks_per_row + b) * 4 + quarter];
    int dot = __dp4a((int)(packed & 0x0f0f0f0fu), q[b * 8 + quarter], 0);
    dot = __dp4a((int)(packed >> 4 & 0x0f0f0f0fu), q[b * 8 + quarter + 4], dot);
    const float2 ds = scale_sum[b];
    const float scale = __half2float(scales[(size_t)row * blocks_per_row + b]);
    sum += scale * (ds.x * (float)dot - 2.0f * ds.y);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  __shared__ float partial[4];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[row] = partial[0] + partial[1] + partial[2] + partial[3];
}
