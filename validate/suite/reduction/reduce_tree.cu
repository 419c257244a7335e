// Sum of an array in two stages: every block adds a piece in shared memory by a binary tree, and a single block adds
// the blocks' sums. Half of the threads still at work drop out at every level, warps as a whole.

#define BLOCK 256

__global__ void reduce_tree(const float* __restrict__ in, float* __restrict__ partial, int n) {
  __shared__ float values[BLOCK];
  const int t = threadIdx.x;
  const int i = blockIdx.x * (BLOCK * 2) + t;
  float sum = i < n ? in[i] : 0.0f;
  if (i + BLOCK < n) sum += in[i + BLOCK];
  values[t] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (t < half) values[t] += values[t + half];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = values[0];
}

__global__ void reduce_partials(const float* __restrict__ partial, float* __restrict__ total, int n) {
  __shared__ float values[BLOCK];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < n; i += BLOCK) sum += partial[i];
  values[t] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (t < half) values[t] += values[t + half];
    __syncthreads();
  }
  if (t == 0) *total = values[0];
}
