// A filter of 33 equal weights along rows, and along columns, each through shared memory: four pixels a thread. Rims are zero.

#define REACH 16

__global__ void filter_along_rows(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float line[4][128 + 2 * REACH];
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int left = blockIdx.x * 128 - REACH;
  for (int i = threadIdx.x; i < 128 + 2 * REACH; i += 32) {
    const int x = left + i;
    line[threadIdx.y][i] = x >= 0 && x < width && y < height ? in[static_cast<size_t>(y) * width + x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int at = threadIdx.x + 32 * part;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k <= 2 * REACH; ++k) sum += line[threadIdx.y][at + k];
    const int x = left + REACH + at;
    if (x < width && y < height) out[static_cast<size_t>(y) * width + x] = sum * (1.0f / (2 * REACH + 1));
  }
}

__global__ void filter_along_columns(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[32 + 2 * REACH][32];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int top = blockIdx.y * 32 - REACH;
  for (int i = threadIdx.y; i < 32 + 2 * REACH; i += 8) {
    const int y = top + i;
    tile[i][threadIdx.x] = y >= 0 && y < height && x < width ? in[static_cast<size_t>(y) * width + x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int at = threadIdx.y + 8 * part;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k <= 2 * REACH; ++k) sum += tile[at + k][threadIdx.x];
    const int y = top + REACH + at;
    if (x < width && y < height) out[static_cast<size_t>(y) * width + x] = sum * (1.0f / (2 * REACH + 1));
  }
}
