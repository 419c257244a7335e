// One iteration of PageRank by pulling: a warp a vertex adds what its predecessors give, each its rank over its number of
// outgoing edges.

__global__ void page_rank(const int* __restrict__ edge_start, const int* __restrict__ predecessor,
                          const float* __restrict__ rank, const int* __restrict__ out_degree,
                          float* __restrict__ new_rank, int vertices, float damping) {
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (v >= vertices) return;
  float sum = 0.0f;
  for (int e = edge_start[v] + lane; e < edge_start[v + 1]; e += 32) {
    const int from = predecessor[e];
    sum += rank[from] / (float)out_degree[from];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) new_rank[v] = (1.0f - damping) / (float)vertices + damping * sum;
}
