// Host call costs and gaps on the device: one table, tab separated: name, argument, median us, p10, p90, repeats.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <functional>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
using clk = std::chrono::steady_clock;
static double us(clk::time_point a, clk::time_point b) { return std::chrono::duration<double, std::micro>(b - a).count(); }
__global__ void empty() {}
__global__ void stamp(unsigned long long* t) { unsigned long long n; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(n)); *t = n; }
__global__ void spin(long long cycles) { long long b = clock64(); while (clock64() - b < cycles) {} }
__global__ void spin_stamp(long long cycles, unsigned long long* t) {
  unsigned long long n; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(n)); t[0] = n;
  long long b = clock64(); while (clock64() - b < cycles) {}
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(n)); t[1] = n;
}
static FILE* out;
static void row(const char* name, long arg, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  fprintf(out, "%s\t%ld\t%.4f\t%.4f\t%.4f\t%zu\n", name, arg, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10], v.size());
  fflush(out);
}
static void many(const char* name, long arg, int n, const std::function<double()>& f) {
  std::vector<double> v; f(); for (int i = 0; i < n; ++i) v.push_back(f()); row(name, arg, v);
}
int main(int argc, char** argv) {
  out = fopen(argv[1], "w");
  OK(cudaSetDevice(0)); OK(cudaFree(0));
  cudaStream_t s, s2; OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); OK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  cudaEvent_t a, b, c; OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b)); OK(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
  unsigned long long* t; OK(cudaMallocManaged(&t, 4096)); OK(cudaMemset(t, 0, 4096)); 
  unsigned long long* td; OK(cudaMalloc(&td, 1 << 16));
  for (int i = 0; i < 2000; ++i) empty<<<1, 32, 0, s>>>(); OK(cudaStreamSynchronize(s));
  auto sync = [&] { OK(cudaStreamSynchronize(s)); };
  // host cost of a launch call on an idle GPU with little in the queue
  many("launch_call", 1, 1000, [&] { sync(); auto x = clk::now(); empty<<<1, 32, 0, s>>>(); auto y = clk::now(); return us(x, y); });
  for (long n : {10L, 100L, 500L}) many("launch_calls_each", n, 200, [&] { sync(); auto x = clk::now(); for (int i = 0; i < n; ++i) empty<<<1, 32, 0, s>>>(); auto y = clk::now(); sync(); return us(x, y) / n; });
  for (long n : {1L, 10L, 100L, 1000L}) many("chain_with_sync_each", n, n > 100 ? 50 : 200, [&] { sync(); auto x = clk::now(); for (int i = 0; i < n; ++i) empty<<<1, 32, 0, s>>>(); sync(); return us(x, clk::now()) / n; });
  for (long n : {1L, 2L, 10L, 100L, 500L}) many("chain_events", n, 200, [&] { sync(); OK(cudaEventRecord(a, s)); for (int i = 0; i < n; ++i) empty<<<1, 32, 0, s>>>(); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
  // queue filled behind a spinning kernel: device-bound gap
  for (long n : {1L, 2L, 10L, 100L, 400L}) many("chain_behind_spin_events", n, 200, [&] { sync(); spin<<<1, 1, 0, s>>>(n > 50 ? 4000000 : 400000); OK(cudaEventRecord(a, s)); for (int i = 0; i < n; ++i) empty<<<1, 32, 0, s>>>(); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
  for (long n : {132L, 1056L, 8448L}) many("empty_grid_chain100_behind_spin_each", n, 100, [&] { sync(); spin<<<1, 1, 0, s>>>(4000000); OK(cudaEventRecord(a, s)); for (int i = 0; i < 100; ++i) empty<<<n, 256, 0, s>>>(); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 10; });
  // gap between a 20 us kernel's end and its successor's begin
  many("gap_between_spins_globaltimer", 0, 300, [&] { sync(); spin<<<1, 1, 0, s>>>(400000); spin_stamp<<<1, 1, 0, s>>>(20000, td); spin_stamp<<<1, 1, 0, s>>>(20000, td + 2); sync(); unsigned long long h[4]; OK(cudaMemcpy(h, td, 32, cudaMemcpyDeviceToHost)); return (h[2] - h[1]) * 1e-3; });
  many("gap_other_stream_by_event", 0, 300, [&] { sync(); OK(cudaStreamSynchronize(s2)); spin<<<1, 1, 0, s>>>(400000); spin_stamp<<<1, 1, 0, s>>>(20000, td); OK(cudaEventRecord(c, s)); OK(cudaStreamWaitEvent(s2, c, 0)); spin_stamp<<<1, 1, 0, s2>>>(20000, td + 2); OK(cudaStreamSynchronize(s2)); sync(); unsigned long long h[4]; OK(cudaMemcpy(h, td, 32, cudaMemcpyDeviceToHost)); return (h[2] - h[1]) * 1e-3; });
  many("launch_and_sync", 0, 500, [&] { sync(); auto x = clk::now(); empty<<<1, 32, 0, s>>>(); sync(); return us(x, clk::now()); });
  many("launch_spin20000_and_sync", 0, 300, [&] { sync(); auto x = clk::now(); spin<<<1, 1, 0, s>>>(20000); sync(); return us(x, clk::now()); });
  many("sync_idle_call", 0, 500, [&] { sync(); auto x = clk::now(); sync(); return us(x, clk::now()); });
  many("event_record_call", 0, 500, [&] { sync(); auto x = clk::now(); OK(cudaEventRecord(a, s)); return us(x, clk::now()); });
  many("event_wait_call", 0, 500, [&] { sync(); OK(cudaEventRecord(c, s)); auto x = clk::now(); OK(cudaStreamWaitEvent(s2, c, 0)); return us(x, clk::now()); });
  many("event_pair", 0, 500, [&] { sync(); OK(cudaEventRecord(a, s)); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
  many("memset_async_call_1k", 0, 300, [&] { sync(); auto x = clk::now(); OK(cudaMemsetAsync(td, 0, 1024, s)); return us(x, clk::now()); });
  const size_t big = size_t(1) << 30;
  char *d, *d2, *pin, *page; OK(cudaMalloc(&d, big)); OK(cudaMalloc(&d2, big)); OK(cudaMallocHost(&pin, big)); page = (char*)malloc(big); memset(page, 1, big);
  for (size_t n : {size_t(4), size_t(4096), size_t(65536), size_t(1) << 20, size_t(1) << 24, size_t(1) << 28}) {
    const int reps = n >= (1 << 28) ? 50 : 200;
    many("fill_behind_spin_events", n, reps, [&] { sync(); spin<<<1, 1, 0, s>>>(100000); OK(cudaEventRecord(a, s)); OK(cudaMemsetAsync(d, 0, n, s)); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
  }
  const size_t sizes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, big};
  struct Way { const char* name; char* to; char* from; cudaMemcpyKind kind; bool page; };
  const Way ways[] = {{"h2d_pinned", d, pin, cudaMemcpyHostToDevice, false}, {"d2h_pinned", pin, d, cudaMemcpyDeviceToHost, false}, {"d2d", d2, d, cudaMemcpyDeviceToDevice, false}, {"h2d_pageable", d, page, cudaMemcpyHostToDevice, true}, {"d2h_pageable", page, d, cudaMemcpyDeviceToHost, true}};
  char name[100];
  for (const Way& w : ways) for (size_t n : sizes) {
    const int reps = n >= big ? (w.page ? 3 : 8) : n >= (256u << 20) ? 15 : n >= (64u << 20) ? 40 : 200;
    snprintf(name, sizeof name, "copy_sync_%s", w.name);
    many(name, n, reps, [&] { sync(); auto x = clk::now(); OK(cudaMemcpy(w.to, w.from, n, w.kind)); return us(x, clk::now()); });
    if (w.page) continue;
    snprintf(name, sizeof name, "copy_events_%s", w.name);
    many(name, n, reps, [&] { sync(); spin<<<1, 1, 0, s>>>(100000); OK(cudaEventRecord(a, s)); OK(cudaMemcpyAsync(w.to, w.from, n, w.kind, s)); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
    if (n == 1024) { snprintf(name, sizeof name, "copy_async_call_%s", w.name);
      many(name, n, 300, [&] { sync(); auto x = clk::now(); OK(cudaMemcpyAsync(w.to, w.from, n, w.kind, s)); return us(x, clk::now()); }); }
  }
  // both ways at once, and a copy beside a kernel
  many("copy_both_ways_64M", 64 << 20, 40, [&] { OK(cudaDeviceSynchronize()); auto x = clk::now(); OK(cudaMemcpyAsync(d, pin, 64 << 20, cudaMemcpyHostToDevice, s)); OK(cudaMemcpyAsync(pin + (512 << 20), d2, 64 << 20, cudaMemcpyDeviceToHost, s2)); OK(cudaDeviceSynchronize()); return us(x, clk::now()); });
  many("copy_twice_same_way_64M", 64 << 20, 40, [&] { OK(cudaDeviceSynchronize()); auto x = clk::now(); OK(cudaMemcpyAsync(d, pin, 64 << 20, cudaMemcpyHostToDevice, s)); OK(cudaMemcpyAsync(d2, pin + (512 << 20), 64 << 20, cudaMemcpyHostToDevice, s2)); OK(cudaDeviceSynchronize()); return us(x, clk::now()); });
  many("copy_16M_beside_spin", 16 << 20, 100, [&] { OK(cudaDeviceSynchronize()); auto x = clk::now(); OK(cudaMemcpyAsync(d, pin, 16 << 20, cudaMemcpyHostToDevice, s)); spin<<<132, 256, 0, s2>>>(400000); OK(cudaDeviceSynchronize()); return us(x, clk::now()); });
  // graphs: chains of n empty kernels; and n beside each other
  for (int wide = 0; wide < 2; ++wide) for (long n : {1L, 2L, 5L, 10L, 20L, 50L, 100L, 200L, 500L, 1000L}) {
    cudaGraph_t g; OK(cudaGraphCreate(&g, 0)); cudaGraphNode_t last; cudaKernelNodeParams p{}; p.func = (void*)empty; p.gridDim = 1; p.blockDim = 32;
    for (int i = 0; i < n; ++i) { cudaGraphNode_t node; OK(cudaGraphAddKernelNode(&node, g, i && !wide ? &last : nullptr, i && !wide ? 1 : 0, &p)); last = node; }
    cudaGraphExec_t e; OK(cudaGraphInstantiate(&e, g, 0)); OK(cudaGraphUpload(e, s)); sync();
    const int reps = n >= 500 ? 100 : 200; const char* k = wide ? "wide" : "chain";
    snprintf(name, sizeof name, "graph_%s_call", k); many(name, n, reps, [&] { sync(); auto x = clk::now(); OK(cudaGraphLaunch(e, s)); return us(x, clk::now()); });
    snprintf(name, sizeof name, "graph_%s_sync", k); many(name, n, reps, [&] { sync(); auto x = clk::now(); OK(cudaGraphLaunch(e, s)); sync(); return us(x, clk::now()); });
    snprintf(name, sizeof name, "graph_%s_behind_spin_events", k); many(name, n, reps, [&] { sync(); spin<<<1, 1, 0, s>>>(200000); OK(cudaEventRecord(a, s)); OK(cudaGraphLaunch(e, s)); OK(cudaEventRecord(b, s)); sync(); float ms; OK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; });
    OK(cudaGraphExecDestroy(e)); OK(cudaGraphDestroy(g));
  }
  for (size_t n : {size_t(1024), size_t(1) << 20, size_t(64) << 20}) { many("malloc_call", n, 50, [&] { OK(cudaDeviceSynchronize()); void* q; auto x = clk::now(); OK(cudaMalloc(&q, n)); auto y = clk::now(); OK(cudaFree(q)); return us(x, y); });
    many("free_call", n, 50, [&] { OK(cudaDeviceSynchronize()); void* q; OK(cudaMalloc(&q, n)); auto x = clk::now(); OK(cudaFree(q)); return us(x, clk::now()); }); }
  many("malloc_async_call", 1 << 20, 200, [&] { sync(); void* q; auto x = clk::now(); OK(cudaMallocAsync(&q, 1 << 20, s)); auto y = clk::now(); OK(cudaFreeAsync(q, s)); return us(x, y); });
  OK(cudaDeviceSynchronize()); fclose(out); return 0;
}
