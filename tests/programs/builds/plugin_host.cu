// Loads a shared library with kernels, uses it, closes it and loads it again; has kernels of its own.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include "check.h"
__global__ void fill(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}
int main() {
  int *p, h[1000];
  CHECK(cudaMalloc(&p, 4000));
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen("./libplugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) puts(dlerror());
    EXPECT(library);
    auto scale = (int (*)(int*, int, int))dlsym(library, "plugin_scale");
    fill<<<8, 128>>>(p, 1000);
    EXPECT(scale(p, 1000, 5) == 1);
    EXPECT(scale(p, 1000, 2) == 2);
    CHECK(cudaMemcpy(h, p, 4000, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 1000; ++i) EXPECT(h[i] == 10 * i);
    EXPECT(dlclose(library) == 0);
  }
  puts("ok");
}
