// Steps over large graphs whose edges lead anywhere, stored by node (first[v] to first[v + 1]): one level of a breadth-first
// search, one step of ranks pulled over incoming edges by a thread or by a warp a node, and one relaxation of all edges.

__global__ void search_level(const unsigned* __restrict__ first, const unsigned* __restrict__ to, int* __restrict__ level,
                             int nodes, int current) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || level[v] != current) return;
  for (unsigned e = first[v]; e < first[v + 1]; ++e) {
    if (level[to[e]] > current + 1) level[to[e]] = current + 1;
  }
}

__global__ void rank_by_thread(const unsigned* __restrict__ first, const unsigned* __restrict__ from,
                               const float* __restrict__ given, float* __restrict__ rank, int nodes, float base) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  float sum = 0.0f;
  for (unsigned e = first[v]; e < first[v + 1]; ++e) sum += given[from[e]];
  rank[v] = base + 0.85f * sum;
}

__global__ void rank_by_warp(const unsigned* __restrict__ first, const unsigned* __restrict__ from,
                             const float* __restrict__ given, float* __restrict__ rank, int nodes, float base) {
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (v >= nodes) return;
  float sum = 0.0f;
  for (unsigned e = first[v] + threadIdx.x % 32; e < first[v + 1]; e += 32) sum += given[from[e]];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) rank[v] = base + 0.85f * sum;
}

__global__ void relax_edges(const unsigned* __restrict__ from, const unsigned* __restrict__ to,
                            const unsigned* __restrict__ weight, const unsigned* __restrict__ distance,
                            unsigned* __restrict__ next, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const unsigned around = distance[from[e]] + weight[e];
  const unsigned target = to[e];
  if (around < distance[target]) atomicMin(&next[target], around);
}
