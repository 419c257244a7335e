// One pass of a radix sort by eight bits, in three launches: each block counts the digits of its 4096 keys, one block turns
// counts into places, and each block puts its keys there in their order, ranked by the lanes that hold the same digit.
// Counts lie digit by digit: counts[digit * blocks + block].

#define KEYS 4096

__global__ void __launch_bounds__(256)
    digit_count(const unsigned* __restrict__ keys, unsigned* __restrict__ counts, int shift) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned* from = keys + static_cast<size_t>(blockIdx.x) * KEYS;
#pragma unroll 4
  for (int i = threadIdx.x; i < KEYS; i += 256) atomicAdd(&mine[from[i] >> shift & 255], 1u);
  __syncthreads();
  counts[static_cast<size_t>(threadIdx.x) * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

__global__ void __launch_bounds__(1024) digit_places(unsigned* __restrict__ counts, int size) {
  __shared__ unsigned totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned carry = 0;
  for (int first = 0; first < size; first += 1024) {
    const int i = first + threadIdx.x;
    const unsigned mine = i < size ? counts[i] : 0;
    unsigned sum = mine;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned below = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += below;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    unsigned total = totals[lane];
    for (int step = 1; step < 32; step *= 2) {
      const unsigned below = __shfl_up_sync(0xffffffffu, total, step);
      if (lane >= step) total += below;
    }
    const unsigned before = warp > 0 ? __shfl_sync(0xffffffffu, total, warp - 1) : 0;
    if (i < size) counts[i] = carry + before + sum - mine;
    carry += __shfl_sync(0xffffffffu, total, 31);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(256) digit_scatter(const unsigned* __restrict__ keys, const unsigned* __restrict__ places,
                                                     unsigned* __restrict__ out, int shift) {
  __shared__ unsigned base[256], of_warp[8][256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  base[threadIdx.x] = places[static_cast<size_t>(threadIdx.x) * gridDim.x + blockIdx.x];
  const unsigned* from = keys + static_cast<size_t>(blockIdx.x) * KEYS;
  for (int i = threadIdx.x; i < KEYS; i += 256) {
#pragma unroll
    for (int w = 0; w < 8; ++w) of_warp[w][threadIdx.x] = 0;
    __syncthreads();
    const unsigned key = from[i];
    const unsigned digit = key >> shift & 255;
    const unsigned same = __match_any_sync(0xffffffffu, digit);
    const unsigned rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0) of_warp[warp][digit] = __popc(same);
    __syncthreads();
    unsigned next = base[threadIdx.x];
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      const unsigned here = of_warp[w][threadIdx.x];
      of_warp[w][threadIdx.x] = next;
      next += here;
    }
    base[threadIdx.x] = next;
    __syncthreads();
    out[of_warp[warp][digit] + rank] = key;
    __syncthreads();
  }
}
