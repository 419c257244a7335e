#include <cuda_runtime.h>
#include <cstdio>
#define CK(x)                                                          \
  do {                                                                 \
    cudaError_t e = (x);                                               \
    if (e != cudaSuccess) {                                            \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      return 1;                                                        \
    }                                                                  \
  } while (0)
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  constexpr int n = 1 << 18;
  static constexpr size_t n_bytes = 4 * n;
  float *a, *b, *c;
  CK(cudaMallocManaged(&a, n * 4));
  CK(cudaMallocManaged(&b, n * 4));
  CK(cudaMallocManaged(&c, n * 4));
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] = 2 * i;
  }
  int dev;
  CK(cudaGetDevice(&dev));
  cudaDeviceProp p;
  CK(cudaGetDeviceProperties(&p, dev));
  printf("%s sm_%d%d %d SMs\n", p.name, p.major, p.minor, p.multiProcessorCount);
  cudaMemLocation loc{cudaMemLocationTypeDevice, dev};
  CK(cudaMemPrefetchAsync(a, n * 4, loc, 0, 0));
  CK(cudaMemAdvise(a, n * 4, cudaMemAdviseSetReadMostly, loc));
  CK(cudaMemAdvise(b, n * 4, cudaMemAdviseSetPreferredLocation, loc));
  CK(cudaMemAdvise(b, n * 4, cudaMemAdviseSetAccessedBy, loc));
  const auto told = [](const void* memory, cudaMemRangeAttribute attribute) {
    int value = 77;
    const bool fine =
        cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, n_bytes) == cudaSuccess;
    return fine ? value : 99;
  };
  if (told(a, cudaMemRangeAttributeLastPrefetchLocation) != dev ||
      told(a, cudaMemRangeAttributeReadMostly) != 1 ||
      told(a, cudaMemRangeAttributePreferredLocation) != cudaInvalidDeviceId ||
      told(b, cudaMemRangeAttributePreferredLocation) != dev ||
      told(b, cudaMemRangeAttributeAccessedBy) != dev ||
      told(b, cudaMemRangeAttributeLastPrefetchLocation) != cudaInvalidDeviceId) {
    printf("the advice was not kept\n");
    return 1;
  }
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++)
    if (c[i] != 3.0f * i) {
      printf("wrong %d\n", i);
      return 1;
    }
  puts("ok");
  return 0;
}
