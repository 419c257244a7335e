// A pointer chase as RRZE's gpu-latency asks it: one thread follows 64-bit pointers from line to line in one random cycle, again and
// again, so that a set larger than a cache finds nothing of itself there. The block reads the whole cycle once before, in the same
// order, with all its threads. Latency is the difference of two chases of other lengths.

/// One pointer at the start of each 128-byte line, to the line that comes next in `order`.
__global__ void chase_link(const unsigned* __restrict__ order, unsigned long long* __restrict__ lines, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) lines[16ull * order[i]] = (unsigned long long)(lines + 16ull * order[i + 1 < count ? i + 1 : 0]);
}

__global__ void chase(const unsigned* __restrict__ order, const unsigned long long* lines, unsigned long long* out, int warmed,
                      int steps) {
  unsigned long long sum = 0;
  for (int i = threadIdx.x; i < warmed; i += blockDim.x) sum += lines[16ull * order[i]];
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned long long* at = lines + 16ull * order[0];
#pragma unroll 16
    for (int s = 0; s < steps; ++s) at = (const unsigned long long*)*at;
    out[1] = (unsigned long long)at;
  }
  if (sum == 1) out[0] = sum;
}
