// What a kernel finds in the other device's memory: loads, stores and atomics by warps, by bytes of a line, cached or not; the judging points
// beside those that configs/links is fitted to. A row per point, tab separated: kind (ask or judge), name, what is given, median, p10, p90, repeats.
//
//     peer OUT.tsv ask|judge|fixed|events [REPEATS]      REPEATS 1: under foretrace run, ask without latencies by clocks
//
// fixed: what one launch takes beside its accesses, alone and of ten in a row (us of all ten).
// events: what two events, launches and a fill take in a process that knows one device, two, two of which one, then each, may reach the other
// (of one device only the first).
//
// Times are us of one launch between two events, behind a kernel that hides the calls; `cycles` are of the SM's clock, per access.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#define OK(x)                                                                                      \
  do {                                                                                             \
    const cudaError_t code_ = (x);                                                                 \
    if (code_ != cudaSuccess) fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)), exit(1); \
  } while (0)

__global__ void empty() {}
__global__ void spin(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {
  }
}
__global__ void long_kernel(int rounds, float* x) {
  float v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) v = fmaf(v, 0.999f, 0.25f);
  if (v < 0) *x = v;
}
/// Each thread's accesses one after another: from a line to the next, of which `lanes` are asked in each.
template <bool cached>
__global__ void chase(const unsigned* p, int steps, long long* cycles, unsigned* sink) {
  unsigned at = 0;
  for (int i = 0; i < 32; ++i) at = cached ? __ldca(p + at) : __ldcv(p + at);
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) at = cached ? __ldca(p + at) : __ldcv(p + at);
  cycles[0] = clock64() - begin, sink[0] = at;
}
__global__ void fence_behind(unsigned* p, int steps, long long* cycles) {
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) {
    p[i * 1024] = i;
    __threadfence_system();
  }
  cycles[0] = clock64() - begin;
}
__global__ void add_and_wait(unsigned* p, int steps, long long* cycles, unsigned* sink) {
  unsigned sum = 0;
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) sum = atomicAdd(p + (sum & 1) + i * 64, 2u);
  cycles[0] = clock64() - begin, sink[0] = sum;
}
/// Of each line of 128 bytes the first `bytes` are read, or written, a word per lane.
__global__ void read_part(const unsigned* p, unsigned* out, int lines, int words) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned sum = 0;
  for (int line = (blockIdx.x * blockDim.x + threadIdx.x) / 32; line < lines; line += 4 * warps) {
    unsigned v[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (lane < words && line + k * warps < lines) v[k] = p[size_t(line + k * warps) * 32 + lane];
    sum += v[0] + v[1] + v[2] + v[3];
  }
  if (sum == 0x12345678) *out = sum;
}
__global__ void write_part(unsigned* p, int lines, int words) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (int line = (blockIdx.x * blockDim.x + threadIdx.x) / 32; line < lines; line += warps)
    if (lane < words) p[size_t(line) * 32 + lane] = line;
}
__global__ void add_part(unsigned* p, int lines, int words) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (int line = (blockIdx.x * blockDim.x + threadIdx.x) / 32; line < lines; line += warps)
    if (lane < words) atomicAdd(p + size_t(line) * 32 + lane, 1u);
}
__global__ void add_one(unsigned* p, int each) {
  for (int i = 0; i < each; ++i) atomicAdd(p + (blockIdx.x % 4) * 64, 1u);
}
__global__ void read_again(const unsigned* p, unsigned* out, int words, int times) {
  unsigned sum = 0;
  for (int t = 0; t < times; ++t)
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += __ldca(p + i);
  if (sum == 0x12345678) *out = sum;
}

// Programs that judge.
__global__ void sum_of_both(const float4* mine, const float4* theirs, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 a = mine[i], b = theirs[i];
    out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
__global__ void gather(const float* table, const int* index, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = table[index[i]];
}
__global__ void scatter(float* table, const int* index, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) table[index[i]] = in[i];
}
__global__ void histogram(unsigned* bins, const int* index, int n, int mask) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + (index[i] & mask), 1u);
}
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = in[size_t(y + r) * n + x + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) out[size_t(x + r) * n + y + threadIdx.x] = tile[threadIdx.x][r];
}
/// A halo of a plane: the neighbour's first row beside what is the device's own.
__global__ void stencil(const float* mine, const float* theirs, float* out, int width, int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const float below = y + 1 < rows ? mine[size_t(y + 1) * width + x] : theirs[x];
  out[size_t(y) * width + x] = 0.5f * (mine[size_t(y) * width + x] + below);
}

