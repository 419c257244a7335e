// One Jacobi step on a plane: every inner point becomes the mean of its four neighbours. Once with all loads from
// global memory, once with a tile of 32x8 and its rim in shared memory.

__global__ void jacobi_2d(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[i] = in[i];
  } else {
    out[i] = 0.25f * ((in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width]));
  }
}

#define TILE_X 32
#define TILE_Y 8

__global__ void jacobi_2d_tiled(const float* __restrict__ in, float* __restrict__ out, int width,
                                int height) {
  __shared__ float tile[TILE_Y + 2][TILE_X + 2];
  const int left = blockIdx.x * TILE_X - 1;
  const int top = blockIdx.y * TILE_Y - 1;
  const int t = threadIdx.y * TILE_X + threadIdx.x;
  for (int k = t; k < (TILE_X + 2) * (TILE_Y + 2); k += TILE_X * TILE_Y) {
    const int tx = k % (TILE_X + 2);
    const int ty = k / (TILE_X + 2);
    const int x = min(max(left + tx, 0), width - 1);
    const int y = min(max(top + ty, 0), height - 1);
    tile[ty][tx] = in[y * width + x];
  }
  __syncthreads();
  const int x = left + 1 + threadIdx.x;
  const int y = top + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  float value = tile[ty][tx];
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    value = 0.25f * ((tile[ty][tx - 1] + tile[ty][tx + 1]) + (tile[ty - 1][tx] + tile[ty + 1][tx]));
  }
  out[y * width + x] = value;
}
