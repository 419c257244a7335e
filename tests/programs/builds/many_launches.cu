#include <cstdio>
#include <cstdlib>
__global__ void tiny(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 1.5f + 1;
}
int main(int c, char** v) {
  int k = c > 1 ? atoi(v[1]) : 10000;
  float* d;
  cudaMalloc(&d, 4096);
  cudaMemset(d, 0, 4096);
  for (int i = 0; i < k; i++) tiny<<<4, 128>>>(d, 512);
  if (cudaDeviceSynchronize()) return 1;
  puts("done");
}
