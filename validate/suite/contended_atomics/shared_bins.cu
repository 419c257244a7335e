// Histograms in shared memory of few and of many bins. shared_bins has one for the block; shared_bins_copies has one for each
// warp, added up at the end.

__global__ void shared_bins(const unsigned short* __restrict__ keys, unsigned* __restrict__ bins, int count, int size) {
  extern __shared__ unsigned mine[];
  for (int b = threadIdx.x; b < size; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[keys[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < size; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

__global__ void shared_bins_copies(const unsigned short* __restrict__ keys, unsigned* __restrict__ bins, int count,
                                   int size) {
  extern __shared__ unsigned mine[];
  const int copies = blockDim.x / 32;
  for (int b = threadIdx.x; b < size * copies; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  unsigned* own = mine + threadIdx.x / 32 * size;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[keys[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < size; b += blockDim.x) {
    unsigned sum = 0;
    for (int c = 0; c < copies; ++c) sum += mine[c * size + b];
    if (sum != 0) atomicAdd(&bins[b], sum);
  }
}
