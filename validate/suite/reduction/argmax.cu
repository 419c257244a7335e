// The largest element and where it stands: warps compare by shuffles, blocks by an atomic maximum of a word that holds
// the value's bits above the complement of its index, so that of equal values the first wins. Values are not negative:
// their bits as integers have the same order.

__global__ void argmax(const float* __restrict__ in, unsigned long long* __restrict__ best, int n) {
  __shared__ unsigned long long found[32];
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned long long candidate =
        (unsigned long long)__float_as_uint(in[i]) << 32 | (0xffffffffu - (unsigned)i);
    if (candidate > mine) mine = candidate;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, mine, offset);
    if (other > mine) mine = other;
  }
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (lane == 0) found[warp] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) {
      if (found[w] > mine) mine = found[w];
    }
    atomicMax(best, mine);
  }
}
