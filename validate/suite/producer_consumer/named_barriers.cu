// Warps with different jobs: two load tiles of two arrays, six compute the distance of each pair from the
// tile and keep the smallest, and two named barriers a buffer (bar.arrive, bar.sync) hand the two buffers
// to and fro. Every point of `points` looks for its nearest of `centres`.

#define TILE 256
#define LOADERS 64
#define WORKERS 192

__device__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(LOADERS + WORKERS) : "memory");
}

__device__ void wait(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(LOADERS + WORKERS) : "memory");
}

// Barriers 1 and 2: a buffer is full; 3 and 4: a buffer is empty.
__global__ void __launch_bounds__(LOADERS + WORKERS)
    nearest_named_barriers(const float* __restrict__ points_x, const float* __restrict__ points_y,
                           const float* __restrict__ centres_x, const float* __restrict__ centres_y,
                           float* __restrict__ nearest, int points, int centres) {
  __shared__ float tile_x[2][TILE];
  __shared__ float tile_y[2][TILE];
  const int tiles = (centres + TILE - 1) / TILE;
  if (threadIdx.x < LOADERS) {
    for (int tile = 0; tile < tiles; ++tile) {
      const int buffer = tile % 2;
      wait(3 + buffer);
      for (int i = threadIdx.x; i < TILE; i += LOADERS) {
        const int from = min(tile * TILE + i, centres - 1);
        tile_x[buffer][i] = centres_x[from];
        tile_y[buffer][i] = centres_y[from];
      }
      arrive(1 + buffer);
    }
  } else {
    const int point = blockIdx.x * WORKERS + threadIdx.x - LOADERS;
    const float x = point < points ? points_x[point] : 0.0f;
    const float y = point < points ? points_y[point] : 0.0f;
    float smallest = INFINITY;
    arrive(3);
    arrive(4);
    for (int tile = 0; tile < tiles; ++tile) {
      const int buffer = tile % 2;
      wait(1 + buffer);
#pragma unroll 8
      for (int i = 0; i < TILE; ++i) {
        const float dx = tile_x[buffer][i] - x, dy = tile_y[buffer][i] - y;
        smallest = fminf(smallest, dx * dx + dy * dy);
      }
      if (tile + 2 < tiles) arrive(3 + buffer);
    }
    if (point < points) nearest[point] = smallest;
  }
}
