// Which instructions of the tensor cores lower the SM's clock, how many of them, how soon, and for how long?
//
// Models:  128 threads on each of some SMs run chains of FFMA with a product of the tensor cores behind every so many of them
//          (mma.sync of halves, bfloat16, tf32, bytes, bits and doubles; wgmma of halves). For 4 ms, with a kernel of FFMA alone
//          before and behind: clock64 against globaltimer, in windows since the launch. And a fifth warp of each block reads both clocks
//          again and again while the others make a burst of products at one time, on all SMs or on one. `counters`: 20,000 to 120,000
//          cycles each, a kernel of FFMA alone in between, for the clock that ncu sees.
// Ignores: power near the board's limit.
// Source:  clock64, globaltimer; ncu's cycles a second.
#include <unistd.h>

#include <cstring>

#include "bench.cuh"
#include "wgmma_forms.cuh"

using namespace bench;

constexpr int kSamples = 512;
constexpr const char* kKinds[] = {"none", "f16", "f16_sums", "bf16", "tf32", "s8", "b1", "f64", "wgmma"};

struct Sample {
  unsigned long long clock, ns;
};

template <int kKind>
__device__ __forceinline__ void multiply(unsigned (&d)[4], float (&sums)[32], uint64_t descriptor) {
  const unsigned a = threadIdx.x;
  if constexpr (kKind == 1)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
  if constexpr (kKind == 2)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a));
  if constexpr (kKind == 3)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
  if constexpr (kKind == 4)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
  if constexpr (kKind == 5)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
  if constexpr (kKind == 6)
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a));
  if constexpr (kKind == 7) {
    double x = __hiloint2double(d[0], d[1]), y = __hiloint2double(d[2], d[3]), z = __hiloint2double(a, a);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};" : "+d"(x), "+d"(y) : "d"(z));
    d[0] = __double2hiint(x), d[1] = __double2loint(x), d[2] = __double2hiint(y), d[3] = __double2loint(y);
  }
  if constexpr (kKind == 8) {
    const uint32_t none[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    product<64, false>(sums, none, descriptor, descriptor);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
}

/// `rounds` times `period` FFMAs and a product, or for `duration` ns where that is not 0. Block 0 samples both clocks every `step` ns.
template <int kKind>
__global__ void __launch_bounds__(128)
    work(unsigned* sink, Sample* samples, int period, int rounds, unsigned long long duration, unsigned long long step) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  unsigned d[4] = {};
  float sums[32] = {}, x = static_cast<float>(threadIdx.x);
  const uint64_t descriptor = wgmma_descriptor(static_cast<uint32_t>(__cvta_generic_to_shared(tiles)));
  const unsigned long long begin = nanoseconds_now();
  unsigned long long next = begin;
  int taken = 0;
#pragma unroll 1
  for (int i = 0; duration != 0 || i < rounds; ++i) {
#pragma unroll 1
    for (int k = 0; k < period; k += 10) {
#pragma unroll
      for (int j = 0; j < 10; ++j) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    }
    multiply<kKind>(d, sums, descriptor);
    if (duration == 0) continue;
    const unsigned long long now = nanoseconds_now();
    const bool over = __syncthreads_or(now - begin >= duration);  // wgmma's four warps leave together
    if (blockIdx.x == 0 && threadIdx.x == 0 && now >= next && taken < kSamples) {
      samples[taken++] = {clock_now(), now};
      next += step;
    }
    if (over) break;
  }
  for (int j = 0; j < 32; ++j) x += sums[j];
  if (x == 0.12345f || d[0] + d[1] + d[2] + d[3] == 0x12345) *sink = 1;
}

constexpr int kTrace = 8192;

