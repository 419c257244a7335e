// What do constants cost that all warps of many SMs ask for at once?
//
// Models:  one block an SM on a chosen set of SMs; its warps start together and walk through a table, or the kernel's parameters, by an
//          index that all lanes share (ULDC). The first pass and the later ones.
//          With the word "counters": single launches, to be run under ncu, whose warps take one, two or four lines of the parameters before
//          or behind straight code.
// Ignores: lanes on different words (indexed_constants.cu, constant_sharing.cu).
// Source:  the SMs' clocks; counters of ncu, caches flushed.
#include <cstring>

#include "bench.cuh"
#include "sm_groups.h"

using namespace bench;

constexpr int kShared = 200 * 1024, kPasses = 4;
__constant__ unsigned long long table[32 * 1024 / 8];

struct Words {
  unsigned long long word[480];
};
struct Passes {
  unsigned cycles[kPasses];
};

/// Sums of every `kStep`th word of the table, or of the parameters.
template <int kStep, bool kParameters>
__global__ void __launch_bounds__(1024) walk(int words, const __grid_constant__ Words parameters, const unsigned char* active, Passes* out,
                                             unsigned* sink) {
  extern __shared__ char whole_sm[];
  const unsigned sm = sm_id();
  if (!active[sm]) return;
  unsigned long long sum = threadIdx.x;
  Passes times;
#pragma unroll 1
  for (int p = 0; p < kPasses; ++p) {
    __syncthreads();
    const unsigned long long t0 = clock_now();
#pragma unroll 4
    for (int i = 0; i < words; i += kStep) sum = (sum ^ (sum >> 7)) + (kParameters ? parameters.word[i] : table[i]);
    asm volatile("" ::"l"(sum) : "memory");
    times.cycles[p] = static_cast<unsigned>(clock_now() - t0);
  }
  if (sum == 0x12345) *sink = static_cast<unsigned>(sum) + static_cast<unsigned>(whole_sm[0]);
  if (threadIdx.x % 32 == 0) out[sm * 32 + threadIdx.x / 32] = times;
}

/// The first constants of a launch: `kLines` lines of the parameters, and `kCode` instructions before them or, negative, behind them.
template <int kLines, int kCode>
__global__ void __launch_bounds__(1024) first(const __grid_constant__ Words words, float* sink) {
  float x = static_cast<float>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kCode; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
#pragma unroll
  for (int i = 0; i < kLines; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x) : "f"(__uint_as_float(static_cast<unsigned>(words.word[32 + 8 * i]))));
#pragma unroll
  for (int i = 0; i < -kCode; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  if (x == 0.12345f) *sink = x;
}

struct Runner {
  int sms = device().multiProcessorCount, launch = 0;
  Buffer<unsigned char> active{static_cast<std::size_t>(sms)};
  Buffer<Passes> out{static_cast<std::size_t>(sms) * 32};
  Buffer<float> sink{1};
  Words words = {};

