// A linked list in random order: every thread follows it from a place of its own, each load waiting for the one before.
// One thread measures latency; thousands of them, how many misses the chip keeps under way.

__global__ void pointer_chase(const unsigned* __restrict__ next, unsigned* __restrict__ last, int steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned place = next[i];
  for (int s = 1; s < steps; ++s) place = next[place];
  last[i] = place;
}
