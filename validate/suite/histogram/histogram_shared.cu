// Histogram of bytes: each block counts in shared memory, four bytes a load, and adds its 256 bins to the result.

__global__ void histogram_shared(const uchar4* __restrict__ bytes, unsigned* __restrict__ bins, int quads) {
  __shared__ unsigned mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 four = bytes[i];
    atomicAdd(&mine[four.x], 1u);
    atomicAdd(&mine[four.y], 1u);
    atomicAdd(&mine[four.z], 1u);
    atomicAdd(&mine[four.w], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (mine[b] != 0) atomicAdd(&bins[b], mine[b]);
  }
}
