// Histograms of long arrays: bytes, four words a thread and turn, into 256 bins of the block's own in shared memory; and keys of
// many bins by one reduction each in global memory.

__global__ void count_bytes(const uint4* __restrict__ words, unsigned* __restrict__ bins, int quads) {
  __shared__ unsigned mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  const auto count = [](unsigned word) {
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[word >> shift & 255], 1u);
  };
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uint4 four = words[i];
    count(four.x);
    count(four.y);
    count(four.z);
    count(four.w);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

__global__ void count_keys(const unsigned* __restrict__ keys, unsigned* __restrict__ bins, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[keys[i]], 1u);
  }
}
