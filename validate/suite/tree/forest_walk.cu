// A forest of decision trees: each thread takes a sample down every tree, from the root at 0 to a leaf, left or right by
// whether one of the sample's features is below the node's threshold, and adds the leaves' votes. A tree is complete: the
// children of node i are 2 i + 1 and 2 i + 2.

struct Split {
  int feature;
  float threshold;
};

__global__ void forest_split(const int* __restrict__ feature, const float* __restrict__ threshold,
                             Split* __restrict__ nodes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) nodes[i] = Split{feature[i], threshold[i]};
}

__global__ void forest_walk(const Split* __restrict__ nodes, const int* __restrict__ votes,
                            const float* __restrict__ samples, int* __restrict__ score, int count, int trees,
                            int depth) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= count) return;
  const int inner = (1 << depth) - 1;
  int sum = 0;
  for (int t = 0; t < trees; ++t) {
    const Split* tree = nodes + (size_t)t * inner;
    int at = 0;
    for (int d = 0; d < depth; ++d) {
      const Split split = tree[at];
      const float value = samples[(size_t)split.feature * count + s];
      at = 2 * at + (value < split.threshold ? 1 : 2);
    }
    sum += votes[(size_t)t * (inner + 1) + (at - inner)];
  }
  score[s] = sum;
}
