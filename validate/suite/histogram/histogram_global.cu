// Histogram of small numbers straight into global memory: an atomic addition for each element, at L2. How many of them
// meet on one bin is the data's affair.

__global__ void histogram_global(const unsigned* __restrict__ keys, unsigned* __restrict__ bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[keys[i]], 1u);
  }
}
