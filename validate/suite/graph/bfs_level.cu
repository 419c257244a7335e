// One level of a breadth-first search: a thread a vertex; those on the frontier give every neighbour that has no level
// yet the next one. Several may write the same place: they write the same number.

__global__ void bfs_level(const int* __restrict__ edge_start, const int* __restrict__ neighbour,
                          int* __restrict__ level, int* __restrict__ changed, int vertices, int current) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != current) return;
  for (int e = edge_start[v]; e < edge_start[v + 1]; ++e) {
    const int to = neighbour[e];
    if (level[to] < 0) {
      level[to] = current + 1;
      *changed = 1;
    }
  }
}