static FILE* out;
static const char* kind;
static int repeats;
static cudaStream_t s[2];
static cudaEvent_t from[2], to[2];
static float* scratch[2];
static char* buffer[2][2];

static void row(const std::string& name, long given, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  fprintf(out, "%s\t%s\t%ld\t%.4f\t%.4f\t%.4f\t%zu\n", kind, name.c_str(), given, v[v.size() / 2], v[v.size() / 10],
          v[v.size() * 9 / 10], v.size());
  fflush(out);
}
/// us of the launch on device 0.
static void timed(const std::string& name, long given, const std::function<void()>& launch) {
  std::vector<double> v;
  const int warm = repeats > 1 ? 3 : 0;
  OK(cudaSetDevice(0));
  for (int i = 0; i < warm + repeats; ++i) {
    OK(cudaStreamSynchronize(s[0]));
    long_kernel<<<1, 32, 0, s[0]>>>(30000, scratch[0]);
    OK(cudaEventRecord(from[0], s[0]));
    launch();
    OK(cudaGetLastError());
    OK(cudaEventRecord(to[0], s[0]));
    OK(cudaStreamSynchronize(s[0]));
    float ms;
    OK(cudaEventElapsedTime(&ms, from[0], to[0]));
    if (i >= warm) v.push_back(ms * 1e3);
  }
  row(name, given, v);
}
static void cycles(const std::string& name, long given, int per, const std::function<void(long long*, unsigned*)>& launch) {
  std::vector<double> v;
  long long *mine = reinterpret_cast<long long*>(scratch[0]), said = 0;
  OK(cudaSetDevice(0));
  for (int i = 0; i < std::max(1, repeats / 4); ++i) {
    launch(mine, reinterpret_cast<unsigned*>(scratch[0]) + 8);
    OK(cudaStreamSynchronize(s[0]));
    OK(cudaMemcpy(&said, mine, sizeof said, cudaMemcpyDeviceToHost));
    v.push_back(double(said) / per);
  }
  row(name, given, v);
}
/// A ring of words, each names the next, `stride` bytes apart, `bytes` in all.
static void put_ring(char* memory, size_t bytes, size_t stride) {
  std::vector<unsigned> ring(bytes / 4, 0);
  const size_t steps = bytes / stride;
  for (size_t i = 0; i < steps; ++i) ring[i * stride / 4] = unsigned((i + 1) % steps * stride / 4);
  OK(cudaMemcpy(memory, ring.data(), bytes, cudaMemcpyHostToDevice));
}

static void ask() {
  unsigned *own = reinterpret_cast<unsigned*>(buffer[0][0]), *peer = reinterpret_cast<unsigned*>(buffer[1][0]);
  struct {
    const char* name;
    size_t bytes, stride;
  } const rings[] = {{"16K", 16 << 10, 128}, {"1M", 1 << 20, 4224}, {"8M", 8 << 20, 4224}, {"192M", 192 << 20, 69760}};
  for (const auto& ring : rings) {
    for (int d = 0; d < 2; ++d) put_ring(buffer[d][0], ring.bytes, ring.stride);
    const int steps = int(std::min<size_t>(2048, ring.bytes / ring.stride * 2));
    for (const bool cached : {false, true})
      for (unsigned* p : {own, peer})
        cycles(std::string(p == own ? "own" : "peer") + (cached ? " load cached " : " load ") + ring.name, long(ring.bytes), steps,
               [&](long long* c, unsigned* k) {
                 cached ? chase<true><<<1, 1, 0, s[0]>>>(p, steps, c, k) : chase<false><<<1, 1, 0, s[0]>>>(p, steps, c, k);
               });
  }
  for (unsigned* p : {own, peer}) {
    const std::string where = p == own ? "own " : "peer ";
    cycles(where + "store and fence", 256, 256, [&](long long* c, unsigned*) { fence_behind<<<1, 1, 0, s[0]>>>(p, 256, c); });
    cycles(where + "atomic", 256, 256, [&](long long* c, unsigned* k) { add_and_wait<<<1, 1, 0, s[0]>>>(p, 256, c, k); });
  }
  const int lines = 1 << 18;  // 32 MiB
  for (const int words : {8, 16, 24, 32}) {
    timed("read of each line, bytes", words * 4, [&] { read_part<<<528, 512, 0, s[0]>>>(peer, own, lines, words); });
    timed("write of each line, bytes", words * 4, [&] { write_part<<<528, 512, 0, s[0]>>>(peer, lines, words); });
    timed("add to each line, bytes", words * 4, [&] { add_part<<<528, 512, 0, s[0]>>>(peer, lines / 4, words); });
  }
  for (const int words : {1, 4}) {
    timed("write of each line, bytes", words * 4, [&] { write_part<<<528, 512, 0, s[0]>>>(peer, lines, words); });
    timed("add to each line, bytes", words * 4, [&] { add_part<<<528, 512, 0, s[0]>>>(peer, lines / 4, words); });
  }
  for (const int warps : {1, 2, 4, 8, 16, 32})
    for (const int blocks : {1, 8})
      timed("read of 1 MiB by blocks of " + std::to_string(blocks) + ", warps", warps,
            [&] { read_part<<<blocks, warps * 32, 0, s[0]>>>(peer, own, 8192, 32); });
  for (const int blocks : {4, 132, 528})
    timed("add to four words, 64 by each thread, blocks", blocks, [&] { add_one<<<blocks, 32, 0, s[0]>>>(peer, 64); });
  for (const int times : {1, 2, 8})
    timed("read of 16 KiB by one block, times", times, [&] { read_again<<<1, 256, 0, s[0]>>>(peer, own, 4096, times); });
}

