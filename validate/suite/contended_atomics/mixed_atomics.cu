// Many threads on a few addresses with several kinds of atomics: each item adds, takes least and largest, and sets, clears and
// flips bits in one slot. tickets takes numbers from counters and uses what they return; clipped_sums adds by a loop of
// compare-and-swap that stops at a limit.

struct Slot {
  unsigned sum;
  int least, most;
  unsigned any, all, odd;
};

__global__ void mixed_atomics(const unsigned* __restrict__ items, Slot* __restrict__ slots, int count, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned x = items[i];
  Slot* slot = slots + (x >> 20 & mask);
  atomicAdd(&slot->sum, x & 0xff);
  atomicMin(&slot->least, static_cast<int>(x << 4));
  atomicMax(&slot->most, static_cast<int>(x << 8));
  atomicOr(&slot->any, 1u << (x & 31));
  atomicAnd(&slot->all, ~(1u << (x >> 5 & 31)));
  atomicXor(&slot->odd, x);
}

__global__ void tickets(const unsigned* __restrict__ items, unsigned* __restrict__ counters,
                        unsigned long long* __restrict__ sums, int count, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned slot = items[i] & mask;
  const unsigned ticket = atomicAdd(&counters[slot], 1u);
  atomicAdd(&sums[slot], static_cast<unsigned long long>(ticket));
}

__global__ void clipped_sums(const unsigned* __restrict__ items, unsigned* __restrict__ sums, int count, unsigned mask,
                             unsigned limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned* sum = &sums[(items[i] & mask) * 8];
  const unsigned more = (items[i] >> 24) + 1;
  unsigned seen = *sum;
  while (seen < limit) {
    const unsigned before = atomicCAS(sum, seen, min(seen + more, limit));
    if (before == seen) break;
    seen = before;
  }
}
