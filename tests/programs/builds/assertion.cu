#include <cassert>
#include <cstdio>
__global__ void k(int n) { assert(threadIdx.x < n && "too many"); }
int main() {
  k<<<1, 64>>>(40);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorName(e));
  return e != cudaErrorAssert;
}
