// Attention in separate steps through memory, head by head (blockIdx.z): scores of all queries with all keys, and the sum of
// values weighted by given weights. Tiles of 16 x 16 in shared memory; heads are 64 wide, lengths multiples of 16.

#define WIDTH 64

__global__ void head_scores(const float* __restrict__ queries, const float* __restrict__ keys,
                                 float* __restrict__ scores, int length, float scale) {
  __shared__ float q[16][WIDTH + 1], k[16][WIDTH + 1];
  const size_t head = blockIdx.z;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int at = threadIdx.y * 16 + threadIdx.x; at < 16 * WIDTH; at += 256) {
    q[at / WIDTH][at % WIDTH] = queries[(head * length + row + at / WIDTH) * WIDTH + at % WIDTH];
    k[at / WIDTH][at % WIDTH] = keys[(head * length + column + at / WIDTH) * WIDTH + at % WIDTH];
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) sum += q[threadIdx.y][i] * k[threadIdx.x][i];
  scores[(head * length + row + threadIdx.y) * length + column + threadIdx.x] = sum * scale;
}

/// Blocks of 64 x 4 threads: a thread has one column of four rows' results.
__global__ void head_values(const float* __restrict__ weights, const float* __restrict__ values,
                                 float* __restrict__ out, int length) {
  __shared__ float w[16][17], v[16][WIDTH];
  const size_t head = blockIdx.z;
  const int row = blockIdx.x * 16;
  const int thread = threadIdx.y * WIDTH + threadIdx.x;
  float sum[4] = {};
  for (int first = 0; first < length; first += 16) {
    __syncthreads();
    w[thread / 16][thread % 16] = weights[(head * length + row + thread / 16) * length + first + thread % 16];
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
      v[threadIdx.y + i][threadIdx.x] = values[(head * length + first + threadIdx.y + i) * WIDTH + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float value = v[k][threadIdx.x];
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += w[threadIdx.y * 4 + i][k] * value;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) out[(head * length + row + threadIdx.y * 4 + i) * WIDTH + threadIdx.x] = sum[i];
}
