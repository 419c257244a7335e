// A step of label propagation: a warp a vertex finds the label that most of its neighbours have, of equals the smallest; labels are
// few, and counted in shared memory.
#define LABELS 64

__global__ void label_votes(const int* __restrict__ first, const int* __restrict__ to, const int* __restrict__ label,
                            int* __restrict__ next, int vertices) {
  __shared__ int counts[8][LABELS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int v = blockIdx.x * 8 + warp; v < vertices; v += gridDim.x * 8) {
    counts[warp][lane] = 0;
    counts[warp][lane + 32] = 0;
    __syncwarp();
    for (int e = first[v] + lane; e < first[v + 1]; e += 32) atomicAdd(&counts[warp][label[to[e]]], 1);
    __syncwarp();
    const int low = counts[warp][lane], high = counts[warp][lane + 32];
    int key = max(low * LABELS + LABELS - 1 - lane, high * LABELS + LABELS - 1 - (lane + 32));
    for (int offset = 16; offset > 0; offset /= 2) key = max(key, __shfl_xor_sync(0xffffffffu, key, offset));
    if (lane == 0) next[v] = LABELS - 1 - key % LABELS;
    __syncwarp();
  }
}
