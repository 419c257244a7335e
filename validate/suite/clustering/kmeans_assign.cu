// The step of k-means that assigns each point to its nearest centre. Points are stored coordinate by coordinate, so that
// a warp's loads are coalesced; the centres are in shared memory, the same one in all lanes. A second kernel adds up the
// points of each cluster, as the next step needs it, with shared and then global atomics on counts.

template <int DIMENSIONS>
__global__ void kmeans_assign(const float* __restrict__ points, const float* __restrict__ centres,
                              int* __restrict__ cluster, int n, int k) {
  extern __shared__ float shared_centres[];
  for (int i = threadIdx.x; i < k * DIMENSIONS; i += blockDim.x) shared_centres[i] = centres[i];
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  float point[DIMENSIONS];
#pragma unroll
  for (int d = 0; d < DIMENSIONS; ++d) point[d] = points[(size_t)d * n + p];
  float nearest = 3.0e38f;
  int best = 0;
  for (int c = 0; c < k; ++c) {
    float distance = 0.0f;
#pragma unroll
    for (int d = 0; d < DIMENSIONS; ++d) {
      const float away = point[d] - shared_centres[c * DIMENSIONS + d];
      distance = fmaf(away, away, distance);
    }
    if (distance < nearest) {
      nearest = distance;
      best = c;
    }
  }
  cluster[p] = best;
}

__global__ void kmeans_count(const int* __restrict__ cluster, int* __restrict__ sizes, int n, int k) {
  extern __shared__ int mine[];
  for (int c = threadIdx.x; c < k; c += blockDim.x) mine[c] = 0;
  __syncthreads();
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    atomicAdd(&mine[cluster[p]], 1);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < k; c += blockDim.x) atomicAdd(&sizes[c], mine[c]);
}
