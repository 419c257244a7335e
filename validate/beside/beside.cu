// Pairs of kernels side by side: each kernel's own time, by its blocks' clock reads, alone and beside the other in a second stream.
//
//   beside [REPEATS] [second]     one JSON line a pair: medians, us; needs a device
//   beside trace [second]         each pair's two kernels once, in order, for `foretrace run --trace`
//
// The time of a kernel is from the first block's begin to the last block's end (%globaltimer); `mhz` is what %clock64 counted by that. L2 is
// swept before each measurement. Both kernels of a pair wait for the same event behind a kernel that spins, so that both are queued by then; the
// second one comes after another that spins for 4,000 cycles, so that it is the second: about 3 us later. In the first set that spinning warp
// stands back behind a first kernel that keeps the schedulers busy, sometimes until that has ended; in the second set it spins for 6,000 cycles from
// before the first kernel on, which itself comes after one of 500.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(x)                                                                \
  do {                                                                       \
    cudaError_t code_ = (x);                                                 \
    if (code_ != cudaSuccess) {                                              \
      fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_));            \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

struct Stamp {
  unsigned long long from, to, cycles, sm;
};

__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ unsigned long long cycle() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
  return t;
}

struct Watch {
  unsigned long long from, cycles;
};
__device__ Watch begin() { return {now(), cycle()}; }
__device__ void end(const Watch& watch, Stamp* stamps) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  stamps[blockIdx.x] = {watch.from, now(), cycle() - watch.cycles, sm};
}

// Four chains of multiply-adds a thread.
__global__ void compute(float* out, long rounds, Stamp* stamps) {
  const Watch watch = begin();
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (long r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      a = fmaf(a, 0.999f, 0.25f), b = fmaf(b, 0.999f, 0.25f), c = fmaf(c, 0.999f, 0.25f), d = fmaf(d, 0.999f, 0.25f);
    }
  }
  if (a + b + c + d == 12345.f) out[0] = a;
  end(watch, stamps);
}

// Reads `count` float4 a block, one after the other: from DRAM.
__global__ void stream(const float4* in, float* out, long count, Stamp* stamps) {
  const Watch watch = begin();
  const float4* from = in + blockIdx.x * count;
  float sum = 0;
#pragma unroll 4
  for (long i = threadIdx.x; i < count; i += blockDim.x) {
    const float4 v = __ldcg(from + i);
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 12345.f) out[0] = sum;
  end(watch, stamps);
}

// Reads 4 MiB again and again, each block from another place: from L2.
__global__ void level2(const float4* in, float* out, long count, Stamp* stamps) {
  const Watch watch = begin();
  constexpr unsigned kMask = (4u << 20) / 16 - 1;
  unsigned at = blockIdx.x * 4099u + threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (long i = 0; i < count; ++i) {
    const float4 v = __ldcg(in + (at & kMask));
    sum += v.x + v.y + v.z + v.w;
    at += 16 * blockDim.x;
  }
  if (sum == 12345.f) out[0] = sum;
  end(watch, stamps);
}

// Loads from shared memory, 16 bytes a thread.
__global__ void local(float* out, long rounds, unsigned bytes, Stamp* stamps) {
  extern __shared__ float4 tile[];
  const Watch watch = begin();
  const unsigned mask = bytes / 16 - 1;
  for (unsigned i = threadIdx.x; i <= mask; i += blockDim.x) tile[i] = make_float4(i, 1, 2, 3);
  __syncthreads();
  float sum = 0;
  unsigned at = threadIdx.x;
  for (long r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 v = tile[at & mask];
      sum += v.x + v.w;
      at += blockDim.x;
    }
  }
  if (sum == 12345.f) out[0] = sum;
  end(watch, stamps);
}

// Reads, 16 multiply-adds an element, writes.
__global__ void mixed(const float* in, float* out, long count, Stamp* stamps) {
  const Watch watch = begin();
  const long first = blockIdx.x * count;
  for (long i = threadIdx.x; i < count; i += blockDim.x) {
    float v = in[first + i];
#pragma unroll
    for (int k = 0; k < 16; ++k) v = fmaf(v, 0.999f, 0.25f);
    out[first + i] = v;
  }
  end(watch, stamps);
}

