// Samples of a cloud of points, each the farthest from those before it: a block a cloud, squared distances to the nearest sample in
// global memory, the largest by a tree in shared memory. Coordinates are whole numbers; of equal distances the first point.

__global__ void farthest_points(const int* __restrict__ points, float* __restrict__ nearest, int* __restrict__ samples, int n,
                                int m) {
  __shared__ float best[512];
  __shared__ int best_at[512];
  const int* cloud = points + (size_t)blockIdx.x * n * 3;
  float* near_to = nearest + (size_t)blockIdx.x * n;
  int* out = samples + blockIdx.x * m;
  const int tid = threadIdx.x;
  int last = 0;
  if (tid == 0) out[0] = 0;
  for (int j = 1; j < m; j++) {
    const float x1 = cloud[last * 3], y1 = cloud[last * 3 + 1], z1 = cloud[last * 3 + 2];
    float most = -1.0f;
    int at = 0;
    for (int k = tid; k < n; k += blockDim.x) {
      const float x = cloud[k * 3] - x1, y = cloud[k * 3 + 1] - y1, z = cloud[k * 3 + 2] - z1;
      const float d = fminf(x * x + y * y + z * z, near_to[k]);
      near_to[k] = d;
      if (d > most) {
        most = d;
        at = k;
      }
    }
    best[tid] = most;
    best_at[tid] = at;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
      if (tid < half) {
        const float other = best[tid + half];
        const int other_at = best_at[tid + half];
        if (other > best[tid] || (other == best[tid] && other_at < best_at[tid])) {
          best[tid] = other;
          best_at[tid] = other_at;
        }
      }
      __syncthreads();
    }
    last = best_at[0];
    if (tid == 0) out[j] = last;
    __syncthreads();
  }
}
