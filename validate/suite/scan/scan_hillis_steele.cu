// Inclusive scan of pieces of one block each, as Hillis and Steele do it: log2(n) rounds over the whole piece, each
// adding the element 2^k places before, between two buffers in shared memory.

template <int BLOCK>
__global__ void scan_hillis_steele(const int* __restrict__ in, int* __restrict__ out, int n) {
  __shared__ int values[2][BLOCK];
  const int t = threadIdx.x;
  const int i = blockIdx.x * BLOCK + t;
  int from = 0;
  values[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < BLOCK; offset *= 2) {
    values[1 - from][t] = values[from][t] + (t >= offset ? values[from][t - offset] : 0);
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = values[from][t];
}
