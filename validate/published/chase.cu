// A pointer chase as RRZE's gpu-latency asks it: one thread follows 64-bit pointers from line to line in one random cycle. The block
// reads the whole set once before, so that it is wherever it fits. Latency is the difference of two chases of other lengths.

/// One pointer at the start of each 128-byte line.
__global__ void chase_link(const unsigned* __restrict__ next, unsigned long long* __restrict__ lines, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) lines[16ull * i] = (unsigned long long)(lines + 16ull * next[i]);
}

__global__ void chase(const unsigned long long* lines, unsigned long long* out, int warmed, int steps) {
  unsigned long long sum = 0;
  for (int i = threadIdx.x; i < warmed; i += blockDim.x) sum += lines[16ull * i];
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned long long* at = lines;
#pragma unroll 16
    for (int s = 0; s < steps; ++s) at = (const unsigned long long*)*at;
    out[1] = (unsigned long long)at;
  }
  if (sum == 1) out[0] = sum;
}
