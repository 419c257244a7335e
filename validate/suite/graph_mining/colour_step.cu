// A step of colouring a graph by random priorities: a vertex without a colour that has a larger priority than all such neighbours
// takes the smallest colour that none of its neighbours has. A thread a vertex, colours before and after apart.

__device__ __forceinline__ unsigned priority(unsigned v) {
  v = (v ^ 61u) ^ (v >> 16);
  v *= 9u;
  v ^= v >> 4;
  v *= 0x27d4eb2du;
  return v ^ (v >> 15);
}

__global__ void colour_step(const int* __restrict__ first, const int* __restrict__ to, const int* __restrict__ before,
                            int* __restrict__ after, int* __restrict__ left, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int colour = before[v];
  if (colour < 0) {
    const unsigned mine = priority(v);
    unsigned long long used = 0;
    bool largest = true;
    for (int e = first[v]; e < first[v + 1]; e++) {
      const int u = to[e];
      if (u == v) continue;
      const int other = before[u];
      if (other >= 0) {
        used |= 1ULL << other;
      } else {
        const unsigned its = priority(u);
        if (its > mine || (its == mine && u > v)) {
          largest = false;
          break;
        }
      }
    }
    if (largest) {
      colour = __ffsll(~used) - 1;
    } else {
      atomicAdd(left, 1);
    }
  }
  after[v] = colour;
}
