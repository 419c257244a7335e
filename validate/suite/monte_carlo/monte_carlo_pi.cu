// Pi by throwing points at a square: each thread has a xorshift generator of its own, seeded by its number, and counts
// how many of its points fall into the quarter circle. All in registers; one atomic a warp at the end.

__device__ unsigned next_random(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

__global__ void monte_carlo_pi(unsigned long long* __restrict__ inside, int points, unsigned seed) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2654435761u ^ seed;
  if (state == 0) state = 1;
  int hits = 0;
  for (int p = 0; p < points; ++p) {
    const float x = (float)(next_random(state) >> 8) * (1.0f / 16777216.0f);
    const float y = (float)(next_random(state) >> 8) * (1.0f / 16777216.0f);
    if (fmaf(x, x, __fmul_rn(y, y)) <= 1.0f) ++hits;
  }
  hits = __reduce_add_sync(0xffffffffu, hits);
  if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)hits);
}
