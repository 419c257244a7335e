// Running sums of many tiles by a block each: shuffles within a warp, the warps' totals through shared memory, two barriers a
// tile. A block takes `tiles` tiles in a row and carries the total on.

__global__ void scan_tiles(const int* __restrict__ in, int* __restrict__ out, int tiles) {
  __shared__ int totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  size_t at = static_cast<size_t>(blockIdx.x) * tiles * blockDim.x + threadIdx.x;
  int carry = 0;
  for (int tile = 0; tile < tiles; ++tile, at += blockDim.x) {
    int x = in[at];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int below = __shfl_up_sync(0xffffffffu, x, step);
      if (lane >= step) x += below;
    }
    if (lane == 31) totals[warp] = x;
    __syncthreads();
    int total = lane < warps ? totals[lane] : 0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int below = __shfl_up_sync(0xffffffffu, total, step);
      if (lane >= step) total += below;
    }
    const int before = __shfl_sync(0xffffffffu, total, max(warp - 1, 0));
    out[at] = x + carry + (warp > 0 ? before : 0);
    carry += __shfl_sync(0xffffffffu, total, 31);
    __syncthreads();
  }
}