// Follows links: each step waits for the one before.
__global__ void chase(const unsigned* links, float* out, long steps, Stamp* stamps) {
  const Watch watch = begin();
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  for (long i = 0; i < steps; ++i) at = __ldcg(links + at);
  if (at == 12345u) out[0] = at;
  end(watch, stamps);
}

__global__ void spin(long cycles) {
  const unsigned long long from = cycle();
  while (cycle() - from < static_cast<unsigned long long>(cycles)) {}
}
__global__ void sweep(const float4* in, float* out, long count) {
  float sum = 0;
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += static_cast<long>(gridDim.x) * blockDim.x) sum += in[i].x;
  if (sum == 12345.f) out[0] = sum;
}

enum Kind { kCompute, kStream, kLevel2, kLocal, kMixed, kChase };
const char* const kNames[] = {"compute", "stream", "level2", "local", "mixed", "chase"};
const int kSms = 132;

// `per_sm`: its blocks that an SM holds; `percent` of 132 SMs full of them.
struct Kernel {
  Kind kind;
  int block, shared, per_sm, percent;
  long work;
  int grid() const { return std::max(1, kSms * per_sm * percent / 100); }
};
struct Pair {
  Kernel a, b;
};

// Work: rounds of compute (32 multiply-adds a thread) and local (4 loads), float4 a block (stream), elements a block (mixed), loads a thread.
const Pair kPairs[] = {
    {{kCompute, 256, 0, 8, 50, 240}, {kCompute, 256, 0, 8, 50, 240}},
    {{kCompute, 256, 0, 8, 100, 120}, {kCompute, 256, 0, 8, 100, 120}},
    {{kCompute, 1024, 0, 2, 50, 240}, {kCompute, 1024, 0, 2, 150, 120}},
    {{kCompute, 128, 48 << 10, 4, 25, 1200}, {kCompute, 1024, 0, 2, 50, 240}},
    {{kStream, 256, 0, 8, 50, 8192}, {kStream, 256, 0, 8, 50, 8192}},
    {{kStream, 256, 0, 8, 100, 6144}, {kStream, 512, 0, 4, 100, 12288}},
    {{kStream, 1024, 0, 2, 200, 16384}, {kStream, 256, 0, 8, 10, 8192}},
    {{kCompute, 256, 0, 8, 50, 240}, {kStream, 256, 0, 8, 50, 8192}},
    {{kCompute, 1024, 0, 2, 100, 160}, {kStream, 256, 0, 8, 50, 8192}},
    {{kStream, 256, 0, 8, 75, 8192}, {kCompute, 128, 48 << 10, 4, 75, 600}},
    {{kStream, 256, 0, 8, 50, 8192}, {kLevel2, 256, 0, 8, 50, 128}},
    {{kLevel2, 256, 0, 8, 50, 128}, {kLevel2, 512, 0, 4, 50, 128}},
    {{kLocal, 256, 32 << 10, 6, 50, 100}, {kCompute, 256, 0, 8, 50, 240}},
    {{kLocal, 256, 32 << 10, 6, 100, 60}, {kLocal, 128, 64 << 10, 3, 50, 200}},
    {{kMixed, 256, 0, 8, 50, 16384}, {kMixed, 512, 0, 4, 50, 32768}},
    {{kMixed, 256, 0, 8, 200, 8192}, {kCompute, 256, 0, 8, 20, 400}},
    {{kCompute, 64, 192 << 10, 1, 10, 2400}, {kStream, 256, 0, 8, 100, 6144}},
    {{kChase, 64, 0, 32, 50, 18}, {kStream, 512, 0, 4, 100, 12288}},
};