static void fixed() {
  float *own = reinterpret_cast<float*>(buffer[0][0]), *peer = reinterpret_cast<float*>(buffer[1][0]);
  float *own2 = reinterpret_cast<float*>(buffer[0][1]), *peer2 = reinterpret_cast<float*>(buffer[1][1]);
  const struct {
    const char* name;
    float *from, *to;
  } ways[] = {{"own to own", own, own2}, {"peer to own", peer, own2}, {"own to peer", own, peer2}, {"peer to peer", peer, peer2}};
  timed("events alone", 0, [] {});
  for (const auto& way : ways)
    for (const int launches : {1, 2, 10})
      for (const int threads : {32, 4096, 262144})
        timed(std::string(way.name) + ", words " + std::to_string(threads) + ", launches", launches, [&] {
          for (int i = 0; i < launches; ++i)
            stencil<<<dim3((threads + 255) / 256, 1), std::min(threads, 256), 0, s[0]>>>(way.from, way.from, way.to, threads, 1);
        });
}

/// Between two events: nothing, empty kernels, a kernel that loads and stores 32 words, a fill.
static void events_in(const std::string& state) {
  float *own = reinterpret_cast<float*>(buffer[0][0]), *own2 = reinterpret_cast<float*>(buffer[0][1]);
  timed(state + ": two events", 0, [] {});
  for (const int launches : {1, 2, 10})
    timed(state + ": empty launches", launches, [&] {
      for (int i = 0; i < launches; ++i) empty<<<1, 32, 0, s[0]>>>();
    });
  timed(state + ": launch of 32 words", 1, [&] { stencil<<<1, 32, 0, s[0]>>>(own, own, own2, 32, 1); });
  timed(state + ": fill, bytes", 4096, [&] { OK(cudaMemsetAsync(own, 0, 4096, s[0])); });
  timed(state + ": copy, bytes", 4096, [&] { OK(cudaMemcpyAsync(own2, own, 4096, cudaMemcpyDeviceToDevice, s[0])); });
}

static void allocate(int device) {
  OK(cudaSetDevice(device));
  for (auto& x : buffer[device]) {
    OK(cudaMalloc(&x, 192 << 20));
    OK(cudaMemset(x, 0, 192 << 20));
  }
  OK(cudaMalloc(&scratch[device], 256));
  OK(cudaStreamCreateWithFlags(&s[device], cudaStreamNonBlocking));
  OK(cudaEventCreate(&from[device]));
  OK(cudaEventCreate(&to[device]));
  OK(cudaDeviceSynchronize());
}

static void may_reach(int device) {
  OK(cudaSetDevice(device));
  OK(cudaDeviceEnablePeerAccess(1 - device, 0));
}

