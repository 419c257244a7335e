// Reductions over arrays far larger than L2: a sum of floats four at a time, a scalar product in double precision, and least and
// largest of integers. Each block leaves one result; the host adds them up.

__global__ void total_of_floats(const float4* __restrict__ in, float* __restrict__ totals, int quads) {
  __shared__ float partial[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 x = in[i];
    sum += (x.x + x.y) + (x.z + x.w);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

__global__ void scalar_product(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ totals,
                               int count) {
  __shared__ double partial[256];
  double sum = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = partial[0];
}

__global__ void least_and_most(const int* __restrict__ in, int2* __restrict__ results, int count) {
  __shared__ int2 partial[32];
  int least = 0x7fffffff, most = -0x7fffffff - 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    least = min(least, in[i]);
    most = max(most, in[i]);
  }
  least = __reduce_min_sync(0xffffffffu, least);
  most = __reduce_max_sync(0xffffffffu, most);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = make_int2(least, most);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const int2 mine = partial[min(threadIdx.x, blockDim.x / 32 - 1)];
  least = __reduce_min_sync(0xffffffffu, mine.x);
  most = __reduce_max_sync(0xffffffffu, mine.y);
  if (threadIdx.x == 0) results[blockIdx.x] = make_int2(least, most);
}
