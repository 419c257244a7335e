// Sums over an array that L2 holds, several times over: each block takes a different piece every time, so that nothing is
// found in L1 and, after the first time, everything in L2. Elements of 32 or of 128 bits.

__device__ float total_of(float x) { return x; }
__device__ float total_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }

template <typename T>
__global__ void resident_sum(const T* __restrict__ data, float* __restrict__ sums, int piece, int times, int step) {
  float sum = 0.0f;
  for (int time = 0; time < times; ++time) {
    const T* mine = data + static_cast<size_t>((blockIdx.x + time * step) % gridDim.x) * piece;
#pragma unroll 4
    for (int i = threadIdx.x; i < piece; i += blockDim.x) sum += total_of(mine[i]);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template __global__ void resident_sum<float>(const float*, float*, int, int, int);
template __global__ void resident_sum<float4>(const float4*, float*, int, int, int);
