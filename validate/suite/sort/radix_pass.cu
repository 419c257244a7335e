// One pass of a radix sort over four bits: count each block's digits, scan the counts (digit by digit, block by block),
// and scatter the keys to their places. Keys with the same digit keep their order.

#define BLOCK 256
#define ITEMS 8
#define DIGITS 16
#define WARPS (BLOCK / 32)

__global__ void radix_count(const unsigned* __restrict__ keys, unsigned* __restrict__ counts, int n,
                            int shift) {
  __shared__ unsigned mine[DIGITS];
  if (threadIdx.x < DIGITS) mine[threadIdx.x] = 0;
  __syncthreads();
  const int first = blockIdx.x * BLOCK * ITEMS;
  for (int k = 0; k < ITEMS; ++k) {
    const int i = first + k * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&mine[keys[i] >> shift & (DIGITS - 1)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// Exclusive, in one block that walks over the counts with a running total.
__global__ void radix_scan(unsigned* __restrict__ counts, int n) {
  __shared__ unsigned warp_totals[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  unsigned before_all = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    const int i = first + threadIdx.x;
    const unsigned own = i < n ? counts[i] : 0;
    unsigned sum = own;
    for (int offset = 1; offset < 32; offset *= 2) {
      const unsigned left = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += left;
    }
    if (lane == 31) warp_totals[warp] = sum;
    __syncthreads();
    unsigned before = before_all;
    for (int w = 0; w < blockDim.x / 32; ++w) {
      if (w < warp) before += warp_totals[w];
      before_all += warp_totals[w];
    }
    if (i < n) counts[i] = before + sum - own;
    __syncthreads();
  }
}

__global__ void radix_scatter(const unsigned* __restrict__ keys, const unsigned* __restrict__ starts,
                              unsigned* __restrict__ sorted, int n, int shift) {
  __shared__ unsigned next[DIGITS];
  __shared__ unsigned warp_counts[WARPS][DIGITS];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x < DIGITS) next[threadIdx.x] = starts[threadIdx.x * gridDim.x + blockIdx.x];
  const int first = blockIdx.x * BLOCK * ITEMS;
  for (int k = 0; k < ITEMS; ++k) {
    const int i = first + k * BLOCK + threadIdx.x;
    const bool is_there = i < n;
    const unsigned key = is_there ? keys[i] : 0;
    const unsigned digit = key >> shift & (DIGITS - 1);
    // The lanes with the same digit, by one ballot a bit.
    unsigned same = __ballot_sync(0xffffffffu, is_there);
    for (int bit = 0; bit < 4; ++bit) {
      const unsigned ones = __ballot_sync(0xffffffffu, digit >> bit & 1);
      same &= digit >> bit & 1 ? ones : ~ones;
    }
    const unsigned rank = __popc(same & ((1u << lane) - 1));
    if (lane < DIGITS) warp_counts[warp][lane] = 0;
    __syncwarp();
    if (is_there && rank == 0) warp_counts[warp][digit] = __popc(same);
    __syncthreads();
    if (is_there) {
      unsigned place = next[digit] + rank;
      for (int w = 0; w < warp; ++w) place += warp_counts[w][digit];
      sorted[place] = key;
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) {
      for (int w = 0; w < WARPS; ++w) next[threadIdx.x] += warp_counts[w][threadIdx.x];
    }
    __syncthreads();
  }
}
