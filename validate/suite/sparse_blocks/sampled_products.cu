// Products of a row and a column of dense matrices at the places of a sparse one: a warp a row of it, its dense row kept in shared
// memory, sums over lanes by shuffles.

__global__ void sampled_products(const int* __restrict__ first, const int* __restrict__ column, const float* __restrict__ weight,
                                 const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int rows,
                                 int width) {
  extern __shared__ float kept[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + warp;
  if (row >= rows) return;
  float* mine = kept + warp * width;
  for (int k = lane; k < width; k += 32) mine[k] = a[(size_t)row * width + k];
  __syncwarp();
  for (int i = first[row]; i < first[row + 1]; i++) {
    const float* other = b + (size_t)column[i] * width;
    float sum = 0.0f;
    for (int k = lane; k < width; k += 32) sum += mine[k] * other[k];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) out[i] = weight[i] * sum;
  }
}
