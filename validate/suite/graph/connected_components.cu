// Connected components by a forest of parents, a thread an edge: union_edges follows both ends to their roots,
// shortening the way as it goes, and hangs the larger root under the smaller by compare-and-swap, as long as nobody
// else did so first. component_roots then gives each vertex its root, the smallest vertex of its component.

__device__ int root_of(volatile int* parent, int vertex) {
  int above = parent[vertex];
  while (above != vertex) {
    const int next = parent[above];
    if (next != above) parent[vertex] = next;
    vertex = above;
    above = next;
  }
  return vertex;
}

__global__ void union_edges(const int* __restrict__ from, const int* __restrict__ to, int* parent,
                            int* joined, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = root_of(parent, from[e]);
  int b = root_of(parent, to[e]);
  while (a != b) {
    const int large = max(a, b), small = min(a, b);
    const int seen = atomicCAS(&parent[large], large, small);
    if (seen == large) {
      atomicAdd(joined, 1);
      break;
    }
    a = root_of(parent, seen);
    b = root_of(parent, small);
  }
}

__global__ void component_roots(const int* __restrict__ parent, int* __restrict__ label, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int root = v;
  while (parent[root] != root) root = parent[root];
  label[v] = root;
}
