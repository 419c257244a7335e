// All shortest paths. floyd_step is one step of the plain method, through one intermediate vertex, over the
// whole matrix in memory; floyd_block does all steps of a graph of 64 vertices in the shared memory of a
// block, one graph a block.

__global__ void floyd_step(int* __restrict__ distance, int n, int via) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x;
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  if (to >= n || from >= n) return;
  const int around = distance[from * n + via] + distance[via * n + to];
  if (around < distance[from * n + to]) distance[from * n + to] = around;
}

#define VERTICES 64

__global__ void __launch_bounds__(256)
    floyd_block(const int* __restrict__ graphs, int* __restrict__ distances) {
  __shared__ int d[VERTICES][VERTICES];
  const size_t base = static_cast<size_t>(blockIdx.x) * VERTICES * VERTICES;
  for (int i = threadIdx.x; i < VERTICES * VERTICES; i += 256)
    d[i / VERTICES][i % VERTICES] = graphs[base + i];
  __syncthreads();
  const int to = threadIdx.x % VERTICES;
  const int first = threadIdx.x / VERTICES;
  for (int via = 0; via < VERTICES; ++via) {
    const int rest = d[via][to];
#pragma unroll 4
    for (int from = first; from < VERTICES; from += 256 / VERTICES) {
      const int around = d[from][via] + rest;
      if (around < d[from][to]) d[from][to] = around;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < VERTICES * VERTICES; i += 256)
    distances[base + i] = d[i / VERTICES][i % VERTICES];
}
