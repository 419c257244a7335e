// Which experts a token goes to: a warp a token, probabilities of 64 experts, the largest k one after another; then how many
// tokens each expert has, and the place of each expert's first.

__global__ void expert_choose(const float* __restrict__ logits, int* __restrict__ chosen, float* __restrict__ weights,
                              int tokens, int k) {
  const int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (token >= tokens) return;
  float a = logits[token * 64 + lane], b = logits[token * 64 + 32 + lane];
  float most = fmaxf(a, b);
  for (int mask = 16; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
  float sum = expf(a - most) + expf(b - most);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  for (int pick = 0; pick < k; pick++) {
    float best = b > a ? b : a;
    int expert = b > a ? lane + 32 : lane;
    for (int mask = 16; mask > 0; mask /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, best, mask);
      const int other_expert = __shfl_xor_sync(0xffffffffu, expert, mask);
      if (other > best || (other == best && other_expert < expert)) {
        best = other;
        expert = other_expert;
      }
    }
    if (lane == 0) {
      chosen[token * k + pick] = expert;
      weights[token * k + pick] = expf(best - most) / sum;
    }
    if (expert == lane) a = -INFINITY;
    if (expert == lane + 32) b = -INFINITY;
  }
}

__global__ void expert_counts(const int* __restrict__ chosen, int* __restrict__ first, int n) {
  __shared__ int counts[64];
  __shared__ int starts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[chosen[i]], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int e = 0; e < 64; e++) {
      starts[e] = sum;
      sum += (counts[e] + 15) / 16 * 16;
    }
    first[64] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 64) first[threadIdx.x] = starts[threadIdx.x];
}
