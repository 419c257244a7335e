// Random numbers by hashing a counter, used at once: prices followed over many steps by pairs of normal numbers, and points that
// fall into a quarter of a circle, counted in integers.

__device__ unsigned hashed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// A path a thread: what a call option pays at the end.
__global__ void option_paths(float* __restrict__ payoffs, int steps, float start, float strike, float drift, float spread,
                             unsigned seed) {
  const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0.0f;
  unsigned counter = hashed(path ^ seed);
  for (int step = 0; step < steps; step += 2) {
    const float u = (static_cast<float>(hashed(counter + step) >> 8) + 0.5f) * 0x1p-24f;
    const float v = static_cast<float>(hashed(counter + step + 1) >> 8) * 0x1p-24f;
    const float radius = sqrtf(-2.0f * logf(u)) * spread;
    float sine, cosine;
    sincospif(2.0f * v, &sine, &cosine);
    x += drift + radius * sine;
    x += drift + radius * cosine;
  }
  payoffs[path] = fmaxf(start * expf(x) - strike, 0.0f);
}

__global__ void circle_hits(unsigned* __restrict__ hits, int tries, unsigned seed) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = hashed(thread ^ seed), inside = 0;
  for (int i = 0; i < tries; ++i) {
    const unsigned bits = hashed(state + i);
    const unsigned x = bits & 0x7fff, y = bits >> 17;
    inside += x * x + y * y < (1u << 30) ? 1 : 0;
  }
  hits[thread] = inside;
}
