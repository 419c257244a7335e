// What calls cost after calls: each kind of call in a row, each pair of kinds in turn, on an idle GPU and behind a long kernel; what a
// loop of small work and waits takes; what blocks of two kernels do side by side. Rows, tab separated: name, argument, median us, p10, p90, repeats.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
using clk = std::chrono::steady_clock;
static double us(clk::time_point a, clk::time_point b) { return std::chrono::duration<double, std::micro>(b - a).count(); }
static FILE* out;
static void row(const std::string& name, long arg, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  fprintf(out, "%s\t%ld\t%.4f\t%.4f\t%.4f\t%zu\n", name.c_str(), arg, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10], v.size());
}
__global__ void empty() {}
__global__ void three(float* x, int n, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * a + 1.0f; }
__global__ void spin(long long cycles) { long long b = clock64(); while (clock64() - b < cycles) {} }
__global__ void stamp_spin(long long cycles, unsigned long long* t) {
  extern __shared__ char hold[]; (void)hold; unsigned long long n; if (threadIdx.x) return;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(n)); t[2 * blockIdx.x] = n;
  long long b = clock64(); while (clock64() - b < cycles) {}
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(n)); t[2 * blockIdx.x + 1] = n;
}
int main(int argc, char** argv) {
  out = fopen(argv[1], "w"); OK(cudaSetDevice(0)); OK(cudaFree(0));
  cudaStream_t s, s2; OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); OK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  cudaEvent_t a, b, timed, plain, done; OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b)); OK(cudaEventCreate(&timed));
  OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming)); OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  const size_t big = 64u << 20; char *d, *d2, *pin, *page; OK(cudaMalloc(&d, big)); OK(cudaMalloc(&d2, big)); OK(cudaMallocHost(&pin, big)); page = (char*)malloc(big); memset(page, 1, big);
  OK(cudaMemset(d, 0, big)); unsigned long long* td; OK(cudaMalloc(&td, 1 << 20));
  cudaGraph_t g; cudaGraphExec_t graph; OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); for (int i = 0; i < 4; ++i) empty<<<1, 32, 0, s>>>(); OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&graph, g, 0));
  auto sync = [&] { OK(cudaDeviceSynchronize()); };
  struct Call { const char* name; std::function<void()> f; };
  const std::vector<Call> calls = {
      {"launch", [&] { empty<<<1, 32, 0, s>>>(); }},
      {"launch3", [&] { three<<<16, 256, 0, s>>>((float*)d, 4096, 1.5f); }},
      {"record_timed", [&] { OK(cudaEventRecord(timed, s)); }},
      {"record", [&] { OK(cudaEventRecord(plain, s)); }},
      {"wait", [&] { OK(cudaStreamWaitEvent(s, done, 0)); }},
      {"in_64", [&] { OK(cudaMemcpyAsync(d, pin, 64, cudaMemcpyHostToDevice, s)); }},
      {"in_4k", [&] { OK(cudaMemcpyAsync(d, pin, 4096, cudaMemcpyHostToDevice, s)); }},
      {"in_64k", [&] { OK(cudaMemcpyAsync(d, pin, 65536, cudaMemcpyHostToDevice, s)); }},
      {"out_4", [&] { OK(cudaMemcpyAsync(pin, d, 4, cudaMemcpyDeviceToHost, s)); }},
      {"out_4k", [&] { OK(cudaMemcpyAsync(pin, d, 4096, cudaMemcpyDeviceToHost, s)); }},
      {"out_64k", [&] { OK(cudaMemcpyAsync(pin, d, 65536, cudaMemcpyDeviceToHost, s)); }},
      {"device_4k", [&] { OK(cudaMemcpyAsync(d2, d, 4096, cudaMemcpyDeviceToDevice, s)); }},
      {"device_1m", [&] { OK(cudaMemcpyAsync(d2, d, 1 << 20, cudaMemcpyDeviceToDevice, s)); }},
      {"fill_4", [&] { OK(cudaMemsetAsync(d, 0, 4, s)); }},
      {"fill_4k", [&] { OK(cudaMemsetAsync(d, 0, 4096, s)); }},
      {"fill_64k", [&] { OK(cudaMemsetAsync(d, 0, 65536, s)); }},
      {"fill_1m", [&] { OK(cudaMemsetAsync(d, 0, 1 << 20, s)); }},
      {"page_64", [&] { OK(cudaMemcpyAsync(d, page, 64, cudaMemcpyHostToDevice, s)); }},
      {"page_4k", [&] { OK(cudaMemcpyAsync(d, page, 4096, cudaMemcpyHostToDevice, s)); }},
      {"page_32k", [&] { OK(cudaMemcpyAsync(d, page, 32768, cudaMemcpyHostToDevice, s)); }},
      {"graph4", [&] { OK(cudaGraphLaunch(graph, s)); }},
      {"query", [&] { cudaStreamQuery(s); }},
      {"launch_other", [&] { empty<<<1, 32, 0, s2>>>(); }},
  };
  OK(cudaEventRecord(done, s2)); sync();
  const int n = 40, reps = 15;
  const auto wall0 = clk::now();
  // busy: behind a spin that outlives the calls. Times per round: the calls' own, and the work's between two events.
  auto measure = [&](const std::string& name, const std::function<void()>& f) {
    for (int busy = 0; busy < 2; ++busy) {
      std::vector<double> host, device;
      for (int r = 0; r < reps + 2; ++r) {
        sync(); if (busy) spin<<<1, 1, 0, s>>>(2000000); OK(cudaEventRecord(a, s)); auto x = clk::now();
        for (int i = 0; i < n; ++i) f();
        auto y = clk::now(); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b));
        if (r >= 2) host.push_back(us(x, y) / n), device.push_back(ms * 1e3 / n);
      }
      row((busy ? "busy_calls " : "idle_calls ") + name, n, host); row((busy ? "busy_work " : "idle_work ") + name, n, device);
    }
    fflush(out);
  };
  for (const Call& c : calls) measure(c.name, c.f);
  // Single: the first call after a wait.
  for (const Call& c : calls) { std::vector<double> v; for (int r = 0; r < 200; ++r) { sync(); auto x = clk::now(); c.f(); v.push_back(us(x, clk::now())); } row(std::string("single_call ") + c.name, 1, v); }
  for (size_t i = 0; i < calls.size(); ++i) for (size_t j = i + 1; j < calls.size(); ++j) {
    if (us(wall0, clk::now()) > 45e6) { fprintf(stderr, "pairs cut at %s\n", calls[i].name); break; }
    measure(std::string(calls[i].name) + "," + calls[j].name, [&] { calls[i].f(); calls[j].f(); });
  }
  // Loops of work and a wait: us per round, wall.
  auto find = [&](const char* name) -> const Call& { for (const Call& c : calls) if (!strcmp(c.name, name)) return c; exit(3); };
  struct Wait { const char* name; std::function<void()> f; };
  const std::vector<Wait> waits = {{"stream", [&] { OK(cudaStreamSynchronize(s)); }}, {"device", [&] { OK(cudaDeviceSynchronize()); }}, {"event", [&] { OK(cudaEventRecord(plain, s)); OK(cudaEventSynchronize(plain)); }}};
  auto loop = [&](const std::string& name, const std::function<void()>& f) { std::vector<double> v; for (int r = 0; r < 23; ++r) { sync(); auto x = clk::now(); for (int i = 0; i < n; ++i) f(); sync(); if (r >= 2) v.push_back(us(x, clk::now()) / n); } row("loop " + name, n, v); };
  auto k10 = [&] { spin<<<1, 32, 0, s>>>(19800); };
  for (const Wait& w : waits) {
    for (const char* c : {"launch", "launch3", "in_64", "in_4k", "in_64k", "out_4", "out_4k", "out_64k", "device_4k", "fill_4", "fill_1m", "page_64", "page_4k", "graph4"}) {
      const auto& f = find(c).f;
      loop(std::string(c) + ";" + w.name, [&] { f(); w.f(); });
      loop(std::string("launch,") + c + ";" + w.name, [&] { find("launch").f(); f(); w.f(); });
      loop(std::string("spin10us,") + c + ";" + w.name, [&] { k10(); f(); w.f(); });
      loop(std::string(c) + ",spin10us;" + w.name, [&] { f(); k10(); w.f(); });
    }
    loop(std::string("spin10us;") + w.name, [&] { k10(); w.f(); });
    loop(std::string("nothing;") + w.name, [&] { w.f(); });
  }
  for (size_t m : {size_t(4), size_t(1024), size_t(4096), size_t(65536)}) {
    loop("memcpy_out_pinned_" + std::to_string(m), [&] { OK(cudaMemcpy(pin, d, m, cudaMemcpyDeviceToHost)); });
    loop("memcpy_out_pageable_" + std::to_string(m), [&] { OK(cudaMemcpy(page, d, m, cudaMemcpyDeviceToHost)); });
    loop("launch,memcpy_out_pageable_" + std::to_string(m), [&] { empty<<<1, 32>>>(); OK(cudaMemcpy(page, d, m, cudaMemcpyDeviceToHost)); });
    loop("launch,memcpy_out_pinned_" + std::to_string(m), [&] { empty<<<1, 32>>>(); OK(cudaMemcpy(pin, d, m, cudaMemcpyDeviceToHost)); });
    loop("memcpy_in_pageable_" + std::to_string(m), [&] { OK(cudaMemcpy(d, page, m, cudaMemcpyHostToDevice)); });
    loop("memcpy_in_pinned_" + std::to_string(m), [&] { OK(cudaMemcpy(d, pin, m, cudaMemcpyHostToDevice)); });
    loop("memcpy_in_pinned,launch_" + std::to_string(m), [&] { OK(cudaMemcpy(d, pin, m, cudaMemcpyHostToDevice)); empty<<<1, 32>>>(); });
  }
  // Copies in a row and behind kernels, by size: us per round between events, behind a spin.
  auto behind = [&](const std::string& name, long arg, int k, const std::function<void()>& f) { std::vector<double> v; for (int r = 0; r < 17; ++r) { sync(); spin<<<1, 1, 0, s>>>(600000); OK(cudaEventRecord(a, s)); for (int i = 0; i < k; ++i) f(); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); if (r >= 2) v.push_back(ms * 1e3 / k); } row("behind " + name, arg, v); };
  for (size_t m : {size_t(4), size_t(64), size_t(1024), size_t(2048), size_t(4096), size_t(16384), size_t(65536), size_t(262144), size_t(1) << 20, size_t(4) << 20}) for (int k : {1, 2, 10}) {
    const std::string t = k == 1 ? "_one" : k == 2 ? "_two" : "_ten";
    auto in = [&] { OK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); }; auto to = [&] { OK(cudaMemcpyAsync(pin, d, m, cudaMemcpyDeviceToHost, s)); };
    behind("in" + t, m, k, in); behind("out" + t, m, k, to);
    behind("kernel,in" + t, m, k, [&] { k10(); in(); }); behind("kernel,out" + t, m, k, [&] { k10(); to(); });
    behind("kernel,in,kernel" + t, m, k, [&] { k10(); in(); k10(); }); behind("kernel,out,kernel" + t, m, k, [&] { k10(); to(); k10(); });
    behind("in,out" + t, m, k, [&] { in(); to(); });
  }
  for (int k : {1, 2, 10}) behind("kernel", k, k, k10);
  // Copies of both directions and of one direction in two streams, wall from the first call.
  for (size_t m : {size_t(65536), size_t(1) << 20, size_t(16) << 20}) for (int way = 0; way < 3; ++way) {
    std::vector<double> v; for (int r = 0; r < 17; ++r) { sync(); auto x = clk::now(); for (int i = 0; i < 4; ++i) { OK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); if (way == 1) OK(cudaMemcpyAsync(pin + big / 2, d2, m, cudaMemcpyDeviceToHost, s2)); if (way == 2) OK(cudaMemcpyAsync(d2, pin + big / 2, m, cudaMemcpyHostToDevice, s2)); } sync(); if (r >= 2) v.push_back(us(x, clk::now()) / 4); } row(way == 0 ? "four_in" : way == 1 ? "four_in_and_out" : "four_in_twice", m, v);
  }
  // Side by side: kernels of a and of b blocks, one per SM (200 KB shared), 50 us each; when the second's blocks begin and end after the first's begin.
  OK(cudaFuncSetAttribute(stamp_spin, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  for (int x : {33, 66, 132, 198, 264}) for (int y : {33, 66, 132, 198}) {
    std::vector<double> first, last, own; for (int r = 0; r < 9; ++r) {
      sync(); spin<<<1, 1, 0, s>>>(100000); OK(cudaEventRecord(plain, s)); OK(cudaStreamWaitEvent(s2, plain, 0));
      stamp_spin<<<x, 32, 200 << 10, s>>>(99000, td); stamp_spin<<<y, 32, 200 << 10, s2>>>(99000, td + 1024); sync();
      std::vector<unsigned long long> t(2048); OK(cudaMemcpy(t.data(), td, 16384, cudaMemcpyDeviceToHost));
      unsigned long long a0 = ~0ull, a1 = 0, b0 = ~0ull, b1 = 0; for (int i = 0; i < x; ++i) a0 = std::min(a0, t[2 * i]), a1 = std::max(a1, t[2 * i + 1]); for (int i = 0; i < y; ++i) b0 = std::min(b0, t[1024 + 2 * i]), b1 = std::max(b1, t[1025 + 2 * i]);
      own.push_back((double(a1) - double(a0)) * 1e-3); first.push_back((double(b0) - double(a0)) * 1e-3); last.push_back((double(b1) - double(a0)) * 1e-3);
    }
    const long arg = x * 1000 + y; row("beside_first_ends", arg, own); row("beside_second_begins", arg, first); row("beside_second_ends", arg, last);
  }
  sync(); fclose(out); return 0;
}
