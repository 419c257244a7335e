// Quicksort by kernels that launch kernels, each into streams of its own; a sort for small ranges; a depth that is asked for.
#include <cuda_runtime.h>
#include <algorithm>
#include <vector>
#include "check.h"
__device__ void small(int* p, int left, int right) {
  for (int i = left; i <= right; ++i)
    for (int j = i + 1; j <= right; ++j)
      if (p[j] < p[i]) {
        int t = p[i];
        p[i] = p[j];
        p[j] = t;
      }
}
__global__ void quicksort(int* p, int left, int right, int depth) {
  if (depth >= 12 || right - left <= 16) {
    small(p, left, right);
    return;
  }
  int *l = p + left, *r = p + right, pivot = p[(left + right) / 2];
  while (l <= r) {
    while (*l < pivot) ++l;
    while (*r > pivot) --r;
    if (l <= r) {
      int t = *l;
      *l++ = *r;
      *r-- = t;
    }
  }
  int to = r - p, from = l - p;
  cudaStream_t s;
  if (left < to) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(p, left, to, depth + 1);
    cudaStreamDestroy(s);
  }
  if (from < right) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(p, from, right, depth + 1);
    cudaStreamDestroy(s);
  }
}
__global__ void leaf(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p, int* error) {
  if (threadIdx.x == 0) {
    leaf<<<2, 32>>>(p);
    leaf<<<1, 2048>>>(p);  // too many threads
    *error = cudaGetLastError();
    leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(p + 1);
    leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(p + 2);
  }
}
int main() {
  const int n = 600;
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 7919) % 1009;
  int* p;
  CHECK(cudaMallocManaged(&p, n * 4));
  std::copy(h.begin(), h.end(), p);
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  quicksort<<<1, 1>>>(p, 0, n - 1, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::sort(h.begin(), h.end());
  for (int i = 0; i < n; ++i) EXPECT(p[i] == h[i]);
  p[0] = p[1] = p[2] = 0;
  parent<<<1, 32>>>(p, p + 3);
  CHECK(cudaDeviceSynchronize());
  EXPECT(p[0] == 64 && p[1] == 1 && p[2] == 1 && p[3] != 0);
  puts("ok");
}