  void select(const std::vector<int>& which) {
    std::vector<unsigned char> flags(static_cast<std::size_t>(sms), 0);
    for (const int sm : which) flags[static_cast<std::size_t>(sm)] = 1;
    active.upload(flags);
  }
  /// Cycles of each pass and its `steps`, mean over the warps of the SMs at work.
  void tell(const char* what, const char* name, std::size_t sm_count, unsigned bytes, unsigned stride, unsigned warps,
            double steps) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum[kPasses] = {}, most[kPasses] = {};
    double n = 0;
    for (const Passes& p : out.download()) {
      if (p.cycles[0] == 0) continue;
      ++n;
      for (int i = 0; i < kPasses; ++i) {
        sum[i] += p.cycles[i];
        most[i] = std::max(most[i], static_cast<double>(p.cycles[i]));
      }
    }
    Answer("constant_crowds", "walks through constants by an index that all lanes share (ULDC): cycles a word")
        .add_text("constants", what)
        .add_text("sms", name)
        .add("sm_count", static_cast<double>(sm_count))
        .add("bytes", bytes)
        .add("stride", stride)
        .add("warps", warps)
        .add("first_pass", sum[0] / n / steps)
        .add("second_pass", sum[1] / n / steps)
        .add("slowest_warp", most[3] / steps)
        .print(sum[3] / n / steps, "cycle", 0);
    CHECK(cudaMemset(out.get(), 0, sizeof(Passes) * static_cast<std::size_t>(sms) * 32));
  }
  template <int kStep, bool kParameters>
  void walks(const char* name, std::size_t sm_count) {
    const auto kernel = walk<kStep, kParameters>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    for (const unsigned bytes : {256u, 512u, 1024u, 2048u, 3584u, 8192u, 32768u}) {
      if (kParameters && bytes > sizeof words) continue;
      for (const unsigned warps : {1u, 4u, 8u, 32u}) {
        kernel<<<static_cast<unsigned>(sms), 32 * warps, kShared>>>(static_cast<int>(bytes / 8), words, active.get(), out.get(),
                                                                    reinterpret_cast<unsigned*>(sink.get()));
        tell(kParameters ? "parameters" : "table", name, sm_count, bytes, 8 * kStep, warps, bytes / 8.0 / kStep);
      }
    }
  }
  void sets() {
    const std::vector<int> gpc = gpc_of_sms();
    std::vector<std::vector<int>> members(static_cast<std::size_t>(sms));
    for (int i = 0; i < sms; ++i) members[static_cast<std::size_t>(gpc[static_cast<std::size_t>(i)])].push_back(i);
    const std::vector<int> one =
        *std::max_element(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<int> tpc, all(static_cast<std::size_t>(sms));
    for (const int sm : one) {
      if (sm / 2 == one[0] / 2) tpc.push_back(sm);
    }
    std::iota(all.begin(), all.end(), 0);
    CHECK(cudaMemset(out.get(), 0, sizeof(Passes) * static_cast<std::size_t>(sms) * 32));
    const std::pair<const char*, std::vector<int>> chosen[] = {{"one SM", {one[0]}}, {"a TPC", tpc}, {"a GPC", one}, {"all", all}};
    for (const auto& [name, which] : chosen) {
      select(which);
      walks<1, false>(name, which.size());
      walks<8, false>(name, which.size());
      walks<8, true>(name, which.size());
    }
  }
  /// Passes through a table, each launch for itself.
  template <int kStep, bool kParameters>
  void walks_alone() {
    std::vector<int> all(static_cast<std::size_t>(sms));
    std::iota(all.begin(), all.end(), 0);
    select(all);
    for (const unsigned bytes : {256u, 512u, 1024u, 2048u, 3584u}) {
      for (const unsigned warps : {1u, 4u}) {
        walk<kStep, kParameters><<<1, 32 * warps>>>(static_cast<int>(bytes / 8), words, active.get(), out.get(),
                                                     reinterpret_cast<unsigned*>(sink.get()));
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Answer("first_constants", "four passes of warps of one SM through constants by an index that lanes share")
            .add("launch", launch++).add("parameters", kParameters).add("stride", 8 * kStep).add("warps", warps)
            .print(bytes, "byte", 0);
      }
    }
  }
  template <int kLines, int kCode>
  void firsts() {
    for (const unsigned warps : {1u, 4u, 8u, 32u}) {
      for (const unsigned blocks : {1u, 132u, 1056u}) {
        first<kLines, kCode><<<blocks, 32 * warps>>>(words, sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Answer("first_constants", "the first lines of the parameters that a launch's warps take")
            .add("launch", launch++).add("lines", kLines).add("code", kCode).add("warps", warps)
            .print(blocks, "block", 0);
      }
    }
  }
};

int main(int argc, char** argv) {
  Runner r;
  if (argc > 1 && std::strcmp(argv[1], "counters") == 0) {
    r.firsts<1, 8>();
    r.firsts<2, 8>();
    r.firsts<4, 8>();
    r.firsts<2, 256>();
    r.firsts<2, -256>();
    r.firsts<2, 1500>();
    r.firsts<2, -1500>();
    r.firsts<4, 700>();
    r.firsts<4, 850>();
    r.firsts<4, 1000>();
    r.firsts<4, 1200>();
    r.firsts<4, 3000>();
    r.walks_alone<1, false>();
    r.walks_alone<2, false>();
    r.walks_alone<4, false>();
    r.walks_alone<8, false>();
    r.walks_alone<8, true>();
  } else {
    r.sets();
  }
  return 0;
}