/// Clocks up.
static void warm_up() {
  OK(cudaSetDevice(0));
  if (repeats == 1) return;
  spin<<<132, 32, 0, s[0]>>>(600000000);
  OK(cudaStreamSynchronize(s[0]));
}

static void events(int devices) {
  allocate(0);
  warm_up();
  events_in("one device");
  if (devices < 2) return;
  allocate(1);
  events_in("two devices");
  may_reach(0);
  events_in("first reaches second");
  may_reach(1);
  events_in("each reaches the other");
}

static void judge() {
  const int n = 3 << 20;
  float *own = reinterpret_cast<float*>(buffer[0][0]), *peer = reinterpret_cast<float*>(buffer[1][0]);
  float *own2 = reinterpret_cast<float*>(buffer[0][1]), *peer2 = reinterpret_cast<float*>(buffer[1][1]);
  std::vector<int> index(n);
  unsigned state = 12345;
  for (int& i : index) state = state * 1664525u + 1013904223u, i = int((state >> 8) % unsigned(n));
  int* list;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&list, n * sizeof(int)));
  OK(cudaMemcpy(list, index.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (const int blocks : {4, 24, 132, 792}) {
    const int elements = blocks < 100 ? 1 << 16 : n / 4;
    timed("sum of own and peer, blocks", blocks, [&] { sum_of_both<<<blocks, 256, 0, s[0]>>>((float4*)own, (float4*)peer, (float4*)own2, elements); });
    timed("sum of own into peer, blocks", blocks, [&] { sum_of_both<<<blocks, 256, 0, s[0]>>>((float4*)own, (float4*)own2, (float4*)peer, elements); });
  }
  for (const int count : {40000, 700000}) {
    timed("gather from peer, elements", count, [&] { gather<<<264, 256, 0, s[0]>>>(peer, list, own2, count); });
    timed("scatter to peer, elements", count, [&] { scatter<<<264, 256, 0, s[0]>>>(peer2, list, own, count); });
    timed("histogram of 65536 bins at peer, elements", count, [&] { histogram<<<264, 256, 0, s[0]>>>((unsigned*)peer2, list, count, 65535); });
  }
  timed("histogram of 64 bins at peer, elements", 100000, [&] { histogram<<<132, 256, 0, s[0]>>>((unsigned*)peer2, list, 100000, 63); });
  timed("transpose from peer, width", 1024, [&] { transpose<<<dim3(32, 32), dim3(32, 8), 0, s[0]>>>(peer, own2, 1024); });
  timed("transpose to peer, width", 1024, [&] { transpose<<<dim3(32, 32), dim3(32, 8), 0, s[0]>>>(own, peer2, 1024); });
  timed("halo from peer, width", 2048, [&] { stencil<<<dim3(8, 512), 256, 0, s[0]>>>(own, peer, own2, 2048, 512); });
  timed("copy from peer to peer, elements", 1 << 18, [&] { sum_of_both<<<264, 256, 0, s[0]>>>((float4*)peer, (float4*)peer, (float4*)peer2, 1 << 18); });
  // All-reduce by loads and stores: each device sums its half and writes it to both. Here one after the other, each timed.
  for (const int elements : {1 << 14, 1 << 18}) {
    const int half = elements / 2;
    timed("reduce of the own half and store to both, elements", elements, [&] {
      sum_of_both<<<132, 256, 0, s[0]>>>((float4*)own, (float4*)peer, (float4*)own2, half);
      sum_of_both<<<132, 256, 0, s[0]>>>((float4*)own2, (float4*)own, (float4*)peer2, half);
    });
  }
}

int main(int argc, char** argv) {
  if (argc < 3 || (out = fopen(argv[1], "w")) == nullptr) return fprintf(stderr, "peer OUT.tsv ask|judge|fixed|events [REPEATS]\n"), 1;
  kind = argv[2];
  repeats = argc > 3 ? atoi(argv[3]) : 60;
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  if (devices < 2 && strcmp(kind, "events") != 0) return fprintf(stderr, "needs two devices\n"), 1;
  if (strcmp(kind, "events") == 0) {
    events(devices);
  } else {
    for (int d = 0; d < 2; ++d) may_reach(d), allocate(d);
    warm_up();
    strcmp(kind, "ask") == 0 ? ask() : strcmp(kind, "judge") == 0 ? judge() : fixed();
  }
  fclose(out);
  return 0;
}
