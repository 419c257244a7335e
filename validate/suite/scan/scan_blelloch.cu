// Exclusive scan of pieces of two elements a thread, as Blelloch does it: sums up a tree in shared memory, then
// prefixes down again. With PAD a word is left out after every 32, which takes away the bank conflicts of the strides
// that double.

#define BLOCK 256

template <bool PAD>
__device__ int place(int i) {
  return PAD ? i + i / 32 : i;
}

template <bool PAD>
__global__ void scan_blelloch(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ totals,
                              int n) {
  __shared__ int values[2 * BLOCK + (PAD ? 2 * BLOCK / 32 : 0)];
  const int t = threadIdx.x;
  const int first = blockIdx.x * 2 * BLOCK;
  values[place<PAD>(t)] = first + t < n ? in[first + t] : 0;
  values[place<PAD>(t + BLOCK)] = first + t + BLOCK < n ? in[first + t + BLOCK] : 0;
  int offset = 1;
  for (int half = BLOCK; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      const int a = place<PAD>(offset * (2 * t + 1) - 1);
      const int b = place<PAD>(offset * (2 * t + 2) - 1);
      values[b] += values[a];
    }
    offset *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = values[place<PAD>(2 * BLOCK - 1)];
    values[place<PAD>(2 * BLOCK - 1)] = 0;
  }
  for (int half = 1; half <= BLOCK; half *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < half) {
      const int a = place<PAD>(offset * (2 * t + 1) - 1);
      const int b = place<PAD>(offset * (2 * t + 2) - 1);
      const int left = values[a];
      values[a] = values[b];
      values[b] += left;
    }
  }
  __syncthreads();
  if (first + t < n) out[first + t] = values[place<PAD>(t)];
  if (first + t + BLOCK < n) out[first + t + BLOCK] = values[place<PAD>(t + BLOCK)];
}
