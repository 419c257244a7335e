// All shortest paths of many small graphs (Floyd and Warshall), a block a graph: the matrix of distances stays in global memory
// and every step reads what the step before wrote. Blocks are 32 wide; threadIdx.y takes rows in turn.

__global__ void closure_in_place(int* __restrict__ graphs, int nodes) {
  int* distance = graphs + static_cast<size_t>(blockIdx.x) * nodes * nodes;
  for (int k = 0; k < nodes; ++k) {
    for (int i = threadIdx.y; i < nodes; i += blockDim.y) {
      const int to_k = distance[i * nodes + k];
      for (int j = threadIdx.x; j < nodes; j += 32) {
        const int around = to_k + distance[k * nodes + j];
        if (around < distance[i * nodes + j]) distance[i * nodes + j] = around;
      }
    }
    __syncthreads();
  }
}
