// The eight nearest of many points with eight coordinates each: a thread a query, points by tiles through shared memory, the list
// in registers, kept in order by insertion; of equal distances the first.
#define K 8

__global__ void nearest_k(const float4* __restrict__ queries, const float4* __restrict__ points, float* __restrict__ distances,
                          int* __restrict__ indices, int query_count, int point_count) {
  __shared__ float4 tile[128][2];
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  float4 a = make_float4(0.0f, 0.0f, 0.0f, 0.0f), b = a;
  if (q < query_count) {
    a = queries[2 * q];
    b = queries[2 * q + 1];
  }
  float best[K];
  int at[K];
#pragma unroll
  for (int k = 0; k < K; k++) {
    best[k] = 3e38f;
    at[k] = -1;
  }
  for (int start = 0; start < point_count; start += 128) {
    const int count = min(128, point_count - start);
    __syncthreads();
    for (int k = threadIdx.x; k < 2 * count; k += blockDim.x) tile[k / 2][k % 2] = points[2 * start + k];
    __syncthreads();
    for (int j = 0; j < count; j++) {
      const float4 c = tile[j][0], d = tile[j][1];
      const float sum = (a.x - c.x) * (a.x - c.x) + (a.y - c.y) * (a.y - c.y) + (a.z - c.z) * (a.z - c.z) +
                        (a.w - c.w) * (a.w - c.w) + (b.x - d.x) * (b.x - d.x) + (b.y - d.y) * (b.y - d.y) +
                        (b.z - d.z) * (b.z - d.z) + (b.w - d.w) * (b.w - d.w);
      if (sum >= best[K - 1]) continue;
      best[K - 1] = sum;
      at[K - 1] = start + j;
#pragma unroll
      for (int k = K - 1; k > 0; k--) {
        if (best[k] < best[k - 1]) {
          const float value = best[k];
          best[k] = best[k - 1];
          best[k - 1] = value;
          const int index = at[k];
          at[k] = at[k - 1];
          at[k - 1] = index;
        }
      }
    }
  }
  if (q >= query_count) return;
#pragma unroll
  for (int k = 0; k < K; k++) {
    distances[k * query_count + q] = best[k];
    indices[k * query_count + q] = at[k];
  }
}