/// Warps 0 to 3 make `rounds` products from the next whole 65.5 us on, on SM `only` or where that is negative on all; warp 4 samples.
template <int kKind>
__global__ void __launch_bounds__(160) respond(unsigned* sink, Sample* trace, unsigned long long* at, int rounds, int only) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  const unsigned long long begin = nanoseconds_now(), target = ((begin >> 16) + 1) << 16;
  if (threadIdx.x >= 128) {
    if (threadIdx.x > 128) return;
    Sample* own = trace + static_cast<std::size_t>(blockIdx.x) * kTrace;
    at[2 * blockIdx.x] = target;
    at[2 * blockIdx.x + 1] = sm_id();
    while (nanoseconds_now() + 3000 < target) {}
    for (int i = 0; i < kTrace; ++i) own[i] = {clock_now(), nanoseconds_now()};
    return;
  }
  unsigned d[4] = {};
  float sums[32] = {}, x = static_cast<float>(threadIdx.x);
  const uint64_t descriptor = wgmma_descriptor(static_cast<uint32_t>(__cvta_generic_to_shared(tiles)));
  while (nanoseconds_now() < target) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  asm volatile("bar.sync 1, 128;" ::: "memory");
  if (only < 0 || sm_id() == static_cast<unsigned>(only)) {
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) multiply<kKind>(d, sums, descriptor);
  }
  for (int j = 0; j < 32; ++j) x += sums[j];
  if (x == 0.12345f || d[0] + d[1] + d[2] + d[3] == 0x12345) *sink = 1;
}
using Response = void (*)(unsigned*, Sample*, unsigned long long*, int, int);
constexpr Response kResponses[] = {respond<0>, respond<1>, respond<2>, respond<3>, respond<4>, respond<5>, respond<6>, respond<7>, respond<8>};

using Kernel = void (*)(unsigned*, Sample*, int, int, unsigned long long, unsigned long long);
constexpr Kernel kKernels[] = {work<0>, work<1>, work<2>, work<3>, work<4>, work<5>, work<6>, work<7>, work<8>};

/// The SM's clock in GHz between two times since the first sample, in us.
double clock_between(const std::vector<Sample>& s, double from, double to) {
  const Sample *first = nullptr, *last = nullptr;
  for (const Sample& each : s) {
    if (each.ns == 0) break;
    const double at = static_cast<double>(each.ns - s[0].ns) / 1e3;
    if (at >= from && !first) first = &each;
    if (at <= to) last = &each;
  }
  if (!first || !last || last <= first) return 0;
  return static_cast<double>(last->clock - first->clock) / static_cast<double>(last->ns - first->ns);
}

struct Runner {
  Buffer<unsigned> sink{1};
  Buffer<Sample> samples{kSamples};

  void launch(int kind, int sms, int period, int rounds, unsigned long long duration, Sample* to) {
    kKernels[kind]<<<sms, 128, 16384>>>(sink.get(), to, period, rounds, duration, 10000);
    CHECK(cudaGetLastError());
  }

  void timed(int kind, int sms, int period) {
    samples.zero();
    Buffer<Sample> other(kSamples);
    other.zero();
    usleep(3000);
    launch(0, sms, 300, 0, 2000000, other.get());
    launch(kind, sms, period, 0, 4000000, samples.get());
    other.zero();
    launch(0, sms, 300, 0, 4000000, other.get());
    CHECK(cudaDeviceSynchronize());
    const double edges[] = {0, 20, 50, 100, 200, 500, 1000, 2000, 4000};
    std::vector<double> during, behind;
    const std::vector<Sample> a = samples.download(), b = other.download();
    for (int i = 0; i + 1 < 9; ++i) {
      during.push_back(clock_between(a, edges[i], edges[i + 1]));
      behind.push_back(clock_between(b, edges[i], edges[i + 1]));
    }
    Answer("tensor_clock", "the SM's clock while products of the tensor cores are made, and in a kernel behind")
        .add_text("product", kKinds[kind]).add("sms", sms).add("instructions_between", period)
        .add("window_edges_us", std::vector<double>(edges, edges + 9)).add("clock_in_windows_ghz", during)
        .add("clock_behind_ghz", behind).print(clock_between(a, 1000, 4000), "GHz", 0);
  }

