// The small corpus that the tests read without a CUDA Toolkit: corpus.sm_80.cubin, .sm_90, .sm_120 and their
// disassemblies are made from this file by scripts/update_corpus.
#include <cuda_fp16.h>

__constant__ float coefficients[8] = {1.0f, 2.0f, 3.0f};
__device__ int initialised = 7;
__device__ float zeroed[4];
__device__ float* pointer_to_zeroed = zeroed + 1;

template <int kStride>
__global__ void __launch_bounds__(1024) transpose_tile(float* out, const float* in, int n) {
  __shared__ float tile[32][kStride];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * n + x] * coefficients[x & 7];
  __syncthreads();
  out[y * n + x] = tile[x][y];
}
template __global__ void transpose_tile<32>(float*, const float*, int);
template __global__ void transpose_tile<33>(float*, const float*, int);

namespace scan {
__global__ void totals(int* out, const int* in) {
  int sum = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum + initialised);
  if (sum < 0) zeroed[1] = *pointer_to_zeroed;
}
}  // namespace scan

__device__ __noinline__ double slow_path(double x) { return x / 3.0 + 1e-300; }

__global__ void branches(double* out, int n, unsigned char flag) {
  const int i = threadIdx.x;
  switch (n) {
    case 0: out[i] = slow_path(out[i]); break;
    case 1: out[i] = sqrt(out[i]); break;
    case 2: out[i] += 1.5; break;
    case 3: out[i] = static_cast<double>(__float2half(static_cast<float>(out[i]))) * flag; break;
    case 4: out[i] = out[i + 1] * 7.0; break;
    default: out[i] = -1.0;
  }
}

__global__ void halves(__half2* out, const __half2* in) {
  const __half2 x = in[threadIdx.x];
  out[threadIdx.x] = __hfma2(x, __half2(__float2half(1.5f), __float2half(-2.0f)), x);
}