const Pair kSecond[] = {
    {{kCompute, 512, 0, 4, 50, 200}, {kMixed, 128, 0, 16, 50, 8192}},
    {{kMixed, 512, 0, 4, 100, 16384}, {kStream, 128, 0, 16, 25, 4096}},
    {{kStream, 512, 0, 4, 50, 8192}, {kLocal, 512, 16 << 10, 4, 50, 100}},
    {{kChase, 128, 0, 16, 25, 24}, {kCompute, 256, 0, 8, 75, 160}},
    {{kLevel2, 1024, 0, 2, 50, 64}, {kCompute, 512, 0, 4, 50, 200}},
    {{kCompute, 256, 64 << 10, 3, 100, 200}, {kCompute, 128, 0, 16, 10, 300}},
    {{kStream, 256, 96 << 10, 2, 100, 16384}, {kLocal, 256, 16 << 10, 8, 50, 60}},
    {{kMixed, 1024, 0, 2, 150, 16384}, {kMixed, 64, 0, 32, 50, 4096}},
    {{kLocal, 128, 64 << 10, 3, 100, 150}, {kStream, 256, 0, 8, 100, 4096}},
    {{kCompute, 1024, 0, 2, 200, 120}, {kCompute, 256, 0, 8, 100, 120}},
    {{kChase, 64, 0, 32, 100, 10}, {kLevel2, 256, 0, 8, 50, 64}},
    {{kStream, 1024, 0, 2, 50, 16384}, {kCompute, 64, 0, 32, 50, 200}},
    {{kMixed, 256, 0, 8, 50, 16384}, {kStream, 512, 0, 4, 50, 12288}},
    {{kLocal, 256, 32 << 10, 6, 25, 200}, {kLocal, 256, 32 << 10, 6, 50, 150}},
};

struct Memory {
  float4* in = nullptr;
  float* out = nullptr;
  unsigned* links = nullptr;
  Stamp* stamps = nullptr;
};
const long kBytes = 160L << 20, kLinks = 64L << 20;
const int kStamps = 1 << 14;

void launch(const Kernel& k, const Memory& m, cudaStream_t s) {
  const int g = k.grid();
  switch (k.kind) {
    case kCompute: compute<<<g, k.block, k.shared, s>>>(m.out, k.work, m.stamps); break;
    case kStream: stream<<<g, k.block, k.shared, s>>>(m.in, m.out, k.work, m.stamps); break;
    case kLevel2: level2<<<g, k.block, k.shared, s>>>(m.in, m.out, k.work, m.stamps); break;
    case kLocal: local<<<g, k.block, k.shared, s>>>(m.out, k.work, k.shared, m.stamps); break;
    case kMixed: mixed<<<g, k.block, k.shared, s>>>(reinterpret_cast<const float*>(m.in), m.out, k.work, m.stamps); break;
    case kChase: chase<<<g, k.block, k.shared, s>>>(m.links, m.out, k.work, m.stamps); break;
  }
  OK(cudaGetLastError());
}

struct Seen {
  double from, to, mhz;
};
Seen read(const Kernel& k, const Memory& m) {
  std::vector<Stamp> stamps(k.grid());
  OK(cudaMemcpy(stamps.data(), m.stamps, stamps.size() * sizeof(Stamp), cudaMemcpyDeviceToHost));
  unsigned long long from = ~0ull, to = 0;
  double cycles = 0, ns = 0;
  for (const Stamp& s : stamps) {
    from = std::min(from, s.from), to = std::max(to, s.to);
    cycles += static_cast<double>(s.cycles), ns += static_cast<double>(s.to - s.from);
  }
  return {static_cast<double>(from), static_cast<double>(to), cycles / ns * 1e3};
}

double at(std::vector<double> v, double part) {
  std::sort(v.begin(), v.end());
  return v[static_cast<size_t>(part * static_cast<double>(v.size() - 1))];
}

void print(const char* name, const Kernel& k) {
  printf("\"%s\": {\"kernel\": \"%s\", \"block\": %d, \"shared\": %d, \"grid\": %d, \"percent\": %d, \"work\": %ld}, ", name, kNames[k.kind], k.block,
         k.shared, k.grid(), k.percent, k.work);
}
void print(const char* name, const std::vector<double>& v) {
  printf("\"%s\": %.3f, \"%s_p10\": %.3f, \"%s_p90\": %.3f, ", name, at(v, 0.5), name, at(v, 0.1), name, at(v, 0.9));
}