  void responded(int kind, int rounds, int only, int all) {
    Buffer<Sample> trace(static_cast<std::size_t>(all) * kTrace);
    Buffer<unsigned long long> at(2 * all);
    trace.zero();
    usleep(3000);
    launch(0, all, 300, 0, 2000000, samples.get());
    kResponses[kind]<<<all, 160, 16384>>>(sink.get(), trace.get(), at.get(), rounds, only);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const std::vector<Sample> t = trace.download();
    const std::vector<unsigned long long> a = at.download();
    constexpr double kFirst = -1.0, kStep = 0.25;
    constexpr int kBins = 40;
    std::vector<double> bins, sms(all);
    auto clock_of = [&](int block, double from, double to) {  // us since the products' time
      const Sample *first = nullptr, *last = nullptr;
      for (int i = 0; i < kTrace; ++i) {
        const Sample& s = t[static_cast<std::size_t>(block) * kTrace + i];
        const double time = (static_cast<double>(s.ns) - static_cast<double>(a[2 * block])) / 1e3;
        if (time >= from && !first) first = &s;
        if (time < to) last = &s;
      }
      return first && last && last > first ? static_cast<double>(last->clock - first->clock) / static_cast<double>(last->ns - first->ns) : 0;
    };
    for (int bin = 0; bin < kBins; ++bin) {
      std::vector<double> values;
      for (int block = 0; block < all; ++block)
        if (only < 0 || a[2 * block + 1] == static_cast<unsigned long long>(only))
          values.push_back(clock_of(block, kFirst + bin * kStep, kFirst + (bin + 1) * kStep));
      std::sort(values.begin(), values.end());
      bins.push_back(values[values.size() / 2]);
    }
    for (int block = 0; block < all; ++block) sms[a[2 * block + 1]] = clock_of(block, 0.5, 2);
    Answer answer("tensor_clock", "the SM's clock around a burst of products");
    answer.add_text("product", kKinds[kind]).add("products", rounds).add("only_on", only).add("first_us", kFirst).add("step_us", kStep).add("clock_ghz", bins);
    if (only >= 0) answer.add("clock_of_each_sm_ghz", sms);
    answer.print(rounds, "product", 0);
  }

  int number = 0;
  void counted(int kind, int sms, int period, int rounds) {
    launch(kind, sms, period, rounds, 0, samples.get());
    CHECK(cudaDeviceSynchronize());
    Answer("tensor_clock", "the clock that ncu sees of launches with products of the tensor cores")
        .add("launch", number++).add_text("product", kKinds[kind]).add("sms", sms).add("instructions_between", period).print(rounds, "product", 0);
  }
};

int main(int count, char** words) {
  Runner r;
  const int all = device().multiProcessorCount;
  if (count > 1 && !std::strcmp(words[1], "counters")) {
    for (int kind = 0; kind < 9; ++kind) {
      r.counted(kind, all, 30, 200);
      r.counted(kind, all, 3000, 8);
      r.counted(0, all, 3000, 4);
    }
    for (const int period : {300, 30000}) r.counted(1, all, period, 120000 / (4 * period) + 1);
    for (const int sms : {1, 16}) r.counted(1, sms, 30, 400);
    for (int i = 0; i < 4; ++i) r.counted(0, all, 3000, 8);
    return 0;
  }
  for (const int rounds : {1, 10, 100, 300, 1000}) r.responded(1, rounds, -1, all);
  for (int kind = 0; kind < 9; ++kind) r.responded(kind, 100, -1, all);
  for (const int sm : {0, 1, 2, 40}) r.responded(1, 100, sm, all);
  for (int kind = 0; kind < 9; ++kind)
    for (const int period : {0, 100, 3000, 30000}) r.timed(kind, all, period);
  for (const int period : {30, 50, 200, 300, 400, 500, 700, 1000, 1500, 2000, 6000, 10000}) r.timed(1, all, period);
  for (const int kind : {1, 8})
    for (const int sms : {1, 8, 33}) r.timed(kind, sms, 0);
  r.timed(1, all, 300000);
  return 0;
}
