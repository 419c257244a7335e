// Mapped and registered host memory, portable and write-combined; pointers asked for their kind.
#include <cuda_runtime.h>
#include <vector>
#include "check.h"
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  CHECK(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleBlockingSync));
  unsigned flags = 0;
  CHECK(cudaGetDeviceFlags(&flags));
  EXPECT(flags & cudaDeviceScheduleBlockingSync);
  const int n = 1 << 14;
  float *a, *c, *device_a, *device_b, *device_c;
  CHECK(cudaHostAlloc(&a, n * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaHostAlloc(&c, n * 4, cudaHostAllocMapped | cudaHostAllocPortable));
  std::vector<float> b(n + 2048);
  float* aligned = (float*)(((size_t)b.data() + 4095) / 4096 * 4096);
  CHECK(cudaHostRegister(aligned, n * 4, cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(aligned, n * 4, cudaHostRegisterMapped) == cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();
  for (int i = 0; i < n; ++i) a[i] = i, aligned[i] = 2 * i, c[i] = 0;
  CHECK(cudaHostGetDevicePointer(&device_a, a, 0));
  CHECK(cudaHostGetDevicePointer(&device_b, aligned, 0));
  CHECK(cudaHostGetDevicePointer(&device_c, c, 0));
  add<<<n / 256, 256>>>(device_a, device_b, device_c, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(c[i] == 3 * i);
  CHECK(cudaHostGetFlags(&flags, c));
  EXPECT(flags & cudaHostAllocPortable);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, aligned + 5));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CHECK(cudaPointerGetAttributes(&attributes, &flags));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaHostUnregister(aligned));
  EXPECT(cudaHostUnregister(aligned) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  CHECK(cudaFreeHost(a));
  CHECK(cudaFreeHost(c));
  puts("ok");
}
