// One stream per OpenMP thread, all in one context (the idea of NVIDIA's sample cudaOpenMP).
#include <cuda_runtime.h>
#include <omp.h>
#include <vector>
#include "check.h"
__global__ void add(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] += v; }
int main() {
  int devices;
  CHECK(cudaGetDeviceCount(&devices));
  const int threads = 4, n = 4096;
  std::vector<int> h(threads * n);
  omp_set_num_threads(threads);
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    CHECK(cudaSetDevice(id % devices));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    int* p;
    CHECK(cudaMalloc(&p, n * 4));
    CHECK(cudaMemsetAsync(p, 0, n * 4, s));
    for (int i = 0; i < 3; ++i) add<<<n / 128, 128, 0, s>>>(p, id);
    CHECK(cudaMemcpyAsync(h.data() + id * n, p, n * 4, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaFree(p));
  }
  for (int i = 0; i < threads * n; ++i) EXPECT(h[i] == 3 * (i / n));
  puts("ok");
}
