// One step of the heat equation in space, seven points. heat_3d gives a thread a point; heat_3d_march gives it a column
// that it walks along z with the planes below and above in registers and its own plane in shared memory.

__global__ void heat_3d(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz,
                        float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  const int plane = nx * ny;
  const int i = z * plane + y * nx + x;
  const float centre = in[i];
  const float around = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane];
  out[i] = centre + rate * (around - 6.0f * centre);
}

#define TILE_X 32
#define TILE_Y 8

__global__ void heat_3d_march(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz,
                              float rate) {
  __shared__ float tile[TILE_Y + 2][TILE_X + 2];
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  const int x = blockIdx.x * TILE_X + threadIdx.x;
  const int y = blockIdx.y * TILE_Y + threadIdx.y;
  const bool loads = x < nx && y < ny;
  const bool inside = x >= 1 && y >= 1 && x < nx - 1 && y < ny - 1;
  const int plane = nx * ny;
  int i = y * nx + x;
  float below = 0.0f;
  float centre = loads ? in[i] : 0.0f;
  float above = loads ? in[i + plane] : 0.0f;
  for (int z = 1; z < nz - 1; ++z) {
    i += plane;
    below = centre;
    centre = above;
    above = loads ? in[i + plane] : 0.0f;
    __syncthreads();
    tile[ty][tx] = centre;
    if (threadIdx.x == 0 && x > 0 && loads) tile[ty][0] = in[i - 1];
    if (threadIdx.x == TILE_X - 1 && x + 1 < nx && loads) tile[ty][TILE_X + 1] = in[i + 1];
    if (threadIdx.y == 0 && y > 0 && loads) tile[0][tx] = in[i - nx];
    if (threadIdx.y == TILE_Y - 1 && y + 1 < ny && loads) tile[TILE_Y + 1][tx] = in[i + nx];
    __syncthreads();
    if (inside) {
      const float around =
          tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + below + above;
      out[i] = centre + rate * (around - 6.0f * centre);
    }
  }
}
