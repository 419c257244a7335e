// Atomics that a warp makes one of: its lanes agree who counts for all of them. keep_small packs what lies below a threshold
// with one addition a warp; count_groups adds once for each different key among a warp's lanes.

__global__ void keep_small(const unsigned* __restrict__ items, unsigned* __restrict__ kept, unsigned* __restrict__ length,
                           unsigned long long* __restrict__ total, int count, unsigned threshold) {
  const int lane = threadIdx.x % 32;
  for (int first = blockIdx.x * blockDim.x; first < count; first += gridDim.x * blockDim.x) {
    const int i = first + threadIdx.x;
    const unsigned x = i < count ? items[i] : 0xffffffffu;
    const unsigned takers = __ballot_sync(0xffffffffu, x < threshold);
    if (takers == 0) continue;
    unsigned base = 0;
    if (lane == 0) base = atomicAdd(length, __popc(takers));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (x < threshold) kept[base + __popc(takers & ((1u << lane) - 1))] = x;
    unsigned sum = x < threshold ? x >> 16 : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) atomicAdd(total, static_cast<unsigned long long>(sum));
  }
}

__global__ void count_groups(const unsigned* __restrict__ items, unsigned* __restrict__ counters, int count,
                             unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned key = items[i] & mask;
  unsigned left = __activemask();
  while (left != 0) {
    const unsigned leader_key = __shfl_sync(left, key, __ffs(left) - 1);
    const bool same = key == leader_key;
    const unsigned group = __ballot_sync(left, same);
    if (same) {
      if (__ffs(group) - 1 == threadIdx.x % 32) atomicAdd(&counters[key], __popc(group));
      break;
    }
    left &= ~group;
  }
}
