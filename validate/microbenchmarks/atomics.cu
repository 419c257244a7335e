// What do global atomics cost, alone and contended?
//
// Models:  the latency of an atomic that returns; the rate of atomics and reductions on one word, on
//          one word a warp, on consecutive words and on words of different lines, from one SM and
//          from all.
// Ignores: other widths, compare-and-swap loops, system scope.
// Source:  the slope method of bench.cuh for one SM; events for all.
#include "bench.cuh"

using namespace bench;

/// Adds 0 to a word that holds 0; the returned value is added to the address.
__global__ void atomic_chain(unsigned* base, Stamp* out, unsigned lane_words, int loads) {
  unsigned long long p = reinterpret_cast<unsigned long long>(base + threadIdx.x * lane_words);
  unsigned long long t0 = 0, t1 = 0;
  for (int pass = 0; pass < 2; ++pass) {
    t0 = clock_now();
#pragma unroll 16
    for (int i = 0; i < loads; ++i) {
      unsigned v;
      asm volatile("atom.global.or.b32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(0) : "memory");
      p += v;
    }
    if (p == 1) *base = 1;
    t1 = clock_now();
  }
  if (threadIdx.x == 0) out[0] = {t0, t1, 0, 0, sm_id(), 0};
}

enum class Pattern { kOneWord, kOneWordAWarp, kConsecutive, kLines, kOneWordABlock };
const char* kPatternNames[] = {"one_word", "one_word_a_warp", "consecutive_words", "one_line_a_lane",
                               "one_word_a_block"};

template <bool kReturns>
__global__ void __launch_bounds__(1024)
    many(unsigned* base, std::size_t words, int pattern, int count, Stamp* out, unsigned* sink) {
  const std::size_t warp = (blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x) / 32;
  const std::size_t lane = threadIdx.x % 32;
  std::size_t at = 0, step = 0;
  switch (pattern) {
    case 0: break;
    case 1: at = warp * 32; break;
    case 2: at = warp * 32 + lane; break;
    case 3: at = (warp * 32 + lane) * 32; break;
    default: at = blockIdx.x * 32; break;
  }
  at %= words;
  unsigned sum = 0;
  unsigned* p = base + at;
  __syncthreads();
  const unsigned long long t0 = clock_now();
#pragma unroll 8
  for (int i = 0; i < count; ++i) {
    if constexpr (kReturns) {
      unsigned v;
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
      sum ^= v;
    } else {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
    }
    p += step;
  }
  if (sum == 0x7fffffff) *sink = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

int main() {
  Buffer<unsigned> memory(64 << 20);
  memory.zero();
  Buffer<Stamp> out(4096);
  Buffer<unsigned> sink(1);
  for (int threads : {1, 2, 4, 8, 16, 32}) {
    for (unsigned lane_words : {0u, 1u, 8u, 32u}) {
      std::vector<double> values;
      for (int r = 0; r < 4; ++r) {
        double t[2];
        for (int i : {0, 1}) {
          atomic_chain<<<1, threads>>>(memory.get(), out.get(), lane_words, i ? 512 : 256);
          CHECK(cudaDeviceSynchronize());
          t[i] = span(out.download(1));
        }
        values.push_back((t[1] - t[0]) / 256);
      }
      Answer("atomic_latency", "cycles of a dependent global atomic that returns (ATOMG.OR)")
          .add("lanes", threads)
          .add("lane_stride_words", lane_words)
          .print(summarize(values), "cycle");
    }
  }
  const int sms = device().multiProcessorCount;
  const double ghz = sm_clock_ghz();
  memory.zero();
  for (bool returns : {true, false}) {
    for (int pattern = 0; pattern < 5; ++pattern) {
      for (int blocks : {1, sms, 2 * sms}) {
        for (int threads : {32, 256, 1024}) {
          if (blocks != 1 && threads == 32) continue;
          const int count = pattern == 0 && blocks > 1 ? 64 : 256;
          const Summary time = event_time(
              [&] {
                if (returns) {
                  many<true><<<blocks, threads>>>(memory.get(), memory.size(), pattern, count, out.get(),
                                                  sink.get());
                } else {
                  many<false><<<blocks, threads>>>(memory.get(), memory.size(), pattern, count, out.get(),
                                                   sink.get());
                }
              },
              4);
          const auto s = out.download(static_cast<std::size_t>(blocks));
          std::vector<double> cycles;
          for (const Stamp& x : s) cycles.push_back(static_cast<double>(x.stop - x.start));
          const double lanes = static_cast<double>(threads) * count;
          const double slowest = *std::max_element(cycles.begin(), cycles.end());
          Answer("atomic_throughput",
                 "lane atomics a cycle of all SMs together, by clock64 of the slowest block")
              .add_text("operation", returns ? "ATOMG.ADD" : "REDG.ADD")
              .add_text("pattern", kPatternNames[pattern])
              .add("blocks", blocks)
              .add("threads", threads)
              .add("event_ns", time.median)
              .add("sm_ghz", ghz)
              .print(lanes * blocks / slowest, "atomic/cycle", 0);
        }
      }
    }
  }
  return 0;
}
