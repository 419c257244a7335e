// The price of an American put on a binomial tree, an option a block: the values at the leaves in shared
// memory, then level by level back to the root with two barriers a level and fewer busy threads every time.

#define LEVELS 255

__global__ void __launch_bounds__(LEVELS + 1)
    binomial_option(const float* __restrict__ price, const float* __restrict__ strike,
                    float* __restrict__ value, float years, float rate, float volatility) {
  __shared__ float tree[LEVELS + 1];
  const int i = threadIdx.x;
  const float s = price[blockIdx.x], k = strike[blockIdx.x];
  const float dt = years / LEVELS;
  const float step = volatility * sqrtf(dt);
  const float up = expf(step);
  const float discount = expf(-rate * dt);
  const float chance = (1.0f / discount - 1.0f / up) / (up - 1.0f / up);
  const float if_up = discount * chance, if_down = discount * (1.0f - chance);
  tree[i] = fmaxf(k - s * expf(step * (2 * i - LEVELS)), 0.0f);
  __syncthreads();
  for (int level = LEVELS - 1; level >= 0; --level) {
    float held = 0.0f;
    if (i <= level) {
      const float wait = if_up * tree[i + 1] + if_down * tree[i];
      held = fmaxf(wait, k - s * __expf(step * (2 * i - level)));
    }
    __syncthreads();
    if (i <= level) tree[i] = held;
    __syncthreads();
  }
  if (i == 0) value[blockIdx.x] = tree[0];
}
