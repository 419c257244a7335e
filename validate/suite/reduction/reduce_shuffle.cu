// Sum of an array by a grid that fits the chip: every thread walks the array in strides of the grid, four floats at a
// time, its warp adds by shuffles, and one atomic a block adds to the result.

__inline__ __device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void reduce_shuffle(const float4* __restrict__ in, float* __restrict__ total, int quads) {
  __shared__ float warp_sums[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  sum = warp_sum(sum);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0.0f;
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(total, sum);
  }
}
