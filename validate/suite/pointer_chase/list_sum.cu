// Sums over linked lists of 16-byte nodes: a node holds a number, where the next node is and two words that are not
// read here. Every thread walks `steps` nodes.

struct Node {
  unsigned next;
  unsigned number;
  unsigned unused[2];
};

__global__ void list_link(const unsigned* __restrict__ next, Node* __restrict__ nodes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) nodes[i] = Node{next[i], (unsigned)i * 2654435761u, {0u, 0u}};
}

__global__ void list_sum(const Node* __restrict__ nodes, const int* __restrict__ heads,
                         unsigned* __restrict__ sums, int lists, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lists) return;
  unsigned at = heads[i];
  unsigned sum = 0;
  for (int s = 0; s < steps; ++s) {
    sum += nodes[at].number;
    at = nodes[at].next;
  }
  sums[i] = sum;
}
