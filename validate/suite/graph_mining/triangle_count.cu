// Common neighbours of the ends of every edge. Lists of neighbours are sorted first, a thread a list by insertion; then a thread an
// edge merges two of them, sums by block.

__global__ void sort_lists(const int* __restrict__ first, int* __restrict__ to, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  const int begin = first[v], end = first[v + 1];
  for (int i = begin + 1; i < end; i++) {
    const int key = to[i];
    int j = i - 1;
    while (j >= begin && to[j] > key) {
      to[j + 1] = to[j];
      j--;
    }
    to[j + 1] = key;
  }
}

__global__ void triangle_count(const int* __restrict__ first, const int* __restrict__ to, const int* __restrict__ edge_a,
                               const int* __restrict__ edge_b, int* __restrict__ common, unsigned long long* __restrict__ total,
                               int edges) {
  __shared__ int block_sum;
  if (threadIdx.x == 0) block_sum = 0;
  __syncthreads();
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  int count = 0;
  if (e < edges) {
    int i = first[edge_a[e]], j = first[edge_b[e]];
    const int i_end = first[edge_a[e] + 1], j_end = first[edge_b[e] + 1];
    while (i < i_end && j < j_end) {
      const int a = to[i], b = to[j];
      if (a == b) count++;
      if (a <= b) i++;
      if (b <= a) j++;
    }
    common[e] = count;
  }
  for (int offset = 16; offset > 0; offset /= 2) count += __shfl_down_sync(0xffffffffu, count, offset);
  if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(&block_sum, count);
  __syncthreads();
  if (threadIdx.x == 0 && block_sum > 0) atomicAdd(total, (unsigned long long)block_sum);
}
