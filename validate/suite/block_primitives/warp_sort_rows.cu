// Rows of 64 keys sorted by a warp each, two keys a lane, by Batcher's bitonic network: exchanges across lanes are shuffles.

__device__ void exchange(unsigned& mine, int partner, bool keep_small) {
  const unsigned other = __shfl_xor_sync(0xffffffffu, mine, partner);
  mine = keep_small ? min(mine, other) : max(mine, other);
}

__global__ void warp_sort_rows(unsigned* __restrict__ keys, int rows) {
  const int lane = threadIdx.x % 32;
  const int warps = gridDim.x * blockDim.x / 32;
  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
    unsigned* place = keys + static_cast<size_t>(row) * 64;
    unsigned low = place[lane], high = place[lane + 32];
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
      for (int step = size / 2; step > 0; step /= 2) {
        const bool lower = (lane & step) == 0;
        const bool up = (lane & size) == 0;
        exchange(low, step, lower == (size < 32 ? up : true));
        exchange(high, step, lower == (size < 32 ? up : false));
      }
    }
    const unsigned least = min(low, high), most = max(low, high);
    low = least, high = most;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const bool lower = (lane & step) == 0;
      exchange(low, step, lower);
      exchange(high, step, lower);
    }
    place[lane] = low;
    place[lane + 32] = high;
  }
}
