// Softmax along the rows of a matrix, safe against overflow: the maximum first, then the sum of the
// exponentials, then the quotients. softmax_block gives a row to a block and reads it three times;
// softmax_warp gives a row to a warp, which keeps it in registers.

__device__ float block_max(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int w = 1; w < blockDim.x / 32; ++w) value = fmaxf(value, shared[w]);
  __syncthreads();
  return value;
}

__device__ float block_sum(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int w = 1; w < blockDim.x / 32; ++w) value += shared[w];
  __syncthreads();
  return value;
}

__global__ void softmax_block(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ float shared[32];
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = block_max(largest, shared);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
  const float scale = 1.0f / block_sum(sum, shared);
  float* result = out + static_cast<size_t>(blockIdx.x) * columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) result[i] = expf(row[i] - largest) * scale;
}

template <int COLUMNS>
__global__ void softmax_warp(const float* __restrict__ in, float* __restrict__ out, int rows) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const float* from = in + static_cast<size_t>(row) * COLUMNS;
  float value[COLUMNS / 32];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < COLUMNS / 32; ++i) {
    value[i] = from[i * 32 + lane];
    largest = fmaxf(largest, value[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < COLUMNS / 32; ++i) {
    value[i] = expf(value[i] - largest);
    sum += value[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = 1.0f / sum;
#pragma unroll
  for (int i = 0; i < COLUMNS / 32; ++i)
    out[static_cast<size_t>(row) * COLUMNS + i * 32 + lane] = value[i] * scale;
}
