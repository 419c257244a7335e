// A sparse matrix of dense blocks of 16 x 16 times a dense one: a block of threads a row of blocks and 64 columns, each of its 256
// threads four results, both tiles in shared memory.

__global__ void block_rows(const int* __restrict__ first, const int* __restrict__ column, const float* __restrict__ blocks,
                           const float* __restrict__ dense, float* __restrict__ out, int width) {
  __shared__ float left[16][17];
  __shared__ float right[16][64];
  const int row = blockIdx.y;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int from = blockIdx.x * 64;
  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int i = first[row]; i < first[row + 1]; i++) {
    left[ty][tx] = blocks[(size_t)i * 256 + threadIdx.x];
    const float4 four =
        *reinterpret_cast<const float4*>(dense + (size_t)(column[i] * 16 + ty) * width + from + 4 * tx);
    *reinterpret_cast<float4*>(&right[ty][4 * tx]) = four;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const float l = left[ty][k];
      const float4 r = *reinterpret_cast<const float4*>(&right[k][4 * tx]);
      sums[0] += l * r.x;
      sums[1] += l * r.y;
      sums[2] += l * r.z;
      sums[3] += l * r.w;
    }
    __syncthreads();
  }
  *reinterpret_cast<float4*>(out + (size_t)(row * 16 + ty) * width + from + 4 * tx) =
      make_float4(sums[0], sums[1], sums[2], sums[3]);
}
