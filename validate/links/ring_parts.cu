// Where does the time of ring_allreduce.cu go? The same ring, taken apart.
//   ring_parts OUT.tsv [BYTES]
// Rows, tab separated: what, part, devices, bytes, median us of 15 repeats, p10, p90. `whole`: between two events of device 0, as the program
// times itself. Other parts: between two events of the stream that does it, on the device that takes longest.
//   as it is; no additions: events and copies alone; no waits: additions and copies (sums are wrong); held: every stream waits behind a kernel of
//   3 ms until all has been asked for; awake: a kernel of 20 ms runs on every device just before; parts: events around each copy and addition.
//   rest: the host sleeps (or spins) for as long before each repeat; filled: arrays are copied from the host's memory before each repeat.
//   waits: a chain of empty records and waits that goes from device to device, by its length.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
__global__ void hold(long long ns) { long long b, t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b)); do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); while (t - b < ns); }
__global__ void add(float4* to, const float4* from, size_t count) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const float4 a = to[i], b = from[i];
    to[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
struct How { const char* name; bool adds = true, waits = true, held = false, awake = false, parts = false, filled = false; int sleep_ms = 0, spin_ms = 0; };
struct Timed { std::string part; int device; cudaEvent_t from, to; };
static int n = 0, blocks = 0;
static size_t bytes = 0, part = 0;
static FILE* out;
static std::vector<char> host;
static std::vector<char*> data, inbox[2];
static std::vector<cudaStream_t> stream;
static std::vector<cudaEvent_t> sent[2], used[2], done;
static cudaEvent_t begin_event, end_event, ready;
static std::vector<Timed> timed;

static cudaEvent_t event(int d, bool times) { OK(cudaSetDevice(d)); cudaEvent_t e; OK(cudaEventCreateWithFlags(&e, times ? cudaEventDefault : cudaEventDisableTiming)); return e; }
static void row(const char* what, const std::string& name, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  fprintf(out, "%s\t%s\t%d\t%zu\t%.3f\t%.3f\t%.3f\n", what, name.c_str(), n, bytes, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10]); fflush(out);
}
/// Its events are made once and found again by their place in the order.
template <class Do> static void one(const How& how, size_t& place, int d, const std::string& name, Do&& work) {
  if (how.parts && place == timed.size()) timed.push_back({name, d, event(d, true), event(d, true)});
  OK(cudaSetDevice(d));
  if (how.parts) OK(cudaEventRecord(timed[place].from, stream[d]));
  work();
  if (how.parts) OK(cudaEventRecord(timed[place++].to, stream[d]));
}
static void ring(const How& how) {
  size_t place = 0;
  const auto wait = [&](int d, cudaEvent_t e) { OK(cudaSetDevice(d)); if (how.waits) OK(cudaStreamWaitEvent(stream[d], e)); };
  const auto piece = [&](int owner, int d, int back) { return data[owner] + part * static_cast<size_t>(((d - back) % n + n) % n); };
  const auto next = [&](int d) { return (d + 1) % n; };
  const auto before = [&](int d) { return (d + n - 1) % n; };
  const auto send = [&](int d, char* to, char* from, int step) {
    one(how, place, d, "copy " + std::to_string(step), [&] { OK(cudaMemcpyPeerAsync(to, next(d), from, d, part, stream[d])); });
    OK(cudaEventRecord(sent[step % 2][d], stream[d]));
  };
  for (int step = 0; step < n - 1; ++step) {
    for (int d = 0; d < n; ++d) {
      if (step >= 2) wait(d, used[step % 2][next(d)]);
      send(d, inbox[step % 2][next(d)], piece(d, d, step), step);
    }
    for (int d = 0; d < n; ++d) {
      wait(d, sent[step % 2][before(d)]);
      if (how.adds)
        one(how, place, d, "addition " + std::to_string(step), [&] {
          add<<<blocks, 256, 0, stream[d]>>>(reinterpret_cast<float4*>(piece(d, d, step + 1)), reinterpret_cast<const float4*>(inbox[step % 2][d]), part / 16);
          OK(cudaGetLastError());
        });
      OK(cudaEventRecord(used[step % 2][d], stream[d]));
    }
  }
  for (int step = n - 1; step < 2 * (n - 1); ++step)
    for (int d = 0; d < n; ++d) {
      if (step >= n) wait(d, sent[(step - 1) % 2][before(d)]);
      send(d, piece(next(d), d, step - n), piece(d, d, step - n), step);
    }
  for (int d = 0; d < n; ++d) wait(d, sent[(2 * (n - 1) - 1) % 2][before(d)]);
}
/// The time between two events of device 0, around what all devices do.
template <class Do> static double whole(const How& how, Do&& work) {
  for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); if (how.filled) OK(cudaMemcpy(data[d], host.data(), bytes, cudaMemcpyHostToDevice)); }
  if (how.sleep_ms) std::this_thread::sleep_for(std::chrono::milliseconds(how.sleep_ms));
  for (const auto from = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - from < std::chrono::milliseconds(how.spin_ms);) {}
  for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); if (how.awake) hold<<<1, 1, 0, stream[d]>>>(20000000); }
  for (int d = 0; d < n; ++d) { OK(cudaSetDevice(d)); OK(cudaDeviceSynchronize()); }
  OK(cudaSetDevice(0));
  if (how.held) hold<<<1, 1, 0, stream[0]>>>(3000000);
  OK(cudaEventRecord(begin_event, stream[0])); OK(cudaEventRecord(ready, stream[0]));
  for (int d = 1; d < n; ++d) OK(cudaStreamWaitEvent(stream[d], ready));
  work();
  for (int d = 1; d < n; ++d) { OK(cudaSetDevice(d)); OK(cudaEventRecord(done[d], stream[d])); OK(cudaStreamWaitEvent(stream[0], done[d])); }
  OK(cudaSetDevice(0)); OK(cudaEventRecord(end_event, stream[0])); OK(cudaEventSynchronize(end_event));
  float ms; OK(cudaEventElapsedTime(&ms, begin_event, end_event)); return 1e3 * ms;
}
static void rings(const How& how) {
  std::vector<double> all; std::vector<std::string> names; std::vector<std::vector<double>> parts; timed.clear();
  for (int i = 0; i < 17; ++i) {
    const double us = whole(how, [&] { ring(how); });
    if (i < 2) continue;
    all.push_back(us);
    std::vector<double> longest;
    for (const Timed& t : timed) {
      float ms; OK(cudaSetDevice(t.device)); OK(cudaEventSynchronize(t.to)); OK(cudaEventElapsedTime(&ms, t.from, t.to));
      const size_t k = std::find(names.begin(), names.end(), t.part) - names.begin();
      if (k == names.size()) { names.push_back(t.part); parts.emplace_back(); }
      if (longest.size() <= k) longest.resize(k + 1);
      longest[k] = std::max(longest[k], 1e3 * ms);
    }
    for (size_t k = 0; k < longest.size(); ++k) parts[k].push_back(longest[k]);
  }
  row(how.name, "whole", all);
  for (size_t k = 0; k < names.size(); ++k) row(how.name, names[k], parts[k]);
}
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  out = fopen(argv[1], "a"); bytes = argc > 2 ? strtoull(argv[2], nullptr, 0) : size_t{64} << 20;
  OK(cudaGetDeviceCount(&n)); part = bytes / n; host.resize(bytes);
  if (!out || n < 2 || bytes == 0 || bytes % (16 * static_cast<size_t>(n)) != 0) return 2;
  data.resize(n); stream.resize(n); done.resize(n);
  for (auto* v : {&inbox[0], &inbox[1]}) v->resize(n);
  for (auto* v : {&sent[0], &sent[1], &used[0], &used[1]}) v->resize(n);
  for (int d = 0; d < n; ++d) {
    OK(cudaSetDevice(d));
    for (int p = 0; p < n; ++p) if (p != d) OK(cudaDeviceEnablePeerAccess(p, 0));
    OK(cudaMalloc(&data[d], bytes)); OK(cudaMemset(data[d], 0, bytes)); OK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    for (int i = 0; i < 2; ++i) { OK(cudaMalloc(&inbox[i][d], part)); OK(cudaMemset(inbox[i][d], 0, part)); sent[i][d] = event(d, false); used[i][d] = event(d, false); }
    done[d] = event(d, false);
  }
  begin_event = event(0, true); end_event = event(0, true); ready = event(0, false);
  int processors = 0; OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0)); blocks = 4 * processors;
  fprintf(out, "# %d devices\n", n);
  How how{"as it is"}; rings(how);
  how = {"no additions"}; how.adds = false; rings(how);
  how = {"no waits"}; how.waits = false; rings(how);
  how = {"no additions, no waits"}; how.adds = how.waits = false; rings(how);
  how = {"held"}; how.held = true; rings(how);
  how = {"held, no additions"}; how.held = true; how.adds = false; rings(how);
  how = {"awake"}; how.awake = true; rings(how);
  how = {"parts"}; how.parts = true; rings(how);
  how = {"parts, held"}; how.parts = how.held = true; rings(how);
  for (const int ms : {1, 10, 100}) {
    const std::string name = "rest " + std::to_string(ms);
    how = {name.c_str()}; how.sleep_ms = ms; how.parts = ms == 100; rings(how);
  }
  how = {"rest 100, spinning"}; how.spin_ms = 100; rings(how);
  how = {"rest 100, no additions"}; how.sleep_ms = 100; how.adds = false; rings(how);
  how = {"rest 100, held"}; how.sleep_ms = 100; how.held = true; rings(how);
  how = {"rest 100, awake"}; how.sleep_ms = 100; how.awake = true; rings(how);
  how = {"filled"}; how.filled = true; rings(how);
  how = {"filled, parts"}; how.filled = how.parts = true; rings(how);
  how = {"filled, rest 100"}; how.filled = true; how.spin_ms = 100; rings(how);
  how = {"filled, rest 100, parts"}; how.filled = how.parts = true; how.spin_ms = 100; rings(how);
  how = {"waits"}; how.held = true;
  for (int length : {1, 2, 3, 4, 8, 16, 32}) {
    std::vector<double> v;
    for (int i = 0; i < 17; ++i) {
      const double us = whole(how, [&] {
        for (int k = 0; k < length; ++k) {
          const int from = k % n, to = (k + 1) % n;
          OK(cudaSetDevice(from)); OK(cudaEventRecord(used[0][from], stream[from]));
          OK(cudaSetDevice(to)); OK(cudaStreamWaitEvent(stream[to], used[0][from]));
        }
      });
      if (i >= 2) v.push_back(us);
    }
    row("waits", std::to_string(length), v);
  }
  fclose(out); return 0;
}