int main(int argc, char** argv) {
  const bool trace = argc > 1 && std::strcmp(argv[1], "trace") == 0;
  const bool second = argc > 2 && std::strcmp(argv[2], "second") == 0;
  const std::vector<Pair> pairs = second ? std::vector<Pair>(std::begin(kSecond), std::end(kSecond)) : std::vector<Pair>(std::begin(kPairs), std::end(kPairs));
  const int repeats = trace || argc < 2 ? 101 : std::max(1, atoi(argv[1]));
  Memory m[2];
  for (Memory& x : m) {
    OK(cudaMalloc(&x.in, kBytes));
    OK(cudaMalloc(&x.out, kBytes));
    OK(cudaMalloc(&x.links, kLinks));
    OK(cudaMalloc(&x.stamps, kStamps * sizeof(Stamp)));
    OK(cudaMemset(x.in, 0, kBytes));
    // A random cycle over places 32 bytes apart.
    const unsigned n = static_cast<unsigned>(kLinks / 32);
    std::vector<unsigned> links(kLinks / 4, 0);
    for (unsigned i = 0; i < n; ++i) links[8 * i] = 8 * ((i * 1664525u + 1013904223u) & (n - 1));
    OK(cudaMemcpy(x.links, links.data(), kLinks, cudaMemcpyHostToDevice));
  }
  OK(cudaFuncSetAttribute(compute, cudaFuncAttributeMaxDynamicSharedMemorySize, 192 << 10));
  OK(cudaFuncSetAttribute(stream, cudaFuncAttributeMaxDynamicSharedMemorySize, 192 << 10));
  OK(cudaFuncSetAttribute(local, cudaFuncAttributeMaxDynamicSharedMemorySize, 192 << 10));
  if (trace) {
    for (const Pair& p : pairs) {
      launch(p.a, m[0], nullptr);
      launch(p.b, m[1], nullptr);
    }
    OK(cudaDeviceSynchronize());
    return 0;
  }
  float4* swept = nullptr;
  OK(cudaMalloc(&swept, kBytes));
  OK(cudaMemset(swept, 0, kBytes));
  cudaStream_t first, s[2];
  OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  for (cudaStream_t& x : s) OK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  cudaEvent_t ready;
  OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  // Launches those of the two whose bit is set.
  auto once = [&](const Pair& p, int which) {
    sweep<<<264, 1024, 0, first>>>(swept, m[0].out, kBytes / 16);
    spin<<<1, 1, 0, first>>>(60000);
    OK(cudaEventRecord(ready, first));
    for (int i = 0; i < 2; ++i) {
      if ((which >> i & 1) != 0) OK(cudaStreamWaitEvent(s[i], ready, 0));
    }
    if (second && (which & 2) != 0) spin<<<1, 1, 0, s[1]>>>(6000);
    if (second && (which & 1) != 0) spin<<<1, 1, 0, s[0]>>>(500);
    for (int i = 0; i < 2; ++i) {
      if ((which >> i & 1) == 0) continue;
      if (i == 1 && !second) spin<<<1, 1, 0, s[i]>>>(4000);
      launch(i == 0 ? p.a : p.b, m[i], s[i]);
    }
    OK(cudaDeviceSynchronize());
  };
  int number = 0;
  for (const Pair& p : pairs) {
    std::vector<double> alone[2], beside[2], mhz, later, together;
    for (int r = -3; r < repeats; ++r) {
      Seen seen[2];
      for (int i = 0; i < 2; ++i) {
        once(p, 1 << i);
        const Seen own = read(i == 0 ? p.a : p.b, m[i]);
        if (r >= 0) alone[i].push_back((own.to - own.from) * 1e-3);
      }
      once(p, 3);
      for (int i = 0; i < 2; ++i) seen[i] = read(i == 0 ? p.a : p.b, m[i]);
      if (r < 0) continue;
      for (int i = 0; i < 2; ++i) beside[i].push_back((seen[i].to - seen[i].from) * 1e-3);
      mhz.push_back(seen[0].mhz);
      later.push_back((seen[1].from - seen[0].from) * 1e-3);
      together.push_back((std::max(seen[0].to, seen[1].to) - std::min(seen[0].from, seen[1].from)) * 1e-3);
    }
    printf("{\"pair\": %d, ", number++);
    print("a", p.a), print("b", p.b);
    print("alone_a", alone[0]), print("alone_b", alone[1]), print("beside_a", beside[0]), print("beside_b", beside[1]);
    print("b_later", later), print("together", together);
    printf("\"mhz\": %.0f, \"repeats\": %d}\n", at(mhz, 0.5), repeats);
    fflush(stdout);
  }
  return 0;
}
