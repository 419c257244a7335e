// Dot product of two vectors. Each thread multiplies and adds a few elements of its own, the block adds in shared
// memory down to one warp, the warp by shuffles; the sums of the blocks go to an array, in double precision or single.

template <typename Sum>
__global__ void dot_product(const float* __restrict__ a, const float* __restrict__ b,
                            Sum* __restrict__ partial, int n) {
  extern __shared__ __align__(8) unsigned char storage[];
  Sum* sums = reinterpret_cast<Sum*>(storage);
  const int t = threadIdx.x;
  Sum sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    sum += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i]);
  }
  sums[t] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) sums[t] = sum = sum + sums[t + half];
    __syncthreads();
  }
  if (t < 32) {
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (t == 0) partial[blockIdx.x] = sum;
  }
}
