// Programs that judge a time line: wall time of each from its first call to the end of the last synchronisation, and by events.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <functional>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
__global__ void scale(float* x, int n, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * a + 1.0f; }
__global__ void work(float* x, int n, int rounds) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float v = x[i]; for (int r = 0; r < rounds; ++r) v = v * 1.0001f + 0.5f; x[i] = v; }
int main(int argc, char** argv) {
  const int reps = argc > 1 ? atoi(argv[1]) : 1, warm = reps > 1 ? 5 : 0;
  float *d, *h, *pageable; const int N = 1 << 22; OK(cudaMalloc(&d, 4 * N * 2)); OK(cudaMallocHost(&h, 4 * N * 2)); pageable = (float*)calloc(2 * N, 4);
  cudaStream_t s[4]; for (auto& x : s) OK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  cudaEvent_t a, b, j[4]; OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b)); for (auto& x : j) OK(cudaEventCreateWithFlags(&x, cudaEventDisableTiming));
  OK(cudaMemset(d, 0, 4 * N * 2));
  auto run = [&](const char* name, const std::function<void()>& f) {
    std::vector<double> v;
    for (int i = 0; i < reps + warm; ++i) {
      OK(cudaDeviceSynchronize()); OK(cudaEventRecord(a, s[0])); f(); 
      for (int k = 1; k < 4; ++k) { OK(cudaEventRecord(j[k], s[k])); OK(cudaStreamWaitEvent(s[0], j[k], 0)); }
      OK(cudaEventRecord(b, s[0])); OK(cudaDeviceSynchronize()); float ms; OK(cudaEventElapsedTime(&ms, a, b)); if (i >= warm) v.push_back(ms * 1e3);
    }
    std::sort(v.begin(), v.end()); printf("%s\t%.3f\t%.3f\t%.3f\n", name, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10]);
  };
  run("small_chain_200", [&] { for (int i = 0; i < 200; ++i) scale<<<16, 256, 0, s[0]>>>(d, 4096, 1.5f); });
  run("medium_chain_100", [&] { for (int i = 0; i < 100; ++i) scale<<<4096, 256, 0, s[0]>>>(d, 1 << 20, 1.5f); });
  run("copy_work_copy", [&] { OK(cudaMemcpyAsync(d, h, 4 * N, cudaMemcpyHostToDevice, s[0])); work<<<N / 256, 256, 0, s[0]>>>(d, N, 500); OK(cudaMemcpyAsync(h, d, 4 * N, cudaMemcpyDeviceToHost, s[0])); });
  run("pipelined_4_chunks", [&] { for (int k = 0; k < 4; ++k) { int n = N / 4; float *x = d + k * n, *y = h + k * n; OK(cudaMemcpyAsync(x, y, 4 * n, cudaMemcpyHostToDevice, s[k])); work<<<n / 256, 256, 0, s[k]>>>(x, n, 500); OK(cudaMemcpyAsync(y, x, 4 * n, cudaMemcpyDeviceToHost, s[k])); } });
  run("small_pageable_and_kernel_50", [&] { for (int i = 0; i < 50; ++i) { OK(cudaMemcpyAsync(d, pageable, 4096, cudaMemcpyHostToDevice, s[0])); scale<<<4, 256, 0, s[0]>>>(d, 1024, 1.5f); } });
  run("readback_loop_50", [&] { for (int i = 0; i < 50; ++i) { scale<<<64, 256, 0, s[0]>>>(d, 16384, 1.5f); OK(cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s[0])); OK(cudaStreamSynchronize(s[0])); } });
  run("fills_and_kernels_50", [&] { for (int i = 0; i < 50; ++i) { OK(cudaMemsetAsync(d, 0, 1 << 20, s[0])); scale<<<1024, 256, 0, s[0]>>>(d, 1 << 18, 1.5f); } });
  cudaGraph_t g; OK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal)); for (int i = 0; i < 64; ++i) scale<<<16, 256, 0, s[0]>>>(d, 4096, 1.5f); OK(cudaStreamEndCapture(s[0], &g)); cudaGraphExec_t e; OK(cudaGraphInstantiate(&e, g, 0));
  run("graph_64_small_x10", [&] { for (int i = 0; i < 10; ++i) OK(cudaGraphLaunch(e, s[0])); });
  run("ping_pong_streams_50", [&] { for (int i = 0; i < 50; ++i) { scale<<<16, 256, 0, s[0]>>>(d, 4096, 1.5f); OK(cudaEventRecord(j[0], s[0])); OK(cudaStreamWaitEvent(s[1], j[0], 0)); scale<<<16, 256, 0, s[1]>>>(d, 4096, 1.5f); OK(cudaEventRecord(j[0], s[1])); OK(cudaStreamWaitEvent(s[0], j[0], 0)); } });
  run("device_to_device_20", [&] { for (int i = 0; i < 20; ++i) OK(cudaMemcpyAsync(d + N, d, 4 * N, cudaMemcpyDeviceToDevice, s[0])); });
  return 0;
}
