#include <cstdio>
__global__ void child(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) { child<<<1, 32>>>(p); }
int main() {
  int* p;
  cudaMallocManaged(&p, 4);
  *p = 0;
  parent<<<1, 1>>>(p);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s %d\n", cudaGetErrorString(e), *p);
}
