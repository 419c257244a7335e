// Kernels that wait on the clock in several streams, an event that joins them (the idea of NVIDIA's sample concurrentKernels).
#include <cuda_runtime.h>
#include "check.h"
__global__ void wait(clock_t* out, clock_t cycles) {
  clock_t begin = clock(), passed = 0;
  while (passed < cycles) passed = clock() - begin;
  out[0] = passed;
}
__global__ void total(const clock_t* in, clock_t* out, int n) {
  __shared__ clock_t part[32];
  clock_t mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += in[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int i = 16; i > 0; i /= 2) {
    if (threadIdx.x < i) part[threadIdx.x] += part[threadIdx.x + i];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = part[0];
}
int main() {
  const int n = 8;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.concurrentKernels);
  clock_t* host;
  clock_t* device;
  CHECK(cudaMallocHost(&host, (n + 1) * sizeof(clock_t)));
  CHECK(cudaMalloc(&device, (n + 1) * sizeof(clock_t)));
  cudaStream_t streams[n];
  cudaEvent_t ended[n], begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
  for (auto& event : ended) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(begin, 0));
  for (int i = 0; i < n; ++i) {
    wait<<<1, 1, 0, streams[i]>>>(device + i, 20000);
    CHECK(cudaEventRecord(ended[i], streams[i]));
    CHECK(cudaStreamWaitEvent(streams[n - 1], ended[i], 0));
  }
  total<<<1, 32, 0, streams[n - 1]>>>(device, device + n, n);
  CHECK(cudaMemcpyAsync(host + n, device + n, sizeof(clock_t), cudaMemcpyDeviceToHost, streams[n - 1]));
  CHECK(cudaEventRecord(end, 0));
  CHECK(cudaEventSynchronize(end));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(cudaStreamSynchronize(streams[n - 1]));
  EXPECT(host[n] >= (clock_t)n * 20000);
  CHECK(cudaEventQuery(end));
  cudaEvent_t untimed;
  CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CHECK(cudaEventRecord(untimed));
  EXPECT(cudaEventElapsedTime(&ms, begin, untimed) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  puts("ok");
}
