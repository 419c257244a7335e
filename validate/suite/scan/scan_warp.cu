// Inclusive scan of a whole array in three launches: pieces of four elements a thread by shuffles, the pieces' totals
// by the same kernel in one block, and the totals before each piece added to it.

__global__ void scan_warp(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ totals,
                          int n) {
  __shared__ int warp_totals[32];
  const int t = threadIdx.x;
  const int lane = t % 32;
  const int warp = t / 32;
  const int first = (blockIdx.x * blockDim.x + t) * 4;
  int v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = first + k < n ? in[first + k] : 0;
  v[1] += v[0];
  v[2] += v[1];
  v[3] += v[2];
  int sum = v[3];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) warp_totals[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int total = lane < blockDim.x / 32 ? warp_totals[lane] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total += before;
    }
    warp_totals[lane] = total;
  }
  __syncthreads();
  const int before = sum - v[3] + (warp > 0 ? warp_totals[warp - 1] : 0);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (first + k < n) out[first + k] = before + v[k];
  }
  if (t == blockDim.x - 1) totals[blockIdx.x] = before + v[3];
}

__global__ void scan_add_totals(int* __restrict__ out, const int* __restrict__ scanned_totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int piece = i / (int)blockDim.x / 4;
  if (i < n && piece > 0) out[i] += scanned_totals[piece - 1];
}
