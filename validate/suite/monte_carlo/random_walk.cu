// The value at the end of a random path, as in pricing an option: each step draws a normally distributed number by Box and
// Muller (logarithm, square root, sine and cosine) and multiplies by an exponential. A thread a path.

__device__ unsigned next_random(unsigned& state) {
  state = state * 747796405u + 2891336453u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return word >> 22 ^ word;
}

__global__ void random_walk(float* __restrict__ value, int paths, int steps, float drift, float deviation) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  unsigned state = (unsigned)path * 2u + 1u;
  float price = 1.0f;
  for (int s = 0; s < steps; ++s) {
    const float u = ((float)(next_random(state) >> 8) + 0.5f) * (1.0f / 16777216.0f);
    const float v = (float)(next_random(state) >> 8) * (1.0f / 16777216.0f);
    const float radius = sqrtf(-2.0f * logf(u));
    float sine, cosine;
    sincospif(2.0f * v, &sine, &cosine);
    price *= expf(drift + deviation * radius * cosine);
    price *= expf(drift + deviation * radius * sine);
  }
  value[path] = price;
}
