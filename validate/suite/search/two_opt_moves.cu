// The best exchange of two edges of a tour: a thread an edge against all later ones, whose ends come by tiles through shared
// memory; distances rounded to whole numbers; the block's best and then the whole's by an atomic minimum.
#define TILE 128

__device__ __forceinline__ int apart(float2 a, float2 b) {
  const float x = a.x - b.x, y = a.y - b.y;
  return (int)(sqrtf(x * x + y * y) + 0.5f);
}

__global__ void two_opt_moves(const short2* __restrict__ tour, unsigned long long* __restrict__ best, int n) {
  __shared__ float2 cities[TILE + 1];
  __shared__ unsigned long long least[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  float2 from = make_float2(0.0f, 0.0f), to = from;
  int own = 0;
  if (i < n - 1) {
    from = make_float2(tour[i].x, tour[i].y);
    to = make_float2(tour[i + 1].x, tour[i + 1].y);
    own = apart(from, to);
  }
  unsigned long long mine = ~0ULL;
  for (int start = blockIdx.x * TILE; start < n - 1; start += TILE) {
    __syncthreads();
    const int count = min(TILE, n - 1 - start);
    for (int k = threadIdx.x; k <= count; k += TILE) cities[k] = make_float2(tour[start + k].x, tour[start + k].y);
    __syncthreads();
    if (i < n - 1) {
      for (int k = max(0, i + 2 - start); k < count; k++) {
        const int change = apart(from, cities[k]) + apart(to, cities[k + 1]) - own - apart(cities[k], cities[k + 1]);
        const unsigned long long key =
            (unsigned long long)(unsigned)(change + (1 << 20)) << 32 | (unsigned)(i << 16) | (unsigned)(start + k);
        if (key < mine) mine = key;
      }
    }
  }
  least[threadIdx.x] = mine;
  for (int half = TILE / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && least[threadIdx.x + half] < least[threadIdx.x]) least[threadIdx.x] = least[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicMin(best, least[0]);
}
