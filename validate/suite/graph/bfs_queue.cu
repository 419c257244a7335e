// One level of a breadth-first search from a queue: a thread takes a vertex of the frontier, claims neighbours without a
// level by compare-and-swap, and appends those that it got to the next queue. The queue's order is the hardware's; its
// length and the levels are not.

__global__ void bfs_queue(const int* __restrict__ edge_start, const int* __restrict__ neighbour,
                          const int* __restrict__ frontier, int* __restrict__ level,
                          int* __restrict__ next_frontier, int* __restrict__ next_length, int length,
                          int next_level) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= length) return;
  const int v = frontier[q];
  const int end = edge_start[v + 1];
  for (int e = edge_start[v]; e < end; ++e) {
    const int to = neighbour[e];
    if (level[to] < 0 && atomicCAS(&level[to], -1, next_level) == -1) {
      next_frontier[atomicAdd(next_length, 1)] = to;
    }
  }
}
