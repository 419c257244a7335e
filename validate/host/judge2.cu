// Programs that judge a time line, the second set: the time between two events around each, median, p10 and p90 of repeats.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
__global__ void add(float* x, const float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }
__global__ void polynomial(float* x, int n, int rounds) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float v = x[i]; for (int r = 0; r < rounds; ++r) v = fmaf(v, 0.999f, 0.25f); x[i] = v; }
int main(int argc, char** argv) {
  const int reps = argc > 1 ? atoi(argv[1]) : 1, warm = reps > 1 ? 5 : 0, N = 1 << 22;
  float *d, *e, *h; OK(cudaMalloc(&d, 4 * N)); OK(cudaMalloc(&e, 4 * N)); OK(cudaMallocHost(&h, 4 * N)); float* pageable = (float*)calloc(N, 4);
  cudaStream_t s[4]; for (auto& x : s) OK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  cudaEvent_t a, b, t0, t1, j[4]; for (auto* x : {&a, &b, &t0, &t1}) OK(cudaEventCreate(x)); for (auto& x : j) OK(cudaEventCreateWithFlags(&x, cudaEventDisableTiming));
  OK(cudaMemset(d, 0, 4 * N)); OK(cudaMemset(e, 0, 4 * N));
  auto run = [&](const char* name, const std::function<void()>& f) {
    std::vector<double> v;
    for (int i = 0; i < reps + warm; ++i) {
      OK(cudaDeviceSynchronize()); OK(cudaEventRecord(a, s[0])); f();
      for (int k = 1; k < 4; ++k) { OK(cudaEventRecord(j[k], s[k])); OK(cudaStreamWaitEvent(s[0], j[k], 0)); }
      OK(cudaEventRecord(b, s[0])); OK(cudaDeviceSynchronize()); float ms; OK(cudaEventElapsedTime(&ms, a, b)); if (i >= warm) v.push_back(ms * 1e3);
    }
    std::sort(v.begin(), v.end()); printf("%s\t%.3f\t%.3f\t%.3f\n", name, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10]); fflush(stdout);
  };
  auto in = [&](void* to, size_t at, size_t n, cudaStream_t q) { OK(cudaMemcpyAsync(to, h + at, n, cudaMemcpyHostToDevice, q)); };
  auto out = [&](const void* from, size_t at, size_t n, cudaStream_t q) { OK(cudaMemcpyAsync(h + at, from, n, cudaMemcpyDeviceToHost, q)); };
  run("request_loop_30", [&] { for (int i = 0; i < 30; ++i) { in(d, 0, 65536, s[0]); polynomial<<<64, 256, 0, s[0]>>>(d, 16384, 100); out(d, 16384, 65536, s[0]); OK(cudaStreamSynchronize(s[0])); } });
  run("double_buffer_8", [&] { for (int i = 0; i < 8; ++i) { const int k = i % 2, n = 1 << 18; in(d + k * n, k * n, 4 * n, s[k]); polynomial<<<n / 256, 256, 0, s[k]>>>(d + k * n, n, 300); out(d + k * n, k * n, 4 * n, s[k]); } });
  run("fork_join_20", [&] { for (int i = 0; i < 20; ++i) { add<<<64, 256, 0, s[0]>>>(d, e, 16384); OK(cudaEventRecord(j[0], s[0])); for (int k = 1; k < 4; ++k) { OK(cudaStreamWaitEvent(s[k], j[0], 0)); polynomial<<<64, 256, 0, s[k]>>>(d + k * 65536, 16384, 400); OK(cudaEventRecord(j[k], s[k])); OK(cudaStreamWaitEvent(s[0], j[k], 0)); } } });
  run("layers_10", [&] { for (int i = 0; i < 10; ++i) { OK(cudaMemsetAsync(e, 0, 65536, s[0])); for (int k = 0; k < 6; ++k) add<<<1024, 256, 0, s[0]>>>(d, e, 1 << 18); OK(cudaMemcpyAsync(e, d, 1 << 20, cudaMemcpyDeviceToDevice, s[0])); } });
  run("step_and_wait_40", [&] { for (int i = 0; i < 40; ++i) { polynomial<<<132, 64, 0, s[0]>>>(d, 8448, 2000); OK(cudaDeviceSynchronize()); } });
  run("timed_steps_20", [&] { for (int i = 0; i < 20; ++i) { OK(cudaEventRecord(t0, s[0])); add<<<256, 256, 0, s[0]>>>(d, e, 65536); OK(cudaEventRecord(t1, s[0])); OK(cudaEventSynchronize(t1)); } });
  run("pageable_round_8", [&] { for (int i = 0; i < 8; ++i) { OK(cudaMemcpy(d, pageable, 1 << 18, cudaMemcpyHostToDevice)); polynomial<<<256, 256>>>(d, 65536, 200); OK(cudaMemcpy(pageable, d, 1 << 18, cudaMemcpyDeviceToHost)); } });
  run("copies_behind_kernel", [&] { polynomial<<<132, 32, 0, s[0]>>>(d, 4224, 80000); for (int i = 0; i < 4; ++i) { in(e, 0, 1 << 22, s[1]); out(e + (1 << 21), 1 << 21, 1 << 22, s[2]); } });
  run("parameters_40", [&] { for (int i = 0; i < 40; ++i) { in(e, 0, 512, s[0]); OK(cudaMemsetAsync(e + 1024, 0, 4, s[0])); add<<<32, 256, 0, s[0]>>>(d, e, 8192); } });
  run("producer_consumer_16", [&] { for (int i = 0; i < 16; ++i) { polynomial<<<64, 64, 0, s[0]>>>(d, 4096, 3000); OK(cudaEventRecord(j[0], s[0])); OK(cudaStreamWaitEvent(s[1], j[0], 0)); out(d, 0, 1 << 18, s[1]); } });
  cudaGraph_t g; OK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal)); OK(cudaEventRecord(j[0], s[0]));
  for (int k = 1; k < 4; ++k) { OK(cudaStreamWaitEvent(s[k], j[0], 0)); for (int i = 0; i < 4; ++i) polynomial<<<33, 64, 0, s[k]>>>(d + k * 65536, 2112, 1000); OK(cudaEventRecord(j[k], s[k])); }
  for (int i = 0; i < 4; ++i) polynomial<<<33, 64, 0, s[0]>>>(d, 2112, 1000);
  for (int k = 1; k < 4; ++k) OK(cudaStreamWaitEvent(s[0], j[k], 0)); OK(cudaStreamEndCapture(s[0], &g)); cudaGraphExec_t x; OK(cudaGraphInstantiate(&x, g, 0));
  run("graph_branches_x10", [&] { for (int i = 0; i < 10; ++i) OK(cudaGraphLaunch(x, s[0])); });
  return 0;
}
