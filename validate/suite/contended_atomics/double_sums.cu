// Sums by key in double precision: straight to global memory, or in shared memory first.

__global__ void double_sums(const unsigned* __restrict__ keys, const double* __restrict__ values,
                            double* __restrict__ sums, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&sums[keys[i]], values[i]);
  }
}

__global__ void double_sums_shared(const unsigned* __restrict__ keys, const double* __restrict__ values,
                                   double* __restrict__ sums, int count, int size) {
  extern __shared__ double mine_double[];
  for (int b = threadIdx.x; b < size; b += blockDim.x) mine_double[b] = 0.0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine_double[keys[i]], values[i]);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < size; b += blockDim.x) atomicAdd(&sums[b], mine_double[b]);
}
