// Two kernels in two streams, each of so many percent of the chip's SMs, or as two branches of a graph.
//   streams PERCENT [graph]
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define OK(x) do { const cudaError_t code_ = (x); if (code_ != cudaSuccess) { std::printf("%s: %s\n", #x, cudaGetErrorString(code_)); return 1; } } while (0)

// One chain of multiply-adds; a block takes an SM's shared memory.
__global__ void chain(float* out, int rounds) {
  extern __shared__ float room[];
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = fmaf(x, 0.999f, 0.25f);
  if (x < 0) room[threadIdx.x] = x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int argc, char** argv) {
  const int percent = std::atoi(argv[1]);
  cudaDeviceProp chip;
  OK(cudaGetDeviceProperties(&chip, 0));
  const int blocks = chip.multiProcessorCount * percent / 100, shared = static_cast<int>(chip.sharedMemPerBlockOptin) - 4096;
  OK(cudaFuncSetAttribute(chain, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  float* out[2];
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) {
    OK(cudaMalloc(&out[i], sizeof(float) * 32 * blocks));
    OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }
  cudaEvent_t begin, end, fork, join;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  const bool graph = argc > 2;
  OK(cudaEventRecord(begin, streams[0]));
  if (graph) OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, streams[0]));
  OK(cudaStreamWaitEvent(streams[1], fork, 0));
  for (int i = 0; i < 2; ++i) chain<<<blocks, 32, shared, streams[i]>>>(out[i], 10000);
  OK(cudaEventRecord(join, streams[1]));
  OK(cudaStreamWaitEvent(streams[0], join, 0));
  if (graph) {
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    OK(cudaStreamEndCapture(streams[0], &captured));
    OK(cudaGraphInstantiate(&ready, captured, 0));
    OK(cudaGraphLaunch(ready, streams[0]));
  }
  OK(cudaEventRecord(end, streams[0]));
  OK(cudaEventSynchronize(end));
  float ms = 0;
  OK(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%.2f us\n", ms * 1e3);
  return 0;
}
