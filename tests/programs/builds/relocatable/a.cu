#include <cstdio>
#include "b.h"
#ifndef PTX
#define PTX 75
#endif
__device__ float bias = 0.5f;
__global__ void k(float* o) { o[threadIdx.x] = f(threadIdx.x) + bias; }
typedef float (*fn)(float);
int main() {
  float* o;
  cudaMallocManaged(&o, 128);
  k<<<1, 32>>>(o);
  cudaError_t e = cudaDeviceSynchronize();
  if (e) {
    puts(cudaGetErrorString(e));
    return 1;
  }
  for (int i = 0; i < 32; i++)
    if (o[i] != i * 2.f + 1.5f) {
      printf("wrong %f\n", o[i]);
      return 1;
    }
  // As the program was compiled: a library that chooses its code by it (CUB) has no other.
  cudaFuncAttributes a;
  e = cudaFuncGetAttributes(&a, k);
  if (e || a.ptxVersion != PTX) {
    printf("PTX version %d\n", a.ptxVersion);
    return 1;
  }
  helper(o);
  puts("ok");
}
