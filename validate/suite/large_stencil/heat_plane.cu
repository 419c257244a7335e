// One step of the heat equation on a plane: five points straight from memory, and nine points (each neighbour with a weight)
// through a shared tile with a rim. The plane's own rim stays as it is in `out`.

__global__ void plane_five(const float* __restrict__ in, float* __restrict__ out, int width, int height, float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const size_t i = static_cast<size_t>(y) * width + x;
  const float middle = in[i];
  out[i] = middle + rate * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4.0f * middle);
}

#define TILE_X 32
#define TILE_Y 8

__global__ void plane_nine(const float* __restrict__ in, float* __restrict__ out, int width, int height, float near,
                           float far) {
  __shared__ float tile[TILE_Y + 2][TILE_X + 2];
  const int left = blockIdx.x * TILE_X - 1, top = blockIdx.y * TILE_Y - 1;
  for (int at = threadIdx.y * TILE_X + threadIdx.x; at < (TILE_X + 2) * (TILE_Y + 2); at += TILE_X * TILE_Y) {
    const int tx = at % (TILE_X + 2), ty = at / (TILE_X + 2);
    const int x = min(max(left + tx, 0), width - 1), y = min(max(top + ty, 0), height - 1);
    tile[ty][tx] = in[static_cast<size_t>(y) * width + x];
  }
  __syncthreads();
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = left + tx, y = top + ty;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const float sides = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
  const float corners = tile[ty - 1][tx - 1] + tile[ty - 1][tx + 1] + tile[ty + 1][tx - 1] + tile[ty + 1][tx + 1];
  const float middle = tile[ty][tx];
  out[static_cast<size_t>(y) * width + x] =
      middle + near * (sides - 4.0f * middle) + far * (corners - 4.0f * middle);
}
