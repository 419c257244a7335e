#include <cuda_runtime.h>
#include <cstdio>
__global__ void k(cudaTextureObject_t t, float* o) { o[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
int main() {
  float *d, *o;
  cudaMallocManaged(&d, 128);
  cudaMallocManaged(&o, 128);
  for (int i = 0; i < 32; i++) d[i] = i;
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = d;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = 128;
  cudaTextureDesc td{};
  cudaTextureObject_t t;
  cudaError_t e = cudaCreateTextureObject(&t, &r, &td, 0);
  printf("%s\n", cudaGetErrorString(e));
  k<<<1, 32>>>(t, o);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%f\n", o[5]);
  return o[5] != 5;
}
