// Blocks of a table that L2 holds, read in random order by all warps: a warp adds up 32 elements side by side of 32 or 128 bits
// for each index of its list.

__device__ float lengthened(float sum, float x) { return sum + x; }
__device__ float lengthened(float sum, float4 x) { return sum + fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)); }

template <typename T>
__global__ void resident_blocks(const T* __restrict__ table, const unsigned* __restrict__ places,
                                float* __restrict__ sums, int reads) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  const unsigned* list = places + static_cast<size_t>(warp) * reads;
  float sum = 0.0f;
#pragma unroll 4
  for (int i = 0; i < reads; ++i) sum = lengthened(sum, table[static_cast<size_t>(list[i]) * 32 + lane]);
  sums[thread] = sum;
}

template __global__ void resident_blocks<float>(const float*, const unsigned*, float*, int);
template __global__ void resident_blocks<float4>(const float4*, const unsigned*, float*, int);
