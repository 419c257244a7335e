// The sum of each row of a matrix, by rows: once a warp a row, once a block a row.

__global__ void row_sums_warp(const float* __restrict__ in, float* __restrict__ sums, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* line = in + (size_t)row * columns;
  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum += line[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) sums[row] = sum;
}

__global__ void row_sums_block(const float* __restrict__ in, float* __restrict__ sums, int columns) {
  __shared__ float values[32];
  const float* line = in + (size_t)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += line[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? values[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}
