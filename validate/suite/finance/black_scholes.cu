// The price of European options by the closed formula, a call and a put a thread and step of its
// grid-stride loop: logarithm, exponential, square root, quotients and two values of the normal
// distribution.

__device__ float normal(float x) { return 0.5f * erfcf(-0.70710678f * x); }

__global__ void black_scholes(const float* __restrict__ price, const float* __restrict__ strike,
                              const float* __restrict__ years, float* __restrict__ call,
                              float* __restrict__ put, int n, float rate, float volatility) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = price[i], k = strike[i], t = years[i];
    const float spread = volatility * sqrtf(t);
    const float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float d2 = d1 - spread;
    const float discounted = k * expf(-rate * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - s * normal(-d1);
  }
}
