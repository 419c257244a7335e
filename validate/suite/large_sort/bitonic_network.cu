// Batcher's bitonic sort of a long array: tiles of 1024 keys sorted in shared memory up and down in turn, one exchange over a
// long distance through memory, and the last ten exchanges of a long merge in shared memory.

__device__ void exchange(unsigned& a, unsigned& b, bool up) {
  if ((a > b) == up) {
    const unsigned kept = a;
    a = b;
    b = kept;
  }
}

__global__ void __launch_bounds__(512) sort_tiles(unsigned* __restrict__ keys) {
  __shared__ unsigned tile[1024];
  unsigned* mine = keys + static_cast<size_t>(blockIdx.x) * 1024;
  const int t = threadIdx.x;
  tile[t] = mine[t];
  tile[t + 512] = mine[t + 512];
  for (int size = 2; size <= 1024; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const int low = 2 * t - (t & (step - 1));
      const bool up = size < 1024 ? (low & size) == 0 : blockIdx.x % 2 == 0;
      exchange(tile[low], tile[low + step], up);
    }
  }
  __syncthreads();
  mine[t] = tile[t];
  mine[t + 512] = tile[t + 512];
}

__global__ void exchange_far(unsigned* __restrict__ keys, unsigned size, unsigned step) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned low = 2 * t - (t & (step - 1));
  const unsigned a = keys[low], b = keys[low + step];
  const bool up = (low & size) == 0;
  keys[low] = up ? min(a, b) : max(a, b);
  keys[low + step] = up ? max(a, b) : min(a, b);
}

__global__ void __launch_bounds__(512) merge_tiles(unsigned* __restrict__ keys, unsigned size) {
  __shared__ unsigned tile[1024];
  unsigned* mine = keys + static_cast<size_t>(blockIdx.x) * 1024;
  const int t = threadIdx.x;
  const bool up = (blockIdx.x * 1024 & size) == 0;
  tile[t] = mine[t];
  tile[t + 512] = mine[t + 512];
  for (int step = 512; step > 0; step /= 2) {
    __syncthreads();
    const int low = 2 * t - (t & (step - 1));
    exchange(tile[low], tile[low + step], up);
  }
  __syncthreads();
  mine[t] = tile[t];
  mine[t + 512] = tile[t + 512];
}
