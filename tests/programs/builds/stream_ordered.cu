// Stream-ordered allocation: the default pool, a pool of its own, thresholds, attributes, memory that a graph allocates.
#include <cuda_runtime.h>
#include <cstdint>
#include "check.h"
__global__ void fill(int* p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = v + i;
}
int main() {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported);
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t keep = UINT64_MAX, got = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  EXPECT(got == keep);
  const int n = 10000;
  int *p, host[16];
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaMallocAsync(&p, n * 4, s));
    fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, round);
    CHECK(cudaMemcpyAsync(host, p + n - 16, 64, cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(host[15] == round + n - 1);
  }
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &got));
  EXPECT(got == 0);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &got));
  EXPECT(got >= n * 4);
  CHECK(cudaMemPoolTrimTo(pool, 0));
  cudaMemPoolProps wanted = {};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &wanted));
  CHECK(cudaMallocFromPoolAsync(&p, 4096, own, s));
  fill<<<4, 256, 0, s>>>(p, 1024, 7);
  cudaEvent_t ready;
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventRecord(ready, s));
  CHECK(cudaStreamWaitEvent(t, ready));
  CHECK(cudaMemcpyAsync(host, p, 64, cudaMemcpyDefault, t));
  CHECK(cudaFreeAsync(p, t));
  CHECK(cudaStreamSynchronize(t));
  EXPECT(host[3] == 10);
  CHECK(cudaMemPoolDestroy(own));
  // A graph that allocates, uses and frees its memory, launched twice.
  int* result;
  CHECK(cudaMalloc(&result, 64));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&p, 4096, s));
  fill<<<4, 256, 0, s>>>(p, 1024, 100);
  CHECK(cudaMemcpyAsync(result, p, 64, cudaMemcpyDeviceToDevice, s));
  CHECK(cudaFreeAsync(p, s));
  CHECK(cudaStreamEndCapture(s, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMemsetAsync(result, 0, 64, s));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaMemcpyAsync(host, result, 64, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(host[15] == 115);
  }
  CHECK(cudaDeviceGraphMemTrim(0));
  puts("ok");
}
