#include "b.h"
__device__ __noinline__ float f(float x) { return 2 * x + 1; }
__device__ float (*table[2])(float) = {f, f};
__global__ void h(float* o) { o[threadIdx.x] = table[threadIdx.x & 1](bias); }
void helper(float* o) {
  h<<<1, 32>>>(o);
  cudaDeviceSynchronize();
}
