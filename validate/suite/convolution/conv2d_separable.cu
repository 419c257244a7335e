// A 17-tap blur along the rows and one along the columns, each from shared memory. A thread of the row pass
// makes four pixels of a row, 16 apart; one of the column pass eight pixels of a column, 8 apart. Outside
// the image there are zeros.

#define RADIUS 8

// A triangle: 1 2 ... 9 ... 2 1 over 81.
__constant__ float triangle[17] = {1 / 81.f, 2 / 81.f, 3 / 81.f, 4 / 81.f, 5 / 81.f, 6 / 81.f,
                                   7 / 81.f, 8 / 81.f, 9 / 81.f, 8 / 81.f, 7 / 81.f, 6 / 81.f,
                                   5 / 81.f, 4 / 81.f, 3 / 81.f, 2 / 81.f, 1 / 81.f};

// Blocks of 16 x 8 threads for 64 x 8 pixels.
__global__ void convolve_rows(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[8][64 + 2 * RADIUS];
  const int first = blockIdx.x * 64;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (y < height) {
    for (int i = threadIdx.x; i < 64 + 2 * RADIUS; i += 16) {
      const int x = first + i - RADIUS;
      tile[threadIdx.y][i] = x >= 0 && x < width ? in[y * width + x] : 0.0f;
    }
  }
  __syncthreads();
  if (y >= height) return;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int i = part * 16 + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int tap = 0; tap <= 2 * RADIUS; ++tap) sum += triangle[tap] * tile[threadIdx.y][i + tap];
    if (first + i < width) out[y * width + first + i] = sum;
  }
}

// Blocks of 16 x 8 threads for 16 x 64 pixels.
__global__ void convolve_columns(const float* __restrict__ in, float* __restrict__ out, int width,
                                 int height) {
  __shared__ float tile[16][64 + 2 * RADIUS + 1];
  const int first = blockIdx.y * 64;
  const int x = blockIdx.x * 16 + threadIdx.x;
  if (x < width) {
    for (int i = threadIdx.y; i < 64 + 2 * RADIUS; i += 8) {
      const int y = first + i - RADIUS;
      tile[threadIdx.x][i] = y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
  }
  __syncthreads();
  if (x >= width) return;
#pragma unroll
  for (int part = 0; part < 8; ++part) {
    const int i = part * 8 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll
    for (int tap = 0; tap <= 2 * RADIUS; ++tap) sum += triangle[tap] * tile[threadIdx.x][i + tap];
    if (first + i < height) out[(first + i) * width + x] = sum;
  }
}
