// What do global atomics cost when warps of the whole chip meet on few words, and which words share a unit?
//
// Models:  `random`: every lane of every SM takes a random word of a small set each time, as a histogram does.
//          `pair`: one SM works on a word, another on a second one at a distance: at half the rate they share a unit.
//          `waiting`: the latency of an atomic that returns while so many SMs do the same on one word, one sector, one
//          line, or lines of their own.
// Ignores: the loads that a histogram makes.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

__device__ __forceinline__ unsigned scatter(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// `apart`: each SM has a set of its own.
template <bool kReturns>
__global__ void __launch_bounds__(1024)
    random_words(unsigned* base, unsigned words, unsigned apart, int count, Stamp* out, unsigned* sink) {
  unsigned sum = 0, state = scatter(blockIdx.x * blockDim.x + threadIdx.x + 1);
  unsigned* set = base + static_cast<std::size_t>(blockIdx.x) * apart;
  __syncthreads();
  const unsigned long long t0 = clock_now();
#pragma unroll 4
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    unsigned* p = set + (static_cast<unsigned long long>(state) * words >> 32);
    if constexpr (kReturns) {
      unsigned v;
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
      sum ^= v;
    } else {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
    }
  }
  if (sum == 0x7fffffff) *sink = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

template <bool kReturns>
void ask_random(unsigned* memory, unsigned words, unsigned apart, int blocks, int threads, Buffer<Stamp>& out, unsigned* sink) {
  const int count = blocks == 1 ? 128 : 32;
  std::vector<double> rates, slowest;
  for (int r = 0; r < 4; ++r) {
    random_words<kReturns><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(memory, words, apart, count, out.get(), sink);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0, most = 0;
    for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) {
      const double cycles = static_cast<double>(s.stop - s.start);
      sum += cycles / blocks;
      most = std::max(most, cycles);
    }
    const double lanes = static_cast<double>(blocks) * threads * count;
    if (r) rates.push_back(lanes / sum), slowest.push_back(lanes / most);
  }
  Answer("atomic_words", "lane atomics a SM cycle of all SMs together on random words of a set")
      .add_text("operation", kReturns ? "ATOM.ADD" : "RED.ADD")
      .add("words", words)
      .add("set_of_each_sm", apart != 0)
      .add("blocks", blocks)
      .add("threads", threads)
      .add("by_slowest_block", summarize(slowest).median)
      .print(summarize(rates), "atomic/cycle");
}

/// Block 0 works on word 0, block 1 on the word `second` bytes behind; each lane of a warp on the same one, which the
/// compiler must not know (it would add once a warp): `zero`.
__global__ void pair_of_words(char* base, std::size_t second, unsigned zero, int count, Stamp* out) {
  char* p = base + (blockIdx.x ? second : 0) + threadIdx.x * zero;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int i = 0; i < count; ++i) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

double pair_rate(char* base, std::size_t second, int blocks, Buffer<Stamp>& out) {
  const int count = 16, threads = 256;
  std::vector<double> rates;
  for (int r = 0; r < 2; ++r) {
    pair_of_words<<<static_cast<unsigned>(blocks), threads>>>(base, second, 0, count, out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0;
    for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) sum += static_cast<double>(s.stop - s.start) / blocks;
    rates.push_back(static_cast<double>(count) * threads / sum);
  }
  return *std::max_element(rates.begin(), rates.end());
}

/// One lane of each block: a chain of atomics that add nothing, `apart` bytes from the next block's.
__global__ void waiting(char* base, std::size_t apart, int count, Stamp* out) {
  unsigned long long p = reinterpret_cast<unsigned long long>(base + blockIdx.x * apart);
  const unsigned long long t0 = clock_now();
  for (int i = 0; i < count; ++i) {
    unsigned v;
    asm volatile("atom.global.or.b32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(0) : "memory");
    p += v;
  }
  if (p == 1) *base = 1;
  out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<unsigned> memory(64 << 20), sink(1);
  Buffer<Stamp> out(4096);
  memory.zero();
  for (unsigned words : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 16384u, 65536u, 262144u, 1048576u}) {
    for (int blocks : {1, sms}) {
      ask_random<false>(memory.get(), words, 0, blocks, 1024, out, sink.get());
      ask_random<true>(memory.get(), words, 0, blocks, 1024, out, sink.get());
    }
    ask_random<false>(memory.get(), words, 0, sms, 256, out, sink.get());
    if (words <= 16384) ask_random<false>(memory.get(), words, 32768, sms, 1024, out, sink.get());
  }
  char* base = reinterpret_cast<char*>(memory.get());
  for (std::size_t second : {4, 16, 28, 32, 60, 64, 96, 128}) {
    Answer("atomic_pair", "lane atomics a cycle and SM when another SM works on a word at a distance")
        .add("distance_bytes", static_cast<double>(second))
        .print(pair_rate(base, second, 2, out), "atomic/cycle", 0);
  }
  Answer("atomic_pair", "lane atomics a cycle and SM, alone").add("distance_bytes", 0).print(pair_rate(base, 0, 1, out), "atomic/cycle", 0);
  for (std::size_t step : {std::size_t{128}, std::size_t{4096}, std::size_t{65536}}) {
    std::vector<double> rates;
    for (std::size_t i = 1; i <= 1024; ++i) rates.push_back(pair_rate(base, i * step, 2, out));
    const Summary s = summarize(rates);
    Answer("atomic_pair_map", "lane atomics a cycle and SM when another SM works on word i times the step")
        .add("step_bytes", static_cast<double>(step))
        .add("rates", rates)
        .print(s, "atomic/cycle");
  }
  memory.zero();
  for (std::size_t apart : {std::size_t{0}, std::size_t{4}, std::size_t{32}, std::size_t{128}, std::size_t{4096 + 128}}) {
    for (int blocks : {1, 2, 4, 8, 16, 32, 64, sms}) {
      const int count = 256;
      std::vector<double> means;
      for (int r = 0; r < 4; ++r) {
        waiting<<<static_cast<unsigned>(blocks), 1>>>(base, apart, count, out.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        double sum = 0;
        for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) sum += static_cast<double>(s.stop - s.start) / blocks;
        if (r) means.push_back(sum / count);
      }
      Answer("atomic_waiting", "cycles of a dependent atomic of one lane while so many SMs do the same")
          .add("distance_bytes", static_cast<double>(apart))
          .add("sms", blocks)
          .print(summarize(means), "cycle");
    }
  }
  return 0;
}
