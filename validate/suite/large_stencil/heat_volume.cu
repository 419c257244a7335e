// One step in space: seven points, a thread each, and a wave equation's star of 25 points (four on each side along each axis),
// where a block walks along z with nine planes' values in registers and its own plane in shared memory.

__global__ void volume_seven(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz, float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  const int plane = nx * ny;
  const int i = z * plane + y * nx + x;
  const float middle = in[i];
  const float around = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane];
  out[i] = middle + rate * (around - 6.0f * middle);
}

#define REACH 4
#define TILE_X 32
#define TILE_Y 16

/// next = 2 now - before + rate * star(now), written over `before`.
__global__ void __launch_bounds__(TILE_X* TILE_Y)
    wave_star(const float* __restrict__ now, float* __restrict__ before, int nx, int ny, int nz, float rate) {
  constexpr float weight[REACH + 1] = {-2.8472222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};
  __shared__ float tile[TILE_Y + 2 * REACH][TILE_X + 2 * REACH];
  const int left = blockIdx.x * TILE_X, top = blockIdx.y * TILE_Y;
  const int x = left + threadIdx.x + REACH, y = top + threadIdx.y + REACH;
  const int plane = nx * ny;
  const bool inside = x < nx - REACH && y < ny - REACH;
  const int place = min(y, ny - 1) * nx + min(x, nx - 1);
  float line[2 * REACH + 1];
#pragma unroll
  for (int i = 0; i < 2 * REACH; ++i) line[i + 1] = now[i * plane + place];
  for (int z = REACH; z < nz - REACH; ++z) {
#pragma unroll
    for (int i = 0; i < 2 * REACH; ++i) line[i] = line[i + 1];
    line[2 * REACH] = now[(z + REACH) * plane + place];
    __syncthreads();
    for (int at = threadIdx.y * TILE_X + threadIdx.x; at < (TILE_X + 2 * REACH) * (TILE_Y + 2 * REACH);
         at += TILE_X * TILE_Y) {
      const int tx = at % (TILE_X + 2 * REACH), ty = at / (TILE_X + 2 * REACH);
      tile[ty][tx] = now[z * plane + min(top + ty, ny - 1) * nx + min(left + tx, nx - 1)];
    }
    __syncthreads();
    const int tx = threadIdx.x + REACH, ty = threadIdx.y + REACH;
    float star = 3.0f * weight[0] * line[REACH];
#pragma unroll
    for (int r = 1; r <= REACH; ++r) {
      star += weight[r] * (line[REACH - r] + line[REACH + r] + tile[ty][tx - r] + tile[ty][tx + r] + tile[ty - r][tx] +
                           tile[ty + r][tx]);
    }
    if (inside) {
      const int i = z * plane + place;
      before[i] = 2.0f * line[REACH] - before[i] + rate * star;
    }
  }
}
