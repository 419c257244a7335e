// The same 5x5 filter with the block's pixels and their border staged in shared memory first: a tile of 36
// x 12 for 32 x 8 threads, loaded in two strided passes whose second is mostly masked off. Outside the
// image there are zeros.

#define RADIUS 2
#define SIDE (2 * RADIUS + 1)
#define BLOCK_X 32
#define BLOCK_Y 8

__global__ void conv2d_tile(const float* __restrict__ in, const float* __restrict__ filter,
                            float* __restrict__ out, int width, int height) {
  __shared__ float tile[BLOCK_Y + 2 * RADIUS][BLOCK_X + 2 * RADIUS];
  __shared__ float weights[SIDE * SIDE];
  const int first_x = blockIdx.x * BLOCK_X - RADIUS;
  const int first_y = blockIdx.y * BLOCK_Y - RADIUS;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  if (thread < SIDE * SIDE) weights[thread] = filter[thread];
  for (int ty = threadIdx.y; ty < BLOCK_Y + 2 * RADIUS; ty += BLOCK_Y) {
    for (int tx = threadIdx.x; tx < BLOCK_X + 2 * RADIUS; tx += BLOCK_X) {
      const int x = first_x + tx;
      const int y = first_y + ty;
      tile[ty][tx] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
  }
  __syncthreads();
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy < SIDE; ++dy) {
#pragma unroll
    for (int dx = 0; dx < SIDE; ++dx)
      sum += weights[dy * SIDE + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
  }
  out[y * width + x] = sum;
}
