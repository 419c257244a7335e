// What a link between two GPUs of one host carries: peer copies by copy engine, loads and stores by kernels, latencies. Rows, tab
// separated: name, argument, median us (or GB/s, cycles, as the name says), p10, p90, repeats.
#include <cuda_runtime.h>
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
using clk = std::chrono::steady_clock;
static double us(clk::time_point a, clk::time_point b) { return std::chrono::duration<double, std::micro>(b - a).count(); }
static FILE* out;
static void row(const char* name, long arg, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  fprintf(out, "%s\t%ld\t%.4f\t%.4f\t%.4f\t%zu\n", name, arg, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10], v.size());
  fflush(out);
}
__global__ void spin(long long cycles) { long long b = clock64(); while (clock64() - b < cycles) {} }
__global__ void copy_kernel(const float4* from, float4* to, size_t n) {
  size_t step = size_t(gridDim.x) * blockDim.x, i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * step < n; i += 4 * step) {
    float4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    to[i] = a; to[i + step] = b; to[i + 2 * step] = c; to[i + 3 * step] = d;
  }
  for (; i < n; i += step) to[i] = from[i];
}
__global__ void chase(const unsigned* p, int steps, long long* cycles, unsigned* sink) {
  unsigned at = 0;
  for (int i = 0; i < 64; ++i) at = __ldcv(p + at);
  long long b = clock64();
  for (int i = 0; i < steps; ++i) at = __ldcv(p + at);
  cycles[0] = clock64() - b; sink[0] = at;
}
// The two flags lie each in the memory of who reads it.
__global__ void ping_pong(volatile unsigned* mine, volatile unsigned* theirs, int rounds, int first, long long* cycles) {
  long long b = clock64(), late = b + 2000000000LL;
  for (int r = 1; r <= rounds; ++r) {
    if (first) *theirs = r;
    while (*mine != unsigned(r)) if (clock64() > late) { cycles[0] = -1; return; }
    if (!first) *theirs = r;
  }
  cycles[0] = clock64() - b;
}
int main(int argc, char** argv) {
  out = fopen(argv[1], "w");
  int n = 0; OK(cudaGetDeviceCount(&n)); if (n < 2) { fprintf(stderr, "needs two devices\n"); return 1; }
  const size_t big = size_t(1) << 30;
  char* buf[2][2]; cudaStream_t s[2], s2[2]; cudaEvent_t a[2], b[2];
  for (int d = 0; d < 2; ++d) {
    OK(cudaSetDevice(d)); OK(cudaDeviceEnablePeerAccess(1 - d, 0));
    for (auto& x : buf[d]) { OK(cudaMalloc(&x, big)); OK(cudaMemset(x, 1, big)); }
    OK(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking)); OK(cudaStreamCreateWithFlags(&s2[d], cudaStreamNonBlocking));
    OK(cudaEventCreate(&a[d])); OK(cudaEventCreate(&b[d])); OK(cudaDeviceSynchronize());
  }
  auto timed = [&](int d, long long cycles, int k, const std::function<void()>& f) {  // us per piece, the queue filled behind a spin
    OK(cudaSetDevice(d)); spin<<<1, 1, 0, s[d]>>>(cycles); OK(cudaEventRecord(a[d], s[d]));
    for (int i = 0; i < k; ++i) f();
    OK(cudaEventRecord(b[d], s[d])); OK(cudaStreamSynchronize(s[d])); float ms; OK(cudaEventElapsedTime(&ms, a[d], b[d])); return ms * 1e3 / k;
  };
  auto many = [&](const char* name, long arg, int reps, const std::function<double()>& f) { std::vector<double> v; f(); for (int i = 0; i < reps; ++i) v.push_back(f()); row(name, arg, v); };
  // Both devices at once: each thread's time per piece, of which the longer.
  auto both = [&](const char* name, long arg, int reps, long long cycles, int k, const std::function<void(int)>& f) {
    std::vector<double> v[2]; std::barrier sync(2);
    auto one = [&](int d) { for (int r = 0; r < reps + 1; ++r) { sync.arrive_and_wait(); double t = timed(d, cycles, k, [&] { f(d); }); if (r) v[d].push_back(t); } };
    std::thread other(one, 1); one(0); other.join();
    for (size_t i = 0; i < v[0].size(); ++i) v[0][i] = std::max(v[0][i], v[1][i]);
    row(name, arg, v[0]);
  };
  OK(cudaSetDevice(0));
  // Copy engines.
  for (size_t m = 1 << 10; m <= big; m *= 4) for (int half = 0; half < (m == big ? 1 : 2); ++half) {
    const size_t w = half ? m * 2 : m; const int k = w >= (256u << 20) ? 3 : 20, reps = w >= (256u << 20) ? 7 : 40;
    many("peer_copy_push_each", w, reps, [&] { return timed(0, 400000, k, [&] { OK(cudaMemcpyPeerAsync(buf[1][0], 1, buf[0][0], 0, w, s[0])); }); });
    if (half) continue;
    many("peer_copy_pull_each", w, reps, [&] { return timed(0, 400000, k, [&] { OK(cudaMemcpyPeerAsync(buf[0][0], 0, buf[1][0], 1, w, s[0])); }); });
    many("peer_copy_one", w, reps, [&] { return timed(0, 100000, 1, [&] { OK(cudaMemcpyPeerAsync(buf[1][0], 1, buf[0][0], 0, w, s[0])); }); });
    many("peer_copy_sync_wall", w, reps, [&] { OK(cudaSetDevice(0)); OK(cudaStreamSynchronize(s[0])); auto x = clk::now(); OK(cudaMemcpyPeerAsync(buf[1][0], 1, buf[0][0], 0, w, s[0])); OK(cudaStreamSynchronize(s[0])); return us(x, clk::now()); });
    both("peer_copy_both_ways_each", w, reps, 400000, k, [&](int d) { OK(cudaMemcpyPeerAsync(buf[1 - d][1], 1 - d, buf[d][0], d, w, s[d])); });
  }
  many("peer_copy_call", 1024, 200, [&] { OK(cudaSetDevice(0)); OK(cudaStreamSynchronize(s[0])); auto x = clk::now(); OK(cudaMemcpyPeerAsync(buf[1][0], 1, buf[0][0], 0, 1024, s[0])); return us(x, clk::now()); });
  // Kernels.
  const int grid = 132 * 4;
  for (size_t w = 64 << 10; w <= big; w *= 4) {
    const int k = w >= (256u << 20) ? 3 : 10, reps = w >= (256u << 20) ? 5 : 20;
    many("kernel_store_each", w, reps, [&] { return timed(0, 400000, k, [&] { copy_kernel<<<grid, 512, 0, s[0]>>>((float4*)buf[0][0], (float4*)buf[1][0], w / 16); }); });
    many("kernel_load_each", w, reps, [&] { return timed(0, 400000, k, [&] { copy_kernel<<<grid, 512, 0, s[0]>>>((float4*)buf[1][0], (float4*)buf[0][0], w / 16); }); });
    both("kernel_store_both_ways_each", w, reps, 400000, k, [&](int d) { copy_kernel<<<grid, 512, 0, s[d]>>>((float4*)buf[d][0], (float4*)buf[1 - d][1], w / 16); });
    both("kernel_load_both_ways_each", w, reps, 400000, k, [&](int d) { copy_kernel<<<grid, 512, 0, s[d]>>>((float4*)buf[1 - d][1], (float4*)buf[d][0], w / 16); });
  }
  for (int blocks : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 132}) {
    many("kernel_store_64M_blocks", blocks, 5, [&] { return timed(0, 400000, 1, [&] { copy_kernel<<<blocks, 512, 0, s[0]>>>((float4*)buf[0][0], (float4*)buf[1][0], (64u << 20) / 16); }); });
    many("kernel_load_64M_blocks", blocks, 5, [&] { return timed(0, 400000, 1, [&] { copy_kernel<<<blocks, 512, 0, s[0]>>>((float4*)buf[1][0], (float4*)buf[0][0], (64u << 20) / 16); }); });
  }
  // Latencies, in cycles of the SM's clock (1980 MHz when it is busy: the device file).
  std::vector<unsigned> ring((8u << 20) / 4, 0); const unsigned stride = 4160 / 4;  unsigned at = 0;
  for (size_t i = 0; i + 1 < ring.size() / stride; ++i) { ring[at] = at + stride; at += stride; } ring[at] = 0;
  long long* cycles[2]; unsigned* sink; for (int d = 0; d < 2; ++d) { OK(cudaSetDevice(d)); OK(cudaMalloc(&cycles[d], 64)); } OK(cudaSetDevice(0)); OK(cudaMalloc(&sink, 64));
  for (int d = 0; d < 2; ++d) OK(cudaMemcpy(buf[d][0], ring.data(), ring.size() * 4, cudaMemcpyHostToDevice));
  for (int d = 0; d < 2; ++d) many(d ? "load_latency_peer_cycles" : "load_latency_own_cycles", 8 << 20, 20, [&] {
    OK(cudaSetDevice(0)); chase<<<1, 1, 0, s[0]>>>((unsigned*)buf[d][0], 1500, cycles[0], sink); OK(cudaStreamSynchronize(s[0])); long long c; OK(cudaMemcpy(&c, cycles[0], 8, cudaMemcpyDeviceToHost)); return double(c) / 1500; });
  many("flag_round_trip_cycles", 1000, 20, [&] {
    for (int d = 0; d < 2; ++d) { OK(cudaSetDevice(d)); OK(cudaMemset(buf[d][1], 0, 256)); OK(cudaDeviceSynchronize()); }
    for (int d = 0; d < 2; ++d) { OK(cudaSetDevice(d)); ping_pong<<<1, 1, 0, s[d]>>>((unsigned*)buf[d][1], (unsigned*)buf[1 - d][1], 1000, d == 0, cycles[d]); OK(cudaGetLastError()); }
    for (int d = 0; d < 2; ++d) { OK(cudaSetDevice(d)); OK(cudaStreamSynchronize(s[d])); }
    long long c; OK(cudaSetDevice(0)); OK(cudaMemcpy(&c, cycles[0], 8, cudaMemcpyDeviceToHost)); return double(c) / 1000; });
  fclose(out); return 0;
}
