// Which peer copies go side by side that one host thread asks for?
//   peer_order OUT.tsv [BYTES]
// Rows, tab separated: what, bytes, median us of 15 repeats, p10, p90. All devices' streams are held by a kernel until everything is in the queues;
// the time is from its end on device 0 to the end of the last copy on any device.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
__global__ void hold(long long ns) { long long b, t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b)); do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); while (t - b < ns); }
static int n = 0;
static std::vector<char*> from, to;
static std::vector<cudaStream_t> stream, second;
static std::vector<cudaEvent_t> done, done_second, held, mark;
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  FILE* out = fopen(argv[1], "a");
  const size_t bytes = argc > 2 ? strtoull(argv[2], nullptr, 0) : size_t{16} << 20;
  OK(cudaGetDeviceCount(&n));
  from.resize(n); to.resize(n); stream.resize(n); second.resize(n); done.resize(n); done_second.resize(n); held.resize(n); mark.resize(n);
  for (int d = 0; d < n; ++d) {
    OK(cudaSetDevice(d));
    for (int p = 0; p < n; ++p) if (p != d) OK(cudaDeviceEnablePeerAccess(p, 0));
    OK(cudaMalloc(&from[d], bytes)); OK(cudaMalloc(&to[d], bytes));
    OK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking)); OK(cudaStreamCreateWithFlags(&second[d], cudaStreamNonBlocking));
    for (auto* e : {&done[d], &done_second[d], &held[d], &mark[d]}) OK(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  }
  cudaEvent_t begin, end; OK(cudaSetDevice(0)); OK(cudaEventCreate(&begin)); OK(cudaEventCreate(&end));
  auto many = [&](const char* what, const std::function<void()>& copies) {
    std::vector<double> v;
    for (int i = 0; i < 17; ++i) {
      for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); OK(cudaDeviceSynchronize()); }
      OK(cudaSetDevice(0));
      hold<<<1, 1, 0, stream[0]>>>(1500000);
      OK(cudaEventRecord(held[0], stream[0]));
      OK(cudaEventRecord(begin, stream[0]));
      for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); if (d) OK(cudaStreamWaitEvent(stream[d], held[0])); OK(cudaStreamWaitEvent(second[d], held[0])); }
      copies();
      for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); OK(cudaEventRecord(done[d], stream[d])); OK(cudaEventRecord(done_second[d], second[d])); }
      OK(cudaSetDevice(0));
      for (int d = 0; d < n; ++d) { if (d) OK(cudaStreamWaitEvent(stream[0], done[d])); OK(cudaStreamWaitEvent(stream[0], done_second[d])); }
      OK(cudaEventRecord(end, stream[0])); OK(cudaEventSynchronize(end));
      float ms; OK(cudaEventElapsedTime(&ms, begin, end)); if (i >= 2) v.push_back(1000.0 * ms);
    }
    std::sort(v.begin(), v.end());
    fprintf(out, "%s\t%zu\t%.3f\t%.3f\t%.3f\n", what, bytes, v[7], v[1], v[13]); fflush(out);
  };
  auto push = [&](int d, int p, cudaStream_t s) { OK(cudaSetDevice(d)); OK(cudaMemcpyPeerAsync(to[p], p, from[d], d, bytes, s)); };
  auto unified = [&](int d, int p, cudaStream_t s) { OK(cudaSetDevice(d)); OK(cudaMemcpyAsync(to[p], from[d], bytes, cudaMemcpyDefault, s)); };
  fprintf(out, "# %d devices\n", n);
  many("nothing", [] {});
  many("one push", [&] { push(0, 1, stream[0]); });
  many("one push of device 1", [&] { push(1, 0, stream[1]); });
  many("one pull", [&] { push(1, 0, stream[0]); });
  many("two pushes of a stream", [&] { push(0, 1, stream[0]); push(0, 1, stream[0]); });
  many("two pushes of two streams of a device", [&] { push(0, 1, stream[0]); push(0, 1, second[0]); });
  many("a push and a pull of two streams of a device", [&] { push(0, 1, stream[0]); push(1, 0, second[0]); });
  many("a push each", [&] { push(0, 1, stream[0]); push(1, 0, stream[1]); });
  many("a push each, cudaMemcpyAsync", [&] { unified(0, 1, stream[0]); unified(1, 0, stream[1]); });
  many("a push each, an event between", [&] { push(0, 1, stream[0]); OK(cudaEventRecord(mark[0], stream[0])); push(1, 0, stream[1]); OK(cudaEventRecord(mark[1], stream[1])); });
  many("a push each, second streams", [&] { push(0, 1, second[0]); push(1, 0, second[1]); });
  many("a push each, two threads", [&] { std::thread other([&] { push(1, 0, stream[1]); }); push(0, 1, stream[0]); other.join(); });
  many("four pushes, by turns", [&] { for (int i = 0; i < 4; ++i) push(i % 2, 1 - i % 2, stream[i % 2]); });
  many("four pushes, two and two", [&] { for (int i = 0; i < 4; ++i) push(i / 2, 1 - i / 2, stream[i / 2]); });
  if (n > 2) {
    many("a push each to the next", [&] { for (int d = 0; d < n; ++d) push(d, (d + 1) % n, stream[d]); });
    many("a push of each pair", [&] { for (int d = 0; d + 1 < n; d += 2) push(d, d + 1, stream[d]); });
    many("pushes of one to all", [&] { for (int p = 1; p < n; ++p) push(0, p, p == 1 ? stream[0] : second[0]); });
    many("pushes of all to one", [&] { for (int d = 1; d < n; ++d) push(d, 0, stream[d]); });
  }
  fclose(out); return 0;
}
